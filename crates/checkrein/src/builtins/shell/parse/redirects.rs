//! Redirections and here-documents.

use super::{Parser, Redirect, RedirectKind};
use crate::builtins::shell::Unreadable;
use crate::builtins::shell::word::{Part, Word};

impl Parser {
    /// A redirection, if one stands here: what it reads or writes, or nothing if it only copies a descriptor.
    pub(super) fn redirect(&mut self) -> Result<Option<Option<Redirect>>, Unreadable> {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let numbered = self.at > from;
        let operators = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<(", ">(", ">>", ">|", ">&", "<", ">"];
        let Some(operator) = operators.into_iter().find(|operator| self.looking_at(operator)) else {
            self.at = from;
            return Ok(None);
        };
        if matches!(operator, "<(" | ">(") || (numbered && operator.starts_with('&')) {
            // A word, or a number and the end of a command.
            self.at = from;
            return Ok(None);
        }
        self.at += operator.len();
        self.blanks();
        if matches!(operator, "<<" | "<<-") {
            let body = self.here_document(operator == "<<-")?;
            return Ok(Some(Some(Redirect { kind: RedirectKind::Here, target: body })));
        }
        if self.peek().is_none_or(|c| matches!(c, '\n' | ';' | '|' | ')')) {
            return Err(Unreadable("a redirection has no target"));
        }
        let target = self.word()?;
        let kind = match operator {
            "<" => RedirectKind::Read,
            "<<<" => RedirectKind::Here,
            "<&" | ">&"
                if target.bare().is_some_and(|to| to.trim_end_matches('-').parse::<u32>().is_ok() || to == "-") =>
            {
                return Ok(Some(None));
            }
            "<&" => RedirectKind::Read,
            _ => RedirectKind::Write,
        };
        Ok(Some(Some(Redirect { kind, target })))
    }

    /// The text of a here-document. It stands behind the line; the line itself is read on as if it were not there.
    fn here_document(&mut self, strip_tabs: bool) -> Result<Word, Unreadable> {
        let word = self.word()?;
        let mut quoted = false;
        let mut delimiter = String::new();
        for part in &word.parts {
            match part {
                Part::Bare(text) => delimiter.push_str(text),
                Part::Text(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                _ => return Err(Unreadable("the end of a here-document is not a plain word")),
            }
        }
        let (start, line_end) = match self.here {
            Some(here) => here,
            None => {
                let line_end = (self.at..self.text.len()).find(|&at| self.text[at] == '\n').unwrap_or(self.text.len());
                (line_end + 1, line_end)
            }
        };
        let mut body = String::new();
        let mut at = start;
        loop {
            if at >= self.text.len() {
                return Err(Unreadable("a here-document has no end"));
            }
            let end = (at..self.text.len()).find(|&at| self.text[at] == '\n').unwrap_or(self.text.len());
            let line: String = self.text[at..end].iter().collect();
            at = end + 1;
            let line = if strip_tabs { line.trim_start_matches('\t') } else { &line };
            if line == delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        self.here = Some((at.min(self.text.len()), line_end));
        if quoted { Ok(Word { parts: vec![Part::Text(body)], span: None }) } else { self.expanded(&body) }
    }
}
