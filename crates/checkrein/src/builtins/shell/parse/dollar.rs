//! Parses expansions that start with `$`: variables, substitutions, arithmetic, ANSI-C quotes.

use super::Parser;
use super::words::Quotes;
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Fallback, Word, WordPart, is_name};

impl Parser {
    /// Parses an expansion at `$`.
    pub(super) fn dollar(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        let quoted = quotes != Quotes::None;
        self.at += 1;
        match self.peek() {
            Some('(') => {
                if let Some(inside) = self.arithmetic_text()? {
                    let inner = self.expanded(&inside)?;
                    word.parts.extend(inner.parts.into_iter().filter(runs));
                    word.push_unknown("((…))".to_owned());
                } else {
                    self.at += 1;
                    let commands = self.substitution()?;
                    word.parts.push(WordPart::Output(commands));
                }
            }
            Some('{') => {
                self.at += 1;
                self.deeper(|parser| parser.braced(quotes, word))?;
            }
            Some('[') if !quoted => self.old_arithmetic(word)?,
            Some('\'') if !quoted => {
                self.at += 1;
                let text = self.ansi_c()?;
                word.parts.push(WordPart::Text(text));
            }
            // Translated text: the quotes have the same meaning without the `$`.
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                word.parts.push(WordPart::Var { name, fallback: None, quoted });
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                word.parts.push(WordPart::Var { name: c.into(), fallback: None, quoted });
            }
            _ => word.push_text('$'),
        }
        Ok(())
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    /// Takes the text of `(( … ))`. Returns `None` for a group in a group.
    pub(super) fn arithmetic_text(&mut self) -> Result<Option<String>, ParseError> {
        if !self.looking_at("((") {
            return Ok(None);
        }
        let end = self.arithmetic_end(true);
        if end != self.arithmetic_end(false) {
            return Err(ParseError("arithmetic has brackets in quotes"));
        }
        let Some(end) = end else { return Ok(None) };
        let inside: String = self.text[self.at + 2..end].iter().collect();
        if self.pending > 0 && inside.contains('\n') {
            return Err(ParseError("a here-document starts in the middle of a command"));
        }
        self.at = end + 2;
        Ok(Some(inside))
    }

