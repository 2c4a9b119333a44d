//! Changing fields of an object while the rest of its text stays as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Entries, RawJson};

/// What happened to one field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The field has this value now.
    Set(RawJson),
    /// The field is gone.
    Removed,
}

impl Change {
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(left), Self::Set(right)) => left.says_the_same_as(right),
            (Self::Removed, Self::Removed) => true,
            _ => false,
        }
    }
}

/// Fields of `patch` laid over those of `base`. `None` unless both are objects.
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

/// What was done to `before` to make it `after`, field by field. `None` unless both are objects.
pub(crate) fn changes_between(before: &RawJson, after: &RawJson) -> Option<Vec<(String, Change)>> {
    let old: BTreeMap<Cow<'_, str>, &str> = by_key(before)?;
    let new: BTreeMap<Cow<'_, str>, &str> = by_key(after)?;
    let set = after
        .entries()?
        .filter(|entry| old.get(&entry.key()).is_none_or(|value| !super::equal::equal(value, entry.value())))
        .map(|entry| {
            let value = RawJson::from_checked(entry.value());
            (entry.key().into_owned(), Change::Set(value))
        });
    let removed = before
        .entries()?
        .filter(|entry| !new.contains_key(&entry.key()))
        .map(|entry| (entry.key().into_owned(), Change::Removed));
    Some(set.chain(removed).collect())
}

fn by_key(object: &RawJson) -> Option<BTreeMap<Cow<'_, str>, &str>> {
    Some(object.entries()?.map(|entry| (entry.key(), entry.value())).collect())
}

/// `base` with the changes made. Fields keep their order; new ones come last. `None` if `base` is no object.
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
    for entry in Entries::of(base.as_str())? {
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
