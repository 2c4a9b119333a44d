//! Parses the conditions of `[[ … ]]`.

use super::Parser;
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Word, WordPart};

const MALFORMED: ParseError = ParseError("`[[` has an invalid condition");

const BINARY: &[&str] = &["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

impl Parser {
    /// Parses a condition behind `[[` with its `]]`, and returns its words.
    pub(super) fn conditions(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        self.alternatives(&mut words)?;
        self.lines_inside()?;
        if !self.is_condition_end() {
            return Err(MALFORMED);
        }
        self.at += 2;
        Ok(words)
    }

    /// Parses conditions between `&&` and `||`.
    fn alternatives(&mut self, words: &mut Vec<Word>) -> Result<(), ParseError> {
        loop {
            self.condition(words)?;
            self.lines_inside()?;
            if !self.take("&&") && !self.take("||") {
                return Ok(());
            }
        }
    }

    fn condition(&mut self, words: &mut Vec<Word>) -> Result<(), ParseError> {
        self.lines_inside()?;
        while self.looking_at("!") && matches!(self.peek_behind(1), Some(' ' | '\t' | '\n' | '(')) {
            self.at += 1;
            self.lines_inside()?;
        }
        if self.take("(") {
            self.deeper(|parser| parser.alternatives(words))?;
            self.lines_inside()?;
            return if self.take(")") { Ok(()) } else { Err(MALFORMED) };
        }
        let first = self.operand()?;
        let letter = first.bare().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        let is_unary = letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_variable = matches!(letter, "v" | "R");
        words.push(first);
        self.blanks();
        if is_unary {
            let operand = self.operand()?;
            words.push(if is_variable { arithmetic(operand) } else { operand });
            return Ok(());
        }
        if self.is_condition_end() || matches!(self.peek(), Some(')' | '\n')) {
            return Ok(());
        }
        if self.looking_at("&&") || self.looking_at("||") {
            return Ok(());
        }
        if self.take("<") || self.take(">") {
            self.blanks();
            words.push(self.operand()?);
            return Ok(());
        }
        let operator = self.operand()?;
        let Some(operator) = operator.bare().filter(|operator| BINARY.contains(operator)) else {
            return Err(MALFORMED);
        };
        self.blanks();
        let calculates = operator.starts_with('-');
        let second = if operator == "=~" { self.regex()? } else { self.operand()? };
        if calculates && let Some(first) = words.pop() {
            words.push(arithmetic(first));
            words.push(arithmetic(second));
        } else {
            words.push(second);
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<Word, ParseError> {
        if !self.is_word_start() || self.is_condition_end() {
            return Err(MALFORMED);
        }
        self.word()
    }

    fn is_condition_end(&self) -> bool {
        let behind = self.peek_behind(2);
        self.looking_at("]]")
            && behind.is_none_or(|c| matches!(c, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' | '<' | '>'))
    }

    /// Parses a regular expression, which may contain brackets and `|`.
    fn regex(&mut self) -> Result<Word, ParseError> {
        let mut word = Word::default();
        let mut open = 0_usize;
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                '(' => open += 1,
                ')' if open == 0 => break,
                ')' => open -= 1,
                ' ' | '\t' | '\n' if open == 0 => break,
                ';' | '&' | '<' | '>' if open == 0 => return Err(MALFORMED),
                '|' if open == 0 && self.peek_behind(1) == Some('|') => break,
                '|' | ' ' | '\t' | ';' | '&' | '<' | '>' => {}
                '\n' => return Err(MALFORMED),
                _ => {
                    self.piece(&mut word)?;
                    continue;
                }
            }
            self.at += 1;
            word.push_text(c);
        }
        if self.at == start || open > 0 { Err(MALFORMED) } else { Ok(word) }
    }
}

/// Returns a word that is evaluated as arithmetic.
fn arithmetic(word: Word) -> Word {
    Word { parts: vec![WordPart::Arithmetic(word)], span: None }
}