    /// Returns the position of the `))` that closes this `((`, with or without regard to quotes.
    fn arithmetic_end(&self, with_quotes: bool) -> Option<usize> {
        let mut open = 0_usize;
        let mut quote = None;
        let mut characters = (self.at + 2..self.text.len()).map(|at| (at, self.text[at]));
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' if with_quotes && quote != Some('\'') => {
                    let _ = characters.next();
                }
                '\'' | '"' | '`' if with_quotes => match quote {
                    None => quote = Some(c),
                    Some(open) if open == c => quote = None,
                    Some(_) => {}
                },
                _ if quote.is_some() => {}
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' => return (self.text.get(at + 1) == Some(&')')).then_some(at),
                _ => {}
            }
        }
        None
    }

    /// Parses `$[ … ]`. Only bash has this form. For other shells it is text, in which operators keep their meaning.
    fn old_arithmetic(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|c| *c == ']' || ";&|<>()#'\"`\\\n".contains(*c));
        match end {
            Some(end) if rest[end] == ']' => {
                self.at += end + 1;
                word.push_unknown("[…]".to_owned());
                Ok(())
            }
            _ => Err(ParseError("`$[` is not plain arithmetic")),
        }
    }

    /// Parses `${…}`, behind the brace.
    fn braced(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        let quoted = quotes != Quotes::None;
        let from = self.at;
        let name = self.name();
        let operator_at = self.at;
        // Operators that remove or replace take a pattern, in which single quotes also apply inside of double quotes.
        let is_pattern = !matches!(self.peek(), Some(':' | '-' | '=' | '+' | '?'));
        let operator = [":-", "-", ":=", "="].into_iter().find(|operator| self.take(operator));
        let mut inner = Word::default();
        loop {
            match self.peek() {
                None => return Err(ParseError("`${` is not closed")),
                Some('}') => break,
                Some('\'') if quoted && !is_pattern => {
                    // Bash searches for the closing quote, dash does not.
                    let rest = &self.text[self.at + 1..];
                    let end = rest.iter().position(|c| matches!(c, '\'' | '}' | '"'));
                    if end.is_none_or(|end| rest[end] != '\'') {
                        return Err(ParseError("shells differ on a single quote in `${…}`"));
                    }
                    self.at += 1;
                    inner.push_text('\'');
                }
                Some('"') => {
                    self.at += 1;
                    self.double_quotes(&mut inner)?;
                }
                Some('\\') if quoted && self.peek_behind(1) == Some('}') => {
                    self.at += 2;
                    inner.push_text('}');
                }
                Some(c) if quoted && !is_pattern => self.quoted(c, quotes, &mut inner)?,
                Some('<' | '>') if self.peek_behind(1) == Some('(') => {
                    self.at += 2;
                    let commands = self.substitution()?;
                    inner.parts.push(WordPart::Output(commands));
                }
                Some(_) => self.piece(&mut inner)?,
            }
        }
        let is_plain = self.at == operator_at;
        let inside: String = self.text[from..self.at.min(self.text.len())].iter().collect();
        self.at += 1;
        if let Some(operator) = operator
            && is_name(&name)
        {
            let fallback = Some(Fallback { word: inner, for_empty: operator.starts_with(':') });
            word.parts.push(WordPart::Var { name, fallback, quoted });
            return Ok(());
        }
        let whole = if is_plain && is_name(&name) { name } else { format!("{{{inside}}}") };
        word.parts.extend(inner.parts.into_iter().filter(runs));
        word.parts.push(WordPart::Var { name: whole, fallback: None, quoted });
        Ok(())
    }

    /// Parses `$'…'`, behind the quote.
    fn ansi_c(&mut self) -> Result<String, ParseError> {
        const OPEN: ParseError = ParseError("a quote is not closed");
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or(OPEN)?;
            self.at += 1;
            match c {
                '\'' => break,
                '\\' => {
                    let c = self.peek().ok_or(OPEN)?;
                    self.at += 1;
                    match c {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        'a' => text.push('\x07'),
                        'b' => text.push('\x08'),
                        'e' | 'E' => text.push('\x1b'),
                        'f' => text.push('\x0c'),
                        'v' => text.push('\x0b'),
                        'x' => self.number(c, 16, 2, &mut text),
                        'u' => self.number(c, 16, 4, &mut text),
                        'U' => self.number(c, 16, 8, &mut text),
                        'c' => {
                            let c = self.peek().ok_or(OPEN)?;
                            self.at += 1;
                            text.extend(char::from_u32(u32::from(c) & 0x1f));
                        }
                        '0'..='7' => {
                            self.at -= 1;
                            self.number(c, 8, 3, &mut text);
                        }
                        '\\' | '\'' | '"' | '?' => text.push(c),
                        c => text.extend(['\\', c]),
                    }
                }
                c => text.push(c),
            }
        }
        // Strings end at a null character.
        text.truncate(text.find('\0').unwrap_or(text.len()));
        Ok(text)
    }

    fn number(&mut self, escape: char, radix: u32, most: usize, text: &mut String) {
        let from = self.at;
        let mut code = 0_u32;
        while self.at < from + most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            code = code.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        if self.at == from {
            text.extend(['\\', escape]);
        } else {
            text.extend(char::from_u32(code));
        }
    }
}

/// `true` for a piece that runs commands.
fn runs(part: &WordPart) -> bool {
    match part {
        WordPart::Output(_) => true,
        WordPart::Var { fallback: Some(fallback), .. } => fallback.word.parts.iter().any(runs),
        _ => false,
    }
}
