//! Tokens of an expression.

use super::Span;
use crate::error::{Error, Problem};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i64),
    Double(f64),
    String(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    End,
}

/// Longer symbols come before their prefixes.
const SYMBOLS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", ".", ",", "(", ")", "[", "]",
    "{", "}",
];

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token with its place.
    pub(super) fn next_token(&mut self) -> Result<(Token, Span), Error> {
        self.skip_space();
        let start = self.at;
        let token = self.token()?;
        Ok((token, Span::new(start, self.at)))
    }

    /// Returns the whole text.
    pub(super) fn source(&self) -> &'a str {
        self.text
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0c']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn token(&mut self) -> Result<Token, Error> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(length);
            if behind.starts_with(['"', '\'']) {
                return self.prefixed_string(name);
            }
            self.at += length;
            return Ok(Token::Name(name.to_owned()));
        }
        if matches!(first, '"' | '\'') {
            return self.string(false);
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        let hint = match first {
            '=' => Some("use `==` to compare"),
            '&' => Some("use `&&`"),
            '|' => Some("use `||`"),
            '“' | '”' | '‘' | '’' => Some("use straight quotes"),
            _ => None,
        };
        let mut error = self.error(first.len_utf8(), Problem::UnexpectedCharacter(first));
        error.help = hint.map(str::to_owned);
        Err(error)
    }

    fn error(&self, length: usize, problem: Problem) -> Error {
        Error::new(Span::new(self.at, self.at + length), problem)
    }

    fn number(&mut self) -> Result<Token, Error> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_').unwrap_or(rest.len());
        let mut length = end;
        // The sign of an exponent is not in the run above.
        let is_exponent = rest[..end].ends_with(['e', 'E']) && !rest.starts_with("0x");
        if is_exponent && rest[end..].starts_with(['+', '-']) {
            let digits = &rest[end + 1..];
            length = end + 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        }
        let text = &rest[..length];
        let invalid = || self.error(length, Problem::InvalidNumber(text.to_owned()));
        let token = if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Token::Int(i64::from_str_radix(digits, 16).map_err(|_| invalid())?)
        } else if text.ends_with(['u', 'U']) {
            let mut error = invalid();
            error.help = Some("omit the `u`: all whole numbers have one type".into());
            return Err(error);
        } else if text.contains(['.', 'e', 'E']) {
            let number: f64 = text.parse().map_err(|_| invalid())?;
            if !number.is_finite() {
                return Err(invalid());
            }
            Token::Double(number)
        } else {
            Token::Int(text.parse().map_err(|_| invalid())?)
        };
        self.at += length;
        Ok(token)
    }

    fn prefixed_string(&mut self, prefix: &str) -> Result<Token, Error> {
        match prefix {
            "r" | "R" => {
                self.at += 1;
                self.string(true)
            }
            "b" | "B" | "br" | "Br" | "bR" | "BR" | "rb" | "Rb" | "rB" | "RB" => {
                Err(self.error(prefix.len(), Problem::Unsupported("byte strings")))
            }
            _ => Err(self.error(prefix.len(), Problem::StringPrefix(prefix.to_owned()))),
        }
    }

    /// Reads a string with single, double or triple quotes. Escapes have no effect in raw strings.
    fn string(&mut self, is_raw: bool) -> Result<Token, Error> {
        let rest = self.rest();
        let triple = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
        let quote = triple.unwrap_or(if rest.starts_with('"') { "\"" } else { "'" });
        let mut text = String::new();
        let mut at = quote.len();
        loop {
            let behind = &rest[at..];
            if behind.starts_with(quote) {
                self.at += at + quote.len();
                return Ok(Token::String(text));
            }
            match behind.chars().next() {
                None => return Err(self.error(rest.len(), Problem::UnclosedString)),
                Some('\n' | '\r') if triple.is_none() => return Err(self.error(at, Problem::UnclosedString)),
                Some('\\') if !is_raw => {
                    let (length, character) = escape(behind)
                        .ok_or_else(|| Error::new(Span::new(self.at + at, self.at + at + 2), Problem::InvalidEscape))?;
                    text.push(character);
                    at += length;
                }
                Some(character) => {
                    text.push(character);
                    at += character.len_utf8();
                }
            }
        }
    }
}

/// Returns the length of an escape and its character.
fn escape(text: &str) -> Option<(usize, char)> {
    let kind = text[1..].chars().next()?;
    let plain = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '?' | '"' | '\'' | '`' => kind,
        'x' | 'X' => return code(text, 2, 2, 16),
        'u' => return code(text, 2, 4, 16),
        'U' => return code(text, 2, 8, 16),
        '0'..='3' => return code(text, 1, 3, 8),
        _ => return None,
    };
    Some((2, plain))
}

fn code(text: &str, start: usize, length: usize, radix: u32) -> Option<(usize, char)> {
    let digits = text.get(start..start + length)?;
    // `from_str_radix` accepts a sign.
    let is_number = digits.chars().all(|c| c.is_digit(radix));
    let number = u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    Some((start + length, char::from_u32(number)?))
}
