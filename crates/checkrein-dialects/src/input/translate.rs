//! Renaming of the fields of a tool input.
//!
//! Names are swapped: if a tool has `path` for the canonical `file_path`, and an input also has a field `file_path`, that field
//! becomes `path`. A hook that checks `file_path` therefore always sees the value that the tool uses, no field is lost, and the
//! translation is reversible. Only keys change; the text of values stays the same.

use std::borrow::Cow;

use checkrein_core::{JsonObject, JsonType, RawJson};

use super::patch;
use super::{InputForm, InputRow};

/// A hook has changed a derived field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` cannot be changed here, because it is derived from `{from}`")]
#[non_exhaustive]
pub struct Untranslatable {
    /// Canonical name of the field.
    pub field: &'static str,
    /// The agent's name of the field that it is derived from.
    pub from: &'static str,
}

/// Derived fields of a translated input.
#[derive(Debug, Clone, Copy)]
pub(super) enum Derived<'d> {
    /// None.
    Omitted,
    /// All, with relative paths resolved against this directory.
    Added(Option<&'d str>),
}

/// Translates an input from the agent's names to the canonical ones. `None`: no difference.
pub(super) fn to_common(rows: &[InputRow], input: &RawJson, derive: Derived<'_>) -> Option<RawJson> {
    if rows.is_empty() {
        return None;
    }
    let keys: Vec<_> = input.entries()?.map(|entry| entry.key()).collect();
    let mut used: Vec<&InputRow> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_seen() && has(&keys, row.own)) {
        if !used.iter().any(|used| used.common == row.common) {
            used.push(row);
        }
    }
    let seen: Vec<_> = match derive {
        Derived::Omitted => Vec::new(),
        Derived::Added(dir) => {
            let rows = rows.iter().filter(|row| row.is_seen() && !has(&keys, row.common));
            rows.filter_map(|row| Some((row.common, derived(row, input, dir)?))).collect()
        }
    };
    if seen.is_empty() && used.iter().all(|row| is_trivial(row)) {
        return None;
    }
    let mut out = JsonObject::with_capacity(input.as_str().len() + 64);
    for entry in input.entries()? {
        let key = entry.key();
        let row = used.iter().find(|row| row.own == key);
        let value = row.and_then(|row| match row.form {
            InputForm::Lines => joined(&RawJson::parse(entry.value()).ok()?).map(|text| RawJson::string(&text)),
            InputForm::Each(rows) => each(&RawJson::parse(entry.value()).ok()?, |_, item| {
                Ok::<_, Untranslatable>(to_common(rows, item, derive))
            })
            .ok()?,
            _ => None,
        });
        let name = follow(&used, &key, |row| row.own, |row| row.common);
        match value {
            Some(value) => out.field(name, &value),
            None => out.entry(name, &entry),
        }
    }
    for (name, value) in seen {
        if !out.has(name) {
            out.field(name, &RawJson::string(&value));
        }
    }
    out.finish()
}

/// Translates an input from the canonical names to the agent's. `sent` is the input as the agent sent it, with the names that it
/// used; without it, the first names are used. `dir` is the directory of relative paths. `None`: no difference.
pub(super) fn from_common(
    rows: &[InputRow],
    input: &RawJson,
    sent: Option<&RawJson>,
    dir: Option<&str>,
) -> Result<Option<RawJson>, Untranslatable> {
    let Some(entries) = input.entries().filter(|_| !rows.is_empty()) else { return Ok(None) };
    let keys: Vec<_> = entries.clone().map(|entry| entry.key()).collect();
    let sent_keys: Vec<_> = sent.and_then(RawJson::entries).into_iter().flatten().map(|entry| entry.key()).collect();
    let mut used: Vec<&InputRow> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_seen() && has(&keys, row.common)) {
        if used.iter().any(|used| used.common == row.common) {
            continue;
        }
        let same_field = || rows.iter().filter(|other| !other.is_seen() && other.common == row.common);
        let as_sent = same_field().find(|other| has(&sent_keys, other.own));
        // Some versions of the agent send the canonical name.
        let is_canonical = as_sent.is_none() && has(&sent_keys, row.common);
        used.extend(as_sent.or((!is_canonical).then_some(row)));
    }
    let mut dropped = Vec::new();
    for row in rows.iter().filter(|row| row.is_seen() && has(&keys, row.common) && !has(&sent_keys, row.common)) {
        // Another row covers the field.
        if used.iter().any(|used| used.common == row.common) || dropped.contains(&row.common) {
            continue;
        }
        let Some(was) = sent.and_then(|sent| derived(row, sent, dir)) else { continue };
        let now = input.field(row.common);
        if now.as_ref().and_then(RawJson::as_text).is_none_or(|now| now != was) {
            return Err(Untranslatable { field: row.common, from: row.own });
        }
        dropped.push(row.common);
    }
    if dropped.is_empty() && used.iter().all(|row| is_trivial(row)) {
        return Ok(None);
    }
    let mut out = JsonObject::with_capacity(input.as_str().len() + 64);
    for entry in entries {
        let key = entry.key();
        if dropped.iter().any(|dropped| *dropped == key) {
            continue;
        }
        let row = used.iter().find(|row| row.common == key);
        let value = row.map(|row| (row, sent.and_then(|sent| sent.field(row.own)))).map(|(row, was)| match row.form {
            InputForm::Lines => Ok(lines(entry.value(), was)),
            InputForm::Each(rows) => match RawJson::parse(entry.value()) {
                Ok(list) => each(&list, |at, item| from_common(rows, item, item_of(was.as_ref(), at).as_ref(), dir)),
                Err(_) => Ok(None),
            },
            _ => Ok(None),
        });
        let name = follow(&used, &key, |row| row.common, |row| row.own);
        match value.transpose()?.flatten() {
            Some(value) => out.field(name, &value),
            None => out.entry(name, &entry),
        }
    }
    Ok(out.finish())
}

