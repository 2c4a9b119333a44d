//! Strings of JSON.

use std::borrow::Cow;

use super::super::error::Fault;
use super::super::node::Span;
use super::{Reader, shown};

impl<'a> Reader<'a, '_> {
    /// The string that starts here, decoded. Borrowed if it has no escapes.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let plain = self.plain_run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut decoded = plain.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(decoded));
                }
                Some(b'\\') => decoded.push(self.escape()?),
                other => return Err(self.bad_string(other)),
            }
            decoded.push_str(self.plain_run());
        }
    }

    /// Up to a quote, a backslash or a control character. All of these are ASCII, so no character is split.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let ends = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    fn bad_string(&self, found: Option<u8>) -> Fault {
        let message = match found {
            None => "expected `\"`, found the end of the text".to_owned(),
            Some(b'\n' | b'\r') => "expected `\"`, found the end of the line".to_owned(),
            Some(byte) => format!("unescaped control character 0x{byte:02x} in a string"),
        };
        Fault::new(Span::new(self.at, (self.at + 1).min(self.bytes.len())), message)
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.bytes.get(self.at + 1) {
            Some(&same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let length = rest.chars().take(2).map(char::len_utf8).sum::<usize>();
                let span = Span::new(self.at, self.at + length);
                let escape = span.of(self.text).get(1..).unwrap_or_default();
                return Err(Fault::new(span, format!("invalid escape `\\{}`", shown(escape))));
            }
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.unit(self.at)?;
        let second = match first {
            0xD800..0xDC00 if self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u") => {
                Some(self.unit(self.at + 6)?).filter(|second| (0xDC00..0xE000).contains(second))
            }
            _ => None,
        };
        let (code, length) = match second {
            Some(second) => (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12),
            None => (first, 6),
        };
        let Some(character) = char::from_u32(code) else {
            let span = Span::new(self.at, self.at + 6);
            return Err(Fault::new(span, format!("`{}` is half of a surrogate pair", span.of(self.text))));
        };
        self.at += length;
        Ok(character)
    }

    /// The four digits of `\uXXXX`.
    fn unit(&self, at: usize) -> Result<u32, Fault> {
        let digits = self.bytes.get(at + 2..at + 6).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let unit = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match unit.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(unit) => Ok(unit),
            None => Err(Fault::new(Span::new(at, at + 2), "expected four hexadecimal digits after `\\u`")),
        }
    }
}
