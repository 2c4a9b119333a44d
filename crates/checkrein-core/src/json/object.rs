use std::borrow::Cow;
use std::ops::Range;

use super::RawJson;
use super::scan::{skip_space, skip_string, skip_value};
use super::text::{decode_string, inner};

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
        if self.escaped { decode_string(self.raw_key) } else { Cow::Borrowed(inner(self.raw_key)) }
    }

    /// Whether the key, decoded, is this one.
    pub fn is_named(&self, key: &str) -> bool {
        if self.escaped { decode_string(self.raw_key) == key } else { inner(self.raw_key) == key }
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
    at: usize,
}

impl<'a> Entries<'a> {
    /// `text` must be valid JSON; `None` if it is no object.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let start = skip_space(text.as_bytes(), 0);
        (text.as_bytes().get(start) == Some(&b'{')).then_some(Self { text, at: start + 1 })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let bytes = self.text.as_bytes();
        let mut at = skip_space(bytes, self.at);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(bytes, at + 1);
        }
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let (key_end, escaped) = skip_string(bytes, at);
        let colon = skip_space(bytes, key_end);
        let value_start = skip_space(bytes, colon + 1);
        let value_end = skip_value(bytes, value_start);
        self.at = value_end;
        let (raw_key, value) = (&self.text[at..key_end], &self.text[value_start..value_end]);
        Some(Entry { raw_key, value, value_start, escaped })
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
