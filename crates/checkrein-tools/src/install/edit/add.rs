//! Inserts our entries into a JSON settings file, in the layout of the file.

use checkrein_document::{Node, Value};

use super::splice::{Splice, between, spliced};
use super::style::{Style, children, indent_if_first, indent_of_line};
use super::{EditError, end, is_blank, read, start};

/// Merges the tree into the text.
pub(in crate::install) fn add(text: Option<&str>, wanted: &Node<'_>) -> Result<String, EditError> {
    let Some(text) = text.filter(|text| !is_blank(text)) else {
        let style = Style { unit: "  ".to_owned(), newline: "\n", lines: true };
        let mark = text.filter(|text| text.starts_with('\u{feff}')).map_or("", |_| "\u{feff}");
        return Ok(format!("{mark}{}\n", style.value(wanted, "", true)));
    };
    let root = read(text)?;
    let mut insertion = Insertion { text, style: Style::detect(text, &root), splices: Vec::new() };
    insertion.merge(&root, wanted, None)?;
    Ok(spliced(text, insertion.splices))
}

struct Insertion<'a> {
    text: &'a str,
    style: Style,
    splices: Vec<Splice>,
}

/// Member of an object (with its key) or item of an array to insert.
type InsertionPart<'n, 'w> = (Option<&'n str>, &'n Node<'w>);

impl Insertion<'_> {
    /// Merges `wanted` into `there`. `key` is the key of `there`, `None` at the root.
    fn merge(&mut self, existing: &Node<'_>, wanted: &Node<'_>, key: Option<&str>) -> Result<(), EditError> {
        match (&existing.value, &wanted.value) {
            (Value::Object(_), Value::Object(members)) => {
                let mut missing: Vec<InsertionPart<'_, '_>> = Vec::new();
                for member in members {
                    match existing.get(&member.key) {
                        Some(existing) => self.merge(existing, &member.value, Some(&member.key))?,
                        None => missing.push((Some(&member.key), &member.value)),
                    }
                }
                self.insert(existing, &missing);
            }
            (Value::Array(_), Value::Array(items)) => {
                let parts: Vec<InsertionPart<'_, '_>> = items.iter().map(|item| (None, item)).collect();
                self.insert(existing, &parts);
            }
            // The key exists, but its value is null.
            (Value::Null, Value::Object(_) | Value::Array(_)) => {
                let indent = indent_of_line(self.text, start(existing)).to_owned();
                let value = self.style.value(wanted, &indent, self.style.lines);
                self.splices.push(Splice::replace(start(existing), end(existing), value));
            }
            (_, Value::Object(_) | Value::Array(_)) => {
                let name = key.map_or_else(|| "the file".to_owned(), |key| format!("`{key}`"));
                let message = format!("{name} is {}, but must be {}", existing.type_name(), wanted.type_name());
                return Err(EditError::new(self.text, existing.span, message));
            }
            _ => {}
        }
        Ok(())
    }

    fn insert(&mut self, existing: &Node<'_>, parts: &[InsertionPart<'_, '_>]) {
        if parts.is_empty() {
            return;
        }
        let last = match &existing.value {
            Value::Array(items) => items.last().map(end),
            Value::Object(members) => members.last().map(|member| end(&member.value)),
            _ => return,
        };
        match last {
            Some(last) => self.insert_after(existing, last, parts),
            None => self.insert_first(existing, parts),
        }
    }

    /// Inserts after the last existing child. A comment in that child's line stays with it.
    fn insert_after(&mut self, existing: &Node<'_>, last: usize, parts: &[InsertionPart<'_, '_>]) {
        let lines = existing.span.slice(self.text).contains('\n');
        let first = children(existing).next().unwrap_or_default();
        let own_line = indent_if_first(self.text, first);
        // A container that starts with `[{` in one line continues in that layout.
        let lines = lines && own_line.is_some();
        let indent = own_line.unwrap_or_else(|| indent_of_line(self.text, start(existing))).to_owned();
        let separator = match lines {
            true => self.style.line(&indent),
            false if self.is_tight(existing) => String::new(),
            false => " ".to_owned(),
        };
        let found = between(self.text, last);
        let parts: Vec<String> = parts.iter().map(|part| self.part(part, &indent, lines)).collect();
        let added = parts.join(&format!(",{separator}"));
        match found.comma {
            // The file has a trailing comma, so the new last part gets one too.
            Some(comma) => {
                let at = if lines { found.line.max(comma) } else { comma };
                self.splices.push(Splice::insert(at, format!("{separator}{added},")));
            }
            None => {
                let at = if lines { found.line } else { last };
                self.splices.push(Splice::insert(last, ","));
                self.splices.push(Splice::insert(at, format!("{separator}{added}")));
            }
        }
    }

    /// Inserts into an empty container.
    fn insert_first(&mut self, existing: &Node<'_>, parts: &[InsertionPart<'_, '_>]) {
        let lines = self.style.lines;
        let outer = indent_of_line(self.text, start(existing)).to_owned();
        let indent = format!("{outer}{}", self.style.unit);
        let parts: Vec<String> = parts.iter().map(|part| self.part(part, &indent, lines)).collect();
        let separator = if lines { self.style.line(&indent) } else { String::new() };
        let added = parts.join(&format!(",{}", if lines { &*separator } else { " " }));
        let found = between(self.text, start(existing) + 1);
        let close = end(existing).saturating_sub(1);
        // Existing comments stay in front. The white space after them is replaced.
        let closing = if lines { self.style.line(&outer) } else { String::new() };
        self.splices.push(Splice::replace(found.comments, close, format!("{separator}{added}{closing}")));
    }

    fn part(&self, (key, value): &InsertionPart<'_, '_>, indent: &str, lines: bool) -> String {
        match key {
            Some(key) => self.style.member(key, value, indent, lines),
            None => self.style.value(value, indent, lines),
        }
    }

    /// Returns `true` if the node is written without white space.
    fn is_tight(&self, existing: &Node<'_>) -> bool {
        !existing.span.slice(self.text).contains([' ', '\t', '\n'])
    }
}
