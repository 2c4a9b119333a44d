//! Parses expansions that start with `$`: variables, substitutions, arithmetic, ANSI-C quotes.

use super::Parser;
use super::words::Quotes;
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Index, Operator, Substitution, Var, Word, WordPart};

impl Parser {
    /// Parses an expansion at `$`.
    pub(super) fn dollar(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        let quoted = quotes != Quotes::None;
        self.at += 1;
        match self.peek() {
            Some('(') => {
                if let Some(inside) = self.arithmetic_text()? {
                    let inner = self.expanded(&inside)?;
                    word.parts.push(WordPart::Arithmetic(inner));
                } else {
                    self.at += 1;
                    let list = self.substitution()?;
                    word.parts.push(WordPart::Output { list, kind: Substitution::Text, quoted });
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
                word.parts.push(WordPart::Var(Box::new(Var { name, is_bare: true, quoted, ..Var::default() })));
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                word.parts.push(WordPart::var(c, quoted));
            }
            // Braces may put text behind it.
            _ if !quoted => word.push_bare('$'),
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
                let inside: String = rest[1..end].iter().collect();
                self.at += end + 1;
                let inner = self.expanded(&inside)?;
                word.parts.push(WordPart::Arithmetic(inner));
                Ok(())
            }
            _ => Err(ParseError("`$[` is not plain arithmetic")),
        }
    }

    /// Parses `${…}`, behind the brace.
    fn braced(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        let quoted = quotes != Quotes::None;
        let from = self.at;
        let is_special = |c: char| c.is_ascii_digit() || "@*#?-$!".contains(c);
        let mut var = Var { quoted, ..Var::default() };
        if self.peek() == Some('#') && self.peek_behind(1) != Some('}') {
            self.at += 1;
            var.operator = Operator::Other;
        } else if self.peek() == Some('!') && self.peek_behind(1) != Some('}') {
            self.at += 1;
            var.operator = Operator::Indirect;
        }
        var.name = self.name();
        if var.name.is_empty()
            && let Some(c) = self.peek().filter(|c| is_special(*c))
        {
            self.at += 1;
            var.name.push(c);
            while c.is_ascii_digit()
                && let Some(digit) = self.peek().filter(char::is_ascii_digit)
            {
                self.at += 1;
                var.name.push(digit);
            }
        }
        if self.looking_at("[@]") || self.looking_at("[*]") {
            var.index = if self.looking_at("[@]") { Index::All } else { Index::Joined };
            self.at += 3;
        } else if self.peek() == Some('[') {
            let digits = self.text[self.at + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
            let number: String = self.text[self.at + 1..self.at + 1 + digits].iter().collect();
            var.index = match (self.peek_behind(digits + 1), number.parse()) {
                (Some(']'), Ok(number)) => {
                    self.at += digits + 2;
                    Index::Number(number)
                }
                _ => Index::Unknown,
            };
        }
        let operator_at = self.at;
        // Operators that remove or replace take a pattern, in which single quotes also apply inside of double quotes.
        let is_pattern = !matches!(self.peek(), Some(':' | '-' | '=' | '+' | '?'));
        let operators = [":-", "-", ":=", "=", ":+", "+", ":?", "?"];
        let operator = operators.into_iter().find(|operator| self.take(operator));
        let is_substring = operator.is_none() && self.peek() == Some(':');
        if self.peek() == Some('@') && self.peek_behind(1) == Some('P') {
            return Err(ParseError("`${…@P}` runs the commands in a value"));
        }
        let mut inner = Word::default();
        let mut is_closing = false;
        loop {
            match self.peek() {
                None => return Err(ParseError("`${` is not closed")),
                Some('}') => break,
                Some('\'') if quoted && !is_pattern => {
                    // Bash searches for the closing quote, dash does not.
                    let rest = &self.text[self.at + 1..];
                    let end = rest.iter().position(|c| matches!(c, '\'' | '}' | '"'));
                    if !is_closing && end.is_none_or(|end| rest[end] != '\'') {
                        return Err(ParseError("shells differ on a single quote in `${…}`"));
                    }
                    is_closing = !is_closing;
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
                    let list = self.substitution()?;
                    inner.parts.push(WordPart::Output { list, kind: Substitution::Text, quoted: true });
                }
                Some('~') if inner.parts.is_empty() && operator.is_some() => {
                    self.at += 1;
                    inner.parts.push(match self.peek() {
                        Some('/' | '}') => WordPart::Home,
                        _ => WordPart::unknown("~"),
                    });
                }
                Some(_) => self.piece(&mut inner)?,
            }
        }
        let is_plain = self.at == operator_at;
        let inside: String = self.text[from..self.at.min(self.text.len())].iter().collect();
        self.at += 1;
        var.text = inside;
        if var.operator != Operator::None || var.name.is_empty() {
            var.operator = if var.operator == Operator::Indirect { Operator::Indirect } else { Operator::Other };
        } else if let Some(operator) = operator {
            var.for_empty = operator.starts_with(':');
            var.operator = match operator.trim_start_matches(':') {
                "-" => Operator::Default,
                "=" => Operator::Assign,
                "+" => Operator::Alternative,
                _ => Operator::Required,
            };
        } else if !is_plain {
            var.operator = if is_substring { Operator::Substring } else { Operator::Other };
        }
        var.word = inner;
        word.parts.push(WordPart::Var(Box::new(var)));
        Ok(())
    }

    /// Parses `$'…'`, behind the quote.
    fn ansi_c(&mut self) -> Result<String, ParseError> {
        const OPEN: ParseError = ParseError("a quote is not closed");
        let mut text = Bytes::default();
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
                        'x' if self.peek() == Some('{') => {
                            return Err(ParseError("`$'…'` has a number in braces"));
                        }
                        'x' => self.number(c, 16, 2, &mut text),
                        'u' => self.number(c, 16, 4, &mut text),
                        'U' => self.number(c, 16, 8, &mut text),
                        'c' => {
                            let c = self.peek().ok_or(OPEN)?;
                            self.at += 1;
                            text.0.push((u32::from(c) & 0x1f) as u8);
                        }
                        '0'..='7' => {
                            self.at -= 1;
                            self.number(c, 8, 3, &mut text);
                        }
                        '\\' | '\'' | '"' | '?' => text.push(c),
                        c => {
                            text.push('\\');
                            text.push(c);
                        }
                    }
                }
                c => text.push(c),
            }
        }
        // Strings end at a null character.
        let end = text.0.iter().position(|byte| *byte == 0).unwrap_or(text.0.len());
        Ok(String::from_utf8_lossy(&text.0[..end]).into_owned())
    }

    fn number(&mut self, escape: char, radix: u32, most: usize, text: &mut Bytes) {
        let from = self.at;
        let mut code = 0_u32;
        while self.at < from + most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            code = code.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        if self.at == from {
            text.push('\\');
            text.push(escape);
        } else if matches!(escape, 'u' | 'U') {
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        } else {
            text.0.push((code & 0xff) as u8);
        }
    }
}

/// Text in which numbers stand for bytes.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn push(&mut self, c: char) {
        self.0.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
