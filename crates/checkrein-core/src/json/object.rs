//! Fields of JSON objects, as parts of the text.

use std::borrow::Cow;
use std::ops::Range;

use super::RawJson;
use super::lexer::{Lexer, TokenKind};
use super::text::{decode_string, unquoted};

/// One field of a JSON object, as a part of the text.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    raw_key: &'a str,
    value: &'a str,
    value_start: usize,
    /// `true` if the key contains escape sequences.
    escaped: bool,
}

impl<'a> Entry<'a> {
    /// Returns the decoded key.
    pub fn key(&self) -> Cow<'a, str> {
        if self.escaped { decode_string(self.raw_key) } else { Cow::Borrowed(unquoted(self.raw_key)) }
    }

    /// `true` if the decoded key is equal to `key`.
    pub fn is_named(&self, key: &str) -> bool {
        if self.escaped { decode_string(self.raw_key) == key } else { unquoted(self.raw_key) == key }
    }

    /// Returns the text of the key, with its quotes.
    pub fn raw_key(&self) -> &'a str {
        self.raw_key
    }

    /// Returns the text of the value.
    pub fn value(&self) -> &'a str {
        self.value
    }

    /// Returns the value. It was validated with its object.
    pub fn to_json(&self) -> RawJson {
        RawJson::from_checked(self.value)
    }

    /// Returns the decoded value, if it is a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.value.starts_with('"').then(|| decode_string(self.value))
    }

    /// Returns the fields of the value, if it is an object.
    pub fn entries(&self) -> Option<Entries<'a>> {
        Entries::new(self.value)
    }

    /// Returns the range of the value in the object's text.
    pub fn value_range(&self) -> Range<usize> {
        self.value_start..self.value_start + self.value.len()
    }
}

/// Iterator over the fields of a JSON object, in the order of the text. Returned by
/// [`RawJson::entries`](super::RawJson::entries).
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
}

impl<'a> Entries<'a> {
    /// Creates the iterator. `text` must be valid JSON. `None` if it is not an object.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        let mut lexer = Lexer::for_valid(text);
        let first = lexer.next_token().ok()??;
        (first.kind == TokenKind::ObjectStart).then_some(Self { text, lexer })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let key = self.lexer.next_token().ok()??;
        let TokenKind::Key { escaped } = key.kind else { return None };
        let value = self.lexer.next_value().ok()??;
        Some(Entry {
            raw_key: &self.text[key.start..key.end],
            value: &self.text[value.start..value.end],
            value_start: value.start,
            escaped,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded() {
        let json: RawJson = r#"{"a":"x\ny", "\u0061b" : {"c":1}, "\\":null,"\ud800":[]}"#.parse().unwrap();
        let entries: Vec<_> = json.entries().unwrap().collect();
        let keys: Vec<_> = entries.iter().map(Entry::key).collect();
        assert_eq!(keys, ["a", "ab", "\\", "\u{fffd}"]);
        for (entry, key) in entries.iter().zip(&keys) {
            for other in &keys {
                assert_eq!(entry.is_named(other), key == other, "{key} {other}");
            }
            assert!(!entry.is_named(entry.raw_key()));
            assert_eq!(entry.to_json().as_str(), entry.value());
        }
        let texts: Vec<_> = entries.iter().map(Entry::text).collect();
        assert_eq!(texts, [Some("x\ny".into()), None, None, None]);
        assert_eq!(entries[1].entries().unwrap().next().unwrap().value(), "1");
        assert!(entries[0].entries().is_none() && entries[3].entries().is_none());
    }
}
