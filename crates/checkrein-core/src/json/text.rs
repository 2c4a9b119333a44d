//! Decoding and encoding of JSON strings.

use std::borrow::Cow;

use super::lexer::plain_run;

/// Decodes a valid JSON string with its quotes.
///
/// A lone surrogate cannot be in a Rust string and becomes U+FFFD. The original text is not affected.
pub fn decode_string(quoted: &str) -> Cow<'_, str> {
    let text = unquoted(quoted);
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    for (piece, _) in pieces(text) {
        match piece {
            Piece::Plain(plain) => decoded.push_str(plain),
            Piece::Character(character) => decoded.push(character),
            Piece::LoneSurrogate(_) => decoded.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(decoded)
}

/// As [`decode_string`], for comparisons: different lone surrogates stay different.
pub(super) fn decode_exactly(quoted: &str) -> Cow<'_, [u8]> {
    let text = unquoted(quoted);
    if !text.contains('\\') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut decoded = Vec::with_capacity(text.len());
    for (piece, _) in pieces(text) {
        match piece {
            Piece::Plain(plain) => decoded.extend_from_slice(plain.as_bytes()),
            Piece::Character(character) => decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            // This byte does not occur in UTF-8.
            Piece::LoneSurrogate(unit) => {
                decoded.push(0xFF);
                decoded.extend_from_slice(&unit.to_be_bytes());
            }
        }
    }
    Cow::Owned(decoded)
}

/// Returns a string without its quotes.
pub fn unquoted(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted)
}

/// Part of a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text without escape sequences.
    Plain(&'a str),
    /// Character of an escape sequence, or of two that are a surrogate pair.
    Character(char),
    /// Lone surrogate.
    LoneSurrogate(u16),
}

/// Returns the parts of a valid JSON string without its quotes, each with the length of its source text in bytes.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text }
}

/// Iterator over the parts of a JSON string. Returned by [`pieces`].
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (Piece<'a>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let (piece, length) = match self.rest.find('\\') {
            None if self.rest.is_empty() => return None,
            None => (Piece::Plain(self.rest), self.rest.len()),
            Some(0) => decode_escape(self.rest),
            Some(length) => (Piece::Plain(&self.rest[..length]), length),
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some((piece, length))
    }
}

/// Decodes the escape sequence at the start of a text. Returns its length as well.
fn decode_escape(escape: &str) -> (Piece<'_>, usize) {
    let character = match escape.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return decode_unicode(escape),
        Some(&other) => char::from(other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (Piece::Character(character), 2)
}

fn decode_unicode(escape: &str) -> (Piece<'_>, usize) {
    let unit = |start: usize| escape.get(start..start + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let first = unit(2).unwrap_or(0xFFFD);
    let second = if escape.get(6..8) == Some("\\u") { unit(8) } else { None };
    match char::decode_utf16([first].into_iter().chain(second)).next() {
        Some(Ok(character)) => (Piece::Character(character), if character.len_utf16() == 2 { 12 } else { 6 }),
        _ => (Piece::LoneSurrogate(first), 6),
    }
}

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut written = 0;
    loop {
        let end = plain_run(text.as_bytes(), written);
        out.push_str(&text[written..end]);
        let Some(&byte) = text.as_bytes().get(end) else { break };
        written = end + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            other => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(DIGITS[usize::from(other >> 4)]));
                out.push(char::from(DIGITS[usize::from(other & 0xF)]));
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_source() {
        let text = r"a\u00e9\ud83d\ude00\/b\ud800\n\udc00\ud800\u0041";
        let found: Vec<_> = pieces(text).collect();
        let lone = Piece::LoneSurrogate;
        let expected = [
            (Piece::Plain("a"), 1),
            (Piece::Character('é'), 6),
            (Piece::Character('😀'), 12),
            (Piece::Character('/'), 2),
            (Piece::Plain("b"), 1),
            (lone(0xD800), 6),
            (Piece::Character('\n'), 2),
            (lone(0xDC00), 6),
            (lone(0xD800), 6),
            (Piece::Character('A'), 6),
        ];
        assert_eq!(found, expected);
        assert_eq!(found.iter().map(|(_, length)| length).sum::<usize>(), text.len());
        assert_eq!(pieces("").next(), None);
    }
}
