//! Reads and replaces the strings of a JSON text without building a tree.
//!
//! Guards search tool input with it, and redaction replaces parts of strings. A replacement must not change any other
//! byte of the text.

use std::borrow::Cow;
use std::ops::Range;

use checkrein_core::RawJson;
use checkrein_core::json::{Piece, TokenKind, pieces, unquoted};

/// One string value. Keys are not included.
pub(crate) struct JsonString<'a> {
    /// Key of the value, or of the array that contains it.
    pub(super) key: Option<Cow<'a, str>>,
    pub(crate) text: DecodedString<'a>,
    /// Offset of the first byte inside of the quotes.
    start: usize,
}

impl JsonString<'_> {
    /// Returns the key of the value, or of the array that contains it.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the range in the JSON text of a range in the decoded text.
    pub(crate) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.start + self.text.raw_offset(part.start)..self.start + self.text.raw_offset(part.end)
    }
}

/// Decoded text of a string, with offsets into its raw text.
pub(crate) struct DecodedString<'a> {
    pub(crate) decoded: Cow<'a, str>,
    /// The end of each escape: its offset in the decoded text and in the raw text. Between escapes both advance equally.
    escapes: Vec<(usize, usize)>,
}

impl<'a> DecodedString<'a> {
    /// Decodes the text between the quotes of a valid JSON string.
    fn new(raw: &'a str) -> Self {
        if !raw.contains('\\') {
            return Self { decoded: Cow::Borrowed(raw), escapes: Vec::new() };
        }
        let mut decoded = String::with_capacity(raw.len());
        let mut escapes = Vec::new();
        let mut offset = 0;
        for (piece, length) in pieces(raw) {
            offset += length;
            match piece {
                Piece::Plain(text) => {
                    decoded.push_str(text);
                    continue;
                }
                Piece::Character(character) => decoded.push(character),
                // Half of a surrogate pair is decoded as U+FFFD.
                Piece::LoneSurrogate(_) => decoded.push(char::REPLACEMENT_CHARACTER),
            }
            escapes.push((decoded.len(), offset));
        }
        Self { decoded: Cow::Owned(decoded), escapes }
    }

    fn raw_offset(&self, offset: usize) -> usize {
        let behind = self.escapes.partition_point(|(decoded, _)| *decoded <= offset);
        match behind.checked_sub(1).and_then(|last| self.escapes.get(last)) {
            Some((decoded, raw)) => raw + (offset - decoded),
            None => offset,
        }
    }
}

/// Returns all string values in the order of the text.
pub(crate) fn strings(json: &RawJson) -> Vec<JsonString<'_>> {
    let text = json.as_str();
    let mut found = Vec::new();
    // The current key of each open object and array.
    let mut keys: Vec<Option<&str>> = vec![None];
    let mut lexer = json.tokens();
    while let Ok(Some(token)) = lexer.next_token() {
        let key = keys.last().copied().flatten();
        match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => keys.push(key),
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                keys.pop();
            }
            TokenKind::Key { .. } => {
                if let Some(key) = keys.last_mut() {
                    *key = Some(unquoted(&text[token.start..token.end]));
                }
            }
            TokenKind::String { .. } => {
                let raw = unquoted(&text[token.start..token.end]);
                let key = key.map(|key| DecodedString::new(key).decoded);
                found.push(JsonString { key, text: DecodedString::new(raw), start: token.start + 1 });
            }
            TokenKind::Number | TokenKind::True | TokenKind::False | TokenKind::Null => {}
        }
    }
    found
}

/// Replaces parts of the text. The parts are in order and do not overlap.
pub(crate) fn spliced<'a>(text: &str, parts: impl IntoIterator<Item = (Range<usize>, Cow<'a, str>)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, replacement) in parts {
        out.push_str(&text[copied..place.start]);
        out.push_str(&replacement);
        copied = place.end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_with_their_keys() {
        let json: RawJson =
            r#" {"a": "1", "b\u0063" : {"d": ["2", {"e":"3"}, "4"]}, "f":[5,"6"], "g":"\"}" } "#.parse().unwrap();
        let found: Vec<_> = strings(&json)
            .iter()
            .map(|string| format!("{}={}", string.key.as_deref().unwrap_or("-"), string.text.decoded))
            .collect();
        assert_eq!(found, ["a=1", "d=2", "e=3", "d=4", "f=6", "g=\"}"]);
        let alone: RawJson = r#""x""#.parse().unwrap();
        assert_eq!(strings(&alone).len(), 1);
    }

    #[test]
    fn decoded_ranges_map_to_raw_ranges() {
        let json: RawJson = r#"{"a":"\u00e9\ud83d\ude00\/secret\ud800\n!"}"#.parse().unwrap();
        let string = &strings(&json)[0];
        assert_eq!(string.text.decoded, "é😀/secret\u{fffd}\n!");
        let start = string.text.decoded.find("secret").unwrap();
        assert_eq!(&json.as_str()[string.place(&(start..start + 6))], "secret");
        assert_eq!(&json.as_str()[string.place(&(0..2))], r"\u00e9");
        assert_eq!(
            &json.as_str()[string.place(&(0..string.text.decoded.len()))],
            r"\u00e9\ud83d\ude00\/secret\ud800\n!"
        );
    }
}
