//! Texts of hook files and the places of their entries. Each file is read and parsed once, because it can have many hooks.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use checkrein::internal::regular_file;
use checkrein_dialects::HookSpec;
use checkrein_dialects::config::{Diagnostic, Location};
use checkrein_document::{Format, LineIndex, MAX_SIZE, Node, Span, Value};

use super::place::first_line;
use super::rule;

/// Hook files that were read, by path.
#[derive(Debug, Default)]
pub struct Files {
    known: RefCell<HashMap<String, Option<Rc<File>>>>,
}

/// A hook file.
#[derive(Debug)]
pub(super) struct File {
    path: String,
    pub(super) text: String,
    silenced: OnceCell<HashSet<String>>,
    /// Entries by line and column.
    entries: OnceCell<HashMap<(u32, u32), Entry>>,
}

/// The object of a hook in its file.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its first line.
    pub(super) first: Location,
    /// Matcher of the entry, or of an object around it.
    pub(super) matcher: Option<Span>,
    /// Values by key. The keys of an inner object are behind a dot.
    values: Vec<EntryValue>,
}

/// A value of an entry.
#[derive(Debug)]
pub(super) struct EntryValue {
    key: String,
    pub(super) span: Span,
    /// The text, if the value is one.
    pub(super) text: Option<String>,
}

impl Files {
    /// Returns a file. `None` if it cannot be read.
    pub(super) fn get(&self, path: &str) -> Option<Rc<File>> {
        let read = || {
            let text = regular_file::read_text(Path::new(path), MAX_SIZE as u64).ok()?;
            let (silenced, entries) = (OnceCell::new(), OnceCell::new());
            Some(Rc::new(File { path: path.to_owned(), text, silenced, entries }))
        };
        self.known.borrow_mut().entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// Returns `true` if a comment in the diagnostic's file silences it. Only lints can be silenced. Some of them are found when
    /// files are read, before [`lint`](super::lint) runs.
    pub fn is_silenced(&self, diagnostic: &Diagnostic) -> bool {
        rule(diagnostic.code).is_some() && self.get(&diagnostic.file).is_some_and(|file| file.silences(diagnostic.code))
    }
}

impl File {
    /// Returns `true` if a comment in the file silences the lint `code`.
    pub(super) fn silences(&self, code: &str) -> bool {
        self.silenced.get_or_init(|| super::silenced(&self.text).map(str::to_owned).collect()).contains(code)
    }

    /// Returns the entry of a hook. `None` if the file is no document, or has changed.
    pub(super) fn entry(&self, hook: &HookSpec) -> Option<&Entry> {
        let source = &hook.info.source;
        let place = (source.line?, source.column?);
        self.entries.get_or_init(|| entries(&self.path, &self.text).unwrap_or_default()).get(&place)
    }
}

impl Entry {
    /// Returns the value of a key, such as `vars.push`.
    pub(super) fn get(&self, key: &str) -> Option<&EntryValue> {
        self.values.iter().find(|value| value.key == key)
    }
}

fn entries(path: &str, text: &str) -> Option<HashMap<(u32, u32), Entry>> {
    let format = Format::from_path(Path::new(path)).unwrap_or(Format::Json);
    let format = if format == Format::Json { Format::Jsonc } else { format };
    let document = checkrein_document::parse(text, format).ok()?;
    let (mut found, lines) = (HashMap::new(), LineIndex::new(text));
    // An entry at the start of a TOML file has the place of the document, which is an entry only if it is the hook itself.
    let matcher = document.root.get("matcher").map(|node| node.span);
    for member in document.root.as_object().into_iter().flatten() {
        add(&member.value, matcher, (text, &lines), &mut found);
    }
    add(&document.root, None, (text, &lines), &mut found);
    Some(found)
}

/// Adds the objects in a node. The outer one of two objects at the same place is kept.
fn add(
    node: &Node<'_>,
    around: Option<Span>,
    (text, lines): (&str, &LineIndex<'_>),
    found: &mut HashMap<(u32, u32), Entry>,
) {
    match &node.value {
        Value::Object(members) => {
            let matcher = node.get("matcher").map(|node| node.span).or(around);
            let mut values = Vec::new();
            for member in members {
                values.push(value(member.key.to_string(), &member.value));
                for inner in member.value.as_object().into_iter().flatten() {
                    values.push(value(format!("{}.{}", member.key, inner.key), &inner.value));
                }
            }
            let place = lines.place(node.span.start);
            let first = || Location::of(lines, first_line(node.span, text));
            found.entry((place.line, place.column)).or_insert_with(|| Entry { first: first(), matcher, values });
            members.iter().for_each(|member| add(&member.value, matcher, (text, lines), found));
        }
        Value::Array(items) => items.iter().for_each(|item| add(item, around, (text, lines), found)),
        _ => {}
    }
}

fn value(key: String, node: &Node<'_>) -> EntryValue {
    EntryValue { key, span: node.span, text: node.as_str().map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_read_and_parsed_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hooks.yaml");
        std::fs::write(&path, "# checkrein: allow untested-rule\nhooks:\n  - { id: x, vars: { a: 'true' } }\n")
            .unwrap();
        let files = Files::default();
        let path = path.to_str().unwrap();
        let file = files.get(path).unwrap();
        std::fs::write(path, "hooks: []").unwrap();
        assert!(Rc::ptr_eq(&file, &files.get(path).unwrap()));
        assert!(file.silences("untested-rule") && !file.silences("bad-test"));
        let entries = entries(path, &file.text).unwrap();
        assert_eq!(entries[&(3, 5)].get("vars.a").unwrap().text.as_deref(), Some("true"));
        assert!(files.get("/nonexistent").is_none());
    }
}
