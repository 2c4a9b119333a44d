//! Parses redirections.

use super::here::Delimiter;
use super::{Command, Parser, Redirect, RedirectKind};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Word, is_name};

impl Parser {
    /// Parses a redirection and adds it to the command, unless it only copies an output. Returns `false` if there is none.
    pub(super) fn redirect(&mut self, command: &mut Command) -> Result<bool, ParseError> {
        let start = self.at;
        self.descriptor();
        let numbered = self.at > start;
        let number: String = self.text[start..self.at].iter().collect();
        let operators = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<(", ">(", ">>", ">|", ">&", "<", ">"];
        let operator = operators.into_iter().find(|operator| self.looking_at(operator));
        let Some(operator) = operator.filter(|operator| !(numbered && operator.starts_with('&'))) else {
            self.at = start;
            return Ok(false);
        };
        if matches!(operator, "<(" | ">(") {
            // A process substitution is a word.
            self.at = start;
            return Ok(false);
        }
        self.at += operator.len();
        if matches!(operator, "<&" | ">&") && self.take("-") {
            // Bash always ends the operator here.
            return Ok(true);
        }
        self.blanks();
        if !self.is_word_start() {
            return Err(ParseError("a redirection has no target"));
        }
        let target = self.word()?;
        let is_stdin = if numbered { number.trim_start_matches('0').is_empty() } else { operator.starts_with('<') };
        let mut redirect = Redirect { kind: RedirectKind::Write, target, is_stdin, delimiter: None };
        match operator {
            "<<" | "<<-" => {
                redirect.delimiter = Some(Delimiter::new(&redirect.target, operator == "<<-")?);
                redirect.kind = RedirectKind::Here;
                redirect.target = Word::default();
                self.pending += 1;
            }
            "<<<" => redirect.kind = RedirectKind::Here,
            "<&" | ">&" if is_descriptor(&redirect.target) && !is_stdin => return Ok(true),
            "<&" => redirect.kind = RedirectKind::Copy,
            ">&" if is_stdin => redirect.kind = RedirectKind::Copy,
            "<" => redirect.kind = RedirectKind::Read,
            ">>" | "&>>" => redirect.kind = RedirectKind::Append,
            _ => {}
        }
        command.redirects.push(redirect);
        Ok(true)
    }

    /// Skips the descriptor number before an operator, or the name of the variable that receives it.
    fn descriptor(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start || !self.take("{") {
            return;
        }
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let name: String = self.text[start + 1..self.at].iter().collect();
        if !is_name(&name) || !self.take("}") || !matches!(self.peek(), Some('<' | '>')) {
            self.at = start;
        }
    }
}

fn is_descriptor(word: &Word) -> bool {
    word.bare().is_some_and(|to| to == "-" || to.trim_end_matches('-').parse::<u32>().is_ok())
}
