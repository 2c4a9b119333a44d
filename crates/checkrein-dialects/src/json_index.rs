//! Lookup of fields in a JSON object by paths such as `a.b`.
//!
//! The readers of payloads and answers use it. A path never reaches a key that contains a dot.

use std::borrow::Cow;

use checkrein_core::{Entries, Entry, RawJson};

/// Index of the fields of an object, for many lookups: tables have dozens of paths, and objects have few fields.
pub(crate) struct FieldIndex<'a> {
    fields: Vec<(Cow<'a, str>, Entry<'a>)>,
    /// Bits of the first bytes of all keys. Most lookups without a result end here.
    starts: u64,
}

impl<'a> FieldIndex<'a> {
    /// Creates an index. `None`: the JSON is not an object.
    pub(crate) fn new(json: &'a RawJson) -> Option<Self> {
        let mut found = Self { fields: Vec::with_capacity(8), starts: 0 };
        for entry in json.entries()? {
            let key = entry.key();
            found.starts |= start_of(&key);
            found.fields.push((key, entry));
        }
        Some(found)
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Entry<'a>> {
        self.fields.into_iter().map(|(_, entry)| entry)
    }

    /// Returns the entry at a path of keys.
    #[inline]
    pub(crate) fn at(&self, path: &str) -> Option<Entry<'a>> {
        if self.starts & start_of(path) == 0 { None } else { self.find(path) }
    }

    fn find(&self, path: &str) -> Option<Entry<'a>> {
        let (entry, rest) = self.fields.iter().find_map(|(key, entry)| Some((entry, strip_key(key, path)?)))?;
        match rest {
            "" => Some(entry.clone()),
            rest => follow(entry.entries()?, &rest[1..]),
        }
    }
}

/// Returns a bit for the first byte of a key or path. An empty key has the bit of a dot.
#[inline]
fn start_of(text: &str) -> u64 {
    1 << (text.as_bytes().first().unwrap_or(&b'.') % 64)
}

/// Returns the entry at a path of keys without an index, for a single lookup. Later entries are not read.
pub(crate) fn at<'a>(json: &'a RawJson, path: &str) -> Option<Entry<'a>> {
    follow(json.entries()?, path)
}

fn follow<'a>(mut entries: Entries<'a>, mut path: &str) -> Option<Entry<'a>> {
    loop {
        let (entry, rest) = entries.find_map(|entry| strip_key(&entry.key(), path).map(|rest| (entry, rest)))?;
        if rest.is_empty() {
            return Some(entry);
        }
        entries = entry.entries()?;
        path = &rest[1..];
    }
}

/// Returns the rest of a path after its first key, if that is `key`. The rest is empty or starts with a dot.
#[inline]
pub(crate) fn strip_key<'p>(key: &str, path: &'p str) -> Option<&'p str> {
    // The length excludes most keys.
    if !matches!(path.as_bytes().get(key.len()), None | Some(b'.')) {
        return None;
    }
    // A key with a dot is not reachable by a path.
    if key.contains('.') { None } else { path.strip_prefix(key) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Objects whose keys equal or resemble parts of paths, in several spellings.
    fn any_object() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![Just("null"), Just("1"), Just(r#""}""#), Just("[{\"a\":1}]")].prop_map(str::to_owned);
        let key =
            prop::sample::select(vec!["", "a", "b", "ab", "a.b", ".", "\\u0061", "\\ud800", "\\ufffd", "\u{fffd}"]);
        leaf.prop_recursive(4, 24, 5, move |inner| {
            prop::collection::btree_map(key.clone(), inner, 0..5).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                format!(" {{{}}}", fields.join(", "))
            })
        })
    }

    proptest! {
        #[test]
        fn index_and_lookup_agree_with_a_walk(text in any_object(), path in "(a|b|ab|\u{fffd}|)(\\.(a|b|ab|)){0,3}") {
            // Objects with one key in two spellings are invalid.
            if let Ok(json) = RawJson::parse(text)
                && let Some(fields) = FieldIndex::new(&json)
            {
                let walked = path.split('.').try_fold(json.clone(), |json, key| json.field(key));
                prop_assert_eq!(fields.at(&path).map(|entry| entry.to_json()), walked.clone());
                prop_assert_eq!(at(&json, &path).map(|entry| entry.to_json()), walked);
            }
        }
    }

    #[test]
    fn paths_lead_into_objects() {
        let json = RawJson::parse(r#"{"a.b": 1, "a": {"b": 2, "c": {"\u0064": 3}}, "": 4}"#).unwrap();
        let fields = FieldIndex::new(&json).unwrap();
        let found = |path| fields.at(path).map(|entry| entry.value().to_owned());
        assert_eq!(found("a.b").as_deref(), Some("2"));
        assert_eq!(found("a.c.d").as_deref(), Some("3"));
        assert_eq!(found("").as_deref(), Some("4"));
        assert_eq!((found("a.c.d.e"), found("a.x"), found("ab"), found("a.")), (None, None, None, None));
        assert!(FieldIndex::new(&RawJson::string("a")).is_none());
    }
}
