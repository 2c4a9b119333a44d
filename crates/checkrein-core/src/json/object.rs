use std::borrow::Cow;
use std::ops::Range;

use super::scan::{skip_space, skip_string, skip_value};
use super::text::decode_string;

/// One field of a JSON object, as it stands in the text.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    raw_key: &'a str,
    value: &'a str,
    value_start: usize,
}

impl<'a> Entry<'a> {
    /// The key, decoded.
    pub fn key(&self) -> Cow<'a, str> {
        decode_string(self.raw_key)
    }

    /// The key as it is spelt, with its quotes.
    pub fn raw_key(&self) -> &'a str {
        self.raw_key
    }

    /// The value as it is spelt.
    pub fn value(&self) -> &'a str {
        self.value
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
        let key_end = skip_string(bytes, at);
        let colon = skip_space(bytes, key_end);
        let value_start = skip_space(bytes, colon + 1);
        let value_end = skip_value(bytes, value_start);
        self.at = value_end;
        Some(Entry { raw_key: &self.text[at..key_end], value: &self.text[value_start..value_end], value_start })
    }
}