fn has(keys: &[Cow<'_, str>], key: &str) -> bool {
    keys.iter().any(|have| have == key)
}

fn is_trivial(row: &InputRow) -> bool {
    row.own == row.common && row.form == InputForm::Same
}

/// Returns the new name of a key. A key without a row whose name is now in use gets the name that became free.
fn follow<'k>(
    used: &[&InputRow],
    key: &'k str,
    from: fn(&InputRow) -> &'static str,
    to: fn(&InputRow) -> &'static str,
) -> &'k str {
    if let Some(row) = used.iter().find(|row| from(row) == key) {
        return to(row);
    }
    let mut free = key;
    while let Some(row) = used.iter().find(|row| to(row) == free) {
        free = from(row);
    }
    free
}

/// Returns the value of a derived field. `dir` is the directory of relative paths.
fn derived(row: &InputRow, input: &RawJson, dir: Option<&str>) -> Option<String> {
    let from = input.field(row.own)?;
    match row.form {
        InputForm::SeenInPatch(part) => patch::seen(&from.as_text()?, part, dir),
        InputForm::SeenInEach(field) => {
            let mut texts: Vec<String> = Vec::new();
            for item in from.items()? {
                let text = RawJson::parse(item).ok()?.field(field)?.as_text()?.into_owned();
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Joins a list of texts. `None`: the JSON is not a list of texts.
fn joined(list: &RawJson) -> Option<String> {
    let texts: Option<Vec<String>> =
        list.items()?.map(|item| Some(RawJson::parse(item).ok()?.as_text()?.into_owned())).collect();
    texts.map(|texts| texts.join("\n"))
}

/// Returns a text as a list of texts: the original list, if the text is unchanged.
fn lines(value: &str, was: Option<RawJson>) -> Option<RawJson> {
    let value = RawJson::parse(value).ok().filter(|value| value.json_type() == JsonType::String)?;
    match was {
        Some(was) if joined(&was).is_some_and(|was| value.as_text().is_some_and(|now| now == was)) => Some(was),
        // The agent sent one text.
        Some(was) if was.json_type() == JsonType::String => None,
        _ => RawJson::parse(format!("[{value}]")).ok(),
    }
}

fn item_of(list: Option<&RawJson>, at: usize) -> Option<RawJson> {
    list?.items()?.nth(at).and_then(|item| RawJson::parse(item).ok())
}

/// Replaces the items of a list. `None`: the JSON is not a list, or nothing changes.
fn each<E>(list: &RawJson, make: impl Fn(usize, &RawJson) -> Result<Option<RawJson>, E>) -> Result<Option<RawJson>, E> {
    let Some(items) = list.items() else { return Ok(None) };
    let (mut out, mut changed) = (Vec::new(), false);
    for (at, item) in items.enumerate() {
        let Ok(item) = RawJson::parse(item) else { return Ok(None) };
        let made = make(at, &item)?;
        changed |= made.is_some();
        out.push(made.unwrap_or(item).as_str().to_owned());
    }
    Ok(RawJson::parse(format!("[{}]", out.join(","))).ok().filter(|_| changed))
}
