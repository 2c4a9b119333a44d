use std::borrow::Cow;
use std::ops::Range;

use super::RawJson;
use super::lexer::{Lexer, TokenKind};
use super::text::{decode_string, unquoted};

/// One field of a JSON object, as it stands in the text.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    raw_key: &'a str,
    value: &'a str,
    value_start: usize,
    /// Whether the key is spelt with escapes, so that it says something else than what stands there.
    escaped: bool,
}

impl<'a> Entry<'a> {
    /// The key, decoded.
    pub fn key(&self) -> Cow<'a, str> {
        if self.escaped { decode_string(self.raw_key) } else { Cow::Borrowed(unquoted(self.raw_key)) }
    }

    /// Whether the key, decoded, is this one.
    pub fn is_named(&self, key: &str) -> bool {
        if self.escaped { decode_string(self.raw_key) == key } else { unquoted(self.raw_key) == key }
    }

    /// The key as it is spelt, with its quotes.
    pub fn raw_key(&self) -> &'a str {
        self.raw_key
    }

    /// The value as it is spelt.
    pub fn value(&self) -> &'a str {
        self.value
    }

    /// The value on its own. It has been checked with the object that it stands in.
    pub fn to_json(&self) -> RawJson {
        RawJson::from_checked(self.value)
    }

    /// What the value says, if it is a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.value.starts_with('"').then(|| decode_string(self.value))
    }

    /// The fields of the value, if it is an object.
    pub fn entries(&self) -> Option<Entries<'a>> {
        Entries::of(self.value)
    }

    /// Where the value stands in the object's text.
    pub fn value_range(&self) -> Range<usize> {
        self.value_start..self.value_start + self.value.len()
    }
}

/// The fields of a JSON object in the order of the text. Made by [`RawJson::entries`](super::RawJson::entries).
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
}

impl<'a> Entries<'a> {
    /// `text` must be valid JSON; `None` if it is no object.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
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
    fn keys_are_what_they_say_however_they_are_spelt() {
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
