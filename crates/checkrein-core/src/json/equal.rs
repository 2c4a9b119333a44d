//! Semantic comparison of JSON texts, and the items of an array.

use std::borrow::Cow;

use super::lexer::Lexer;
use super::object::Entries;
use super::text::decode_exactly;

/// `true` if two valid JSON texts have the same meaning.
///
/// White space, the order of keys and escapes in strings are ignored. The text of numbers is not: `1` and `1.0` may be
/// different to a tool.
pub(super) fn equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim_ascii(), right.trim_ascii());
    if left == right {
        return true;
    }
    match (left.as_bytes().first(), right.as_bytes().first()) {
        (Some(b'"'), Some(b'"')) => decode_exactly(left) == decode_exactly(right),
        (Some(b'['), Some(b'[')) => {
            let (mut left, mut right) = (Items::new(left), Items::new(right));
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return true,
                    (Some(left), Some(right)) if equal(left, right) => {}
                    _ => return false,
                }
            }
        }
        (Some(b'{'), Some(b'{')) => {
            let (left, right) = (sorted_entries(left), sorted_entries(right));
            left.len() == right.len()
                && left.iter().zip(&right).all(|(left, right)| left.0 == right.0 && equal(left.1, right.1))
        }
        _ => false,
    }
}

fn sorted_entries(object: &str) -> Vec<(Cow<'_, [u8]>, &str)> {
    let mut entries: Vec<_> = Entries::new(object)
        .into_iter()
        .flatten()
        .map(|entry| (decode_exactly(entry.raw_key()), entry.value()))
        .collect();
    entries.sort_unstable();
    entries
}

/// Iterator over the texts of an array's items. Returned by [`RawJson::items`](super::RawJson::items).
#[derive(Debug, Clone)]
pub struct Items<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
}

impl<'a> Items<'a> {
    /// Creates the iterator. `text` must be a valid JSON array.
    pub(super) fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::for_valid(text);
        // Skip the opening bracket.
        let _ = lexer.next_token();
        Self { text, lexer }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let item = self.lexer.next_value().ok()??;
        Some(&self.text[item.start..item.end])
    }
}
