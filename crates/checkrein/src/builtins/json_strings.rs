//! The strings in a JSON text: read without building a tree, replaced without touching any other byte.

use std::borrow::Cow;
use std::ops::Range;

use checkrein_core::RawJson;
use checkrein_core::json::{Piece, TokenKind, pieces, unquoted};

/// One string that is a value, not a key.
pub(crate) struct JsonString<'a> {
    /// The key that it stands under, directly or in an array.
    pub(super) key: Option<Cow<'a, str>>,
    /// What it says.
    pub(crate) text: DecodedString<'a>,
    /// Where it stands between its quotes.
    start: usize,
}

impl JsonString<'_> {
    /// Where a part of what it says stands in the JSON text.
    pub(crate) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.start + self.text.spelt_at(part.start)..self.start + self.text.spelt_at(part.end)
    }
}

/// What a string says, with the way back to how it is spelt.
pub(crate) struct DecodedString<'a> {
    pub(crate) says: Cow<'a, str>,
    /// Behind each escape: the offset in what it says, the offset in how it is spelt. Between them both go in step.
    escapes: Vec<(usize, usize)>,
}

impl<'a> DecodedString<'a> {
    /// `spelt` is what stands between the quotes of a valid JSON string.
    fn read(spelt: &'a str) -> Self {
        if !spelt.contains('\\') {
            return Self { says: Cow::Borrowed(spelt), escapes: Vec::new() };
        }
        let mut says = String::with_capacity(spelt.len());
        let mut escapes = Vec::new();
        let mut at = 0;
        for (piece, length) in pieces(spelt) {
            at += length;
            match piece {
                Piece::Plain(text) => {
                    says.push_str(text);
                    continue;
                }
                Piece::Character(character) => says.push(character),
                // Half of a surrogate pair reads as U+FFFD.
                Piece::LoneSurrogate(_) => says.push(char::REPLACEMENT_CHARACTER),
            }
            escapes.push((says.len(), at));
        }
        Self { says: Cow::Owned(says), escapes }
    }

    fn spelt_at(&self, said_at: usize) -> usize {
        let behind = self.escapes.partition_point(|(said, _)| *said <= said_at);
        match behind.checked_sub(1).and_then(|last| self.escapes.get(last)) {
            Some((said, spelt)) => spelt + (said_at - said),
            None => said_at,
        }
    }
}

/// All strings that are values, in the order of the text.
pub(crate) fn strings(json: &RawJson) -> Vec<JsonString<'_>> {
    let text = json.as_str();
    let mut found = Vec::new();
    // The keys in force: one for each object and array that is open.
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
                let spelt = unquoted(&text[token.start..token.end]);
                let key = key.map(|key| DecodedString::read(key).says);
                found.push(JsonString { key, text: DecodedString::read(spelt), start: token.start + 1 });
            }
            TokenKind::Number | TokenKind::True | TokenKind::False | TokenKind::Null => {}
        }
    }
    found
}

/// The text with some parts replaced. The parts are in order and do not overlap.
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
            .map(|string| format!("{}={}", string.key.as_deref().unwrap_or("-"), string.text.says))
            .collect();
        assert_eq!(found, ["a=1", "d=2", "e=3", "d=4", "f=6", "g=\"}"]);
        let alone: RawJson = r#""x""#.parse().unwrap();
        assert_eq!(strings(&alone).len(), 1);
    }

    #[test]
    fn places_lead_back_to_the_spelling() {
        let json: RawJson = r#"{"a":"\u00e9\ud83d\ude00\/secret\ud800\n!"}"#.parse().unwrap();
        let string = &strings(&json)[0];
        assert_eq!(string.text.says, "é😀/secret\u{fffd}\n!");
        let at = string.text.says.find("secret").unwrap();
        assert_eq!(&json.as_str()[string.place(&(at..at + 6))], "secret");
        assert_eq!(&json.as_str()[string.place(&(0..2))], r"\u00e9");
        assert_eq!(&json.as_str()[string.place(&(0..string.text.says.len()))], r"\u00e9\ud83d\ude00\/secret\ud800\n!");
    }
}
