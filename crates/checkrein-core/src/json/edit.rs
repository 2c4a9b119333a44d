//! Changes of single fields of an object. The text of all other fields is kept.
//!
//! Settling uses it to merge and compose rewrites.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Entries, Entry, RawJson};

/// Change of one field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The field has a new value.
    Set(RawJson),
    /// The field is removed.
    Removed,
}

impl Change {
    pub(crate) fn semantically_eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(left), Self::Set(right)) => left.semantically_eq(right),
            (Self::Removed, Self::Removed) => true,
            _ => false,
        }
    }
}

/// Returns `base` with the fields of `patch`. `None` unless both are objects.
pub(crate) fn merge_shallow(base: &RawJson, patch: &RawJson) -> Option<RawJson> {
    base.entries()?;
    let changes = patch
        .entries()?
        .map(|entry| {
            let value = RawJson::from_checked(entry.value());
            (entry.key().into_owned(), Change::Set(value))
        })
        .collect::<Vec<_>>();
    with_changes(base, &changes)
}

/// Returns the changes from `before` to `after`. `None` unless both are objects.
#[cfg(test)]
pub(crate) fn changes_between(before: &RawJson, after: &RawJson) -> Option<Vec<(String, Change)>> {
    FieldSet::new(before)?.changes_to(after)
}

/// Fields of an object by key, for comparing several objects with it.
pub(crate) struct FieldSet<'a>(BTreeMap<Cow<'a, str>, &'a str>);

impl<'a> FieldSet<'a> {
    /// Returns the fields of an object. `None` for other values.
    pub(crate) fn new(object: &'a RawJson) -> Option<Self> {
        Some(Self(object.entries()?.map(|entry| (entry.key(), entry.value())).collect()))
    }

    /// Returns the changes from these fields to those of `after`.
    pub(crate) fn changes_to(&self, after: &RawJson) -> Option<Vec<(String, Change)>> {
        let new = FieldSet::new(after)?;
        let removed = self.0.keys().filter(|key| !new.0.contains_key(*key));
        let removed: Vec<_> = removed.map(|key| (key.clone().into_owned(), Change::Removed)).collect();
        let set = after.entries()?.filter_map(|entry| self.change(&entry));
        Some(set.chain(removed).collect())
    }

    /// Returns the changes that merging `patch` into these fields makes.
    pub(crate) fn changes_by(&self, patch: &RawJson) -> Option<Vec<(String, Change)>> {
        Some(patch.entries()?.filter_map(|entry| self.change(&entry)).collect())
    }

    fn change(&self, entry: &Entry<'_>) -> Option<(String, Change)> {
        let key = entry.key();
        let is_equal = self.0.get(&key).is_some_and(|value| super::equal::equal(value, entry.value()));
        if is_equal { None } else { Some((key.into_owned(), Change::Set(RawJson::from_checked(entry.value())))) }
    }
}

/// Returns `base` with the changes. Fields keep their order; new ones come last. `None` if `base` is not an object.
pub(crate) fn with_changes(base: &RawJson, changes: &[(String, Change)]) -> Option<RawJson> {
    let mut pending: BTreeMap<&str, &Change> = changes.iter().map(|(key, change)| (key.as_str(), change)).collect();
    let mut out = String::with_capacity(base.as_str().len());
    out.push('{');
    let mut field = |key: &str, value: &str| {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(key);
        out.push(':');
        out.push_str(value);
    };
    for entry in Entries::new(base.as_str())? {
        match pending.remove(&*entry.key()) {
            None => field(entry.raw_key(), entry.value()),
            Some(Change::Set(value)) => field(entry.raw_key(), value.as_str().trim_ascii()),
            Some(Change::Removed) => {}
        }
    }
    for (key, change) in changes {
        if let (Some(_), Change::Set(value)) = (pending.remove(key.as_str()), change) {
            let mut quoted = String::new();
            super::write_string(&mut quoted, key);
            field(&quoted, value.as_str().trim_ascii());
        }
    }
    out.push('}');
    Some(RawJson::from_checked(&out))
}
