//! Texts, numbers and words.

use super::Yaml;
use crate::config::skim::bytes::{above, below, blanks, same, until};

impl<'a> Yaml<'a> {
    /// A key without quotes.
    #[inline]
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let may_be_in = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.' | b'/');
        let length = self.rest().iter().take_while(|byte| may_be_in(**byte)).count();
        let word = self.rest().get(..length)?;
        let first = *word.first()?;
        self.at += length;
        (first.is_ascii_alphanumeric() || matches!(first, b'_' | b'$')).then_some(word)
    }

    /// A text in quotes that means what stands in them.
    #[inline]
    pub(super) fn quoted_as_is(&mut self, quote: u8) -> Option<&'a [u8]> {
        let start = self.at + 1;
        self.quoted(quote)?;
        let text = self.bytes.get(start..self.at - 1)?;
        // In double quotes they are escapes, in single quotes they are doubled.
        let mark = if quote == b'"' { b'\\' } else { b'\'' };
        (!text.contains(&mark)).then_some(text)
    }

    /// A text in quotes, on one line.
    #[inline]
    pub(super) fn quoted(&mut self, quote: u8) -> Option<()> {
        self.at += 1;
        loop {
            self.at += if quote == b'"' { double(self.rest()) } else { single(self.rest()) };
            match self.rest() {
                [b'\'', b'\'', ..] => self.at += 2,
                [b'"' | b'\'', ..] => {
                    self.at += 1;
                    return Some(());
                }
                [b'\\', b'"' | b'\\' | b'n' | b't' | b'r', ..] => self.at += 2,
                _ => self.other()?,
            }
        }
    }

    /// A text without quotes, up to the end of the line, a comment, or what ends it in brackets.
    #[inline]
    pub(super) fn unquoted(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let in_brackets = self.brackets > 0;
        match self.rest() {
            // What could be a list, a mark or a number.
            [b'-', second, ..] if second.is_ascii_alphanumeric() || matches!(second, b'-' | b'.' | b'/' | b'_') => {}
            [first, ..] if is_indicator(*first) => return None,
            [_, ..] => {}
            [] => return None,
        }
        loop {
            self.at += if in_brackets { bare_in_brackets(self.rest()) } else { bare(self.rest()) };
            match self.rest() {
                [] | [b'\n', ..] | [b'\r', b'\n', ..] | [b',' | b'[' | b']' | b'{' | b'}', ..] => break,
                // What has a colon is a key, and here none can stand.
                [b':'] | [b':', b' ' | b'\n' | b'\r' | b'\t', ..] => return None,
                [b':', b',' | b'[' | b']' | b'{' | b'}', ..] if in_brackets => return None,
                [b':', ..] => self.at += 1,
                [b'#', ..] if self.bytes.get(self.at - 1) == Some(&b' ') => break,
                [b'#', ..] => self.at += 1,
                _ => self.other()?,
            }
        }
        self.bytes.get(start..self.at)
    }

    /// A text in lines that are indented further than what it belongs to.
    pub(super) fn lines(&mut self) -> Option<()> {
        self.at += 1;
        if matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
        }
        self.at += blanks(self.rest());
        let mut indent = None;
        loop {
            if self.rest().is_empty() {
                self.column = -1;
                return indent.map(drop);
            }
            self.next_line()?;
            self.line = self.at;
            self.at += blanks(self.rest());
            let column = (self.at - self.line).cast_signed();
            match (self.peek(), indent) {
                // Blanks in front of the first line would have to be fewer than its own.
                (None | Some(b'\n' | b'\r'), None) if column > 0 => return None,
                (None | Some(b'\n' | b'\r'), _) => continue,
                (_, None) if column <= self.parent => return None,
                (_, None) => indent = Some(column),
                (_, Some(indent)) if column >= indent => {}
                // Also comments must not stand between the two.
                _ if column > self.parent => return None,
                _ => {
                    self.at = self.line;
                    return self.content();
                }
            }
            self.line_of_text()?;
        }
    }

    /// Up to the end of the line, whatever is there.
    pub(super) fn line_of_text(&mut self) -> Option<()> {
        loop {
            self.at += anything(self.rest());
            match self.rest() {
                [] | [b'\n', ..] | [b'\r', b'\n', ..] => return Some(()),
                _ => self.other()?,
            }
        }
    }

    /// A character that is not ASCII, if it is one that YAML takes everywhere for nothing but itself.
    fn other(&mut self) -> Option<()> {
        self.at += match self.rest() {
            [0xc2, 0x80..=0x9f, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..] | [0xef, 0xbb | 0xbf, ..] => return None,
            [0xc2..=0xdf, ..] => 2,
            [0xe0..=0xef, ..] => 3,
            [0xf0..=0xf4, ..] => 4,
            _ => return None,
        };
        Some(())
    }
}

/// Whether what has no quotes is certainly a string.
pub(super) fn is_text(text: &[u8]) -> bool {
    const OTHERS: [&[u8]; 3] = [b"null", b"true", b"false"];
    let may_start = |first: &u8| first.is_ascii_alphabetic() || matches!(first, b'_' | b'^' | b'(');
    text.first().is_some_and(may_start) && !OTHERS.iter().any(|other| text.eq_ignore_ascii_case(other))
}

/// What means something at the start of a text, or may be taken for that.
fn is_indicator(byte: u8) -> bool {
    byte <= b' ' || b"-?:,[]{}#&*!|>'\"%@`".contains(&byte)
}

fn double(bytes: &[u8]) -> usize {
    let marks = |word| below(word, 0x20) | above(word) | same(word, b'"') | same(word, b'\\');
    until(bytes, marks, |byte| is_odd(byte) || matches!(byte, b'"' | b'\\'))
}

fn single(bytes: &[u8]) -> usize {
    let marks = |word| below(word, 0x20) | above(word) | same(word, b'\'');
    until(bytes, marks, |byte| is_odd(byte) || byte == b'\'')
}

#[inline]
fn bare(bytes: &[u8]) -> usize {
    let marks = |word| below(word, 0x20) | above(word) | same(word, b':') | same(word, b'#');
    until(bytes, marks, |byte| is_odd(byte) || matches!(byte, b':' | b'#'))
}

fn bare_in_brackets(bytes: &[u8]) -> usize {
    let ends = |byte| is_odd(byte) || matches!(byte, b':' | b'#' | b',' | b'[' | b']' | b'{' | b'}');
    bytes.iter().position(|byte| ends(*byte)).unwrap_or(bytes.len())
}

fn anything(bytes: &[u8]) -> usize {
    until(bytes, |word| below(word, 0x20) | above(word), is_odd)
}

fn is_odd(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte)
}
