//! Adds.

use checkrein_document::{Node, Value};

use super::splice::{Splice, between, spliced};
use super::style::{Style, children, indent_if_first, indent_of_line};
use super::{EditError, end, is_blank, read, start};

/// The text with all of the tree in it.
pub(in crate::install) fn add(text: Option<&str>, wanted: &Node<'_>) -> Result<String, EditError> {
    let Some(text) = text.filter(|text| !is_blank(text)) else {
        let style = Style { unit: "  ".to_owned(), newline: "\n", lines: true };
        let mark = text.filter(|text| text.starts_with('\u{feff}')).map_or("", |_| "\u{feff}");
        return Ok(format!("{mark}{}\n", style.value(wanted, "", true)));
    };
    let root = read(text)?;
    let mut adding = Insertion { text, style: Style::of(text, &root), splices: Vec::new() };
    adding.merge(&root, wanted, "the file")?;
    Ok(spliced(text, adding.splices))
}

struct Insertion<'a> {
    text: &'a str,
    style: Style,
    splices: Vec<Splice>,
}

/// Something to put into an array or an object.
type InsertionPart<'n, 'w> = (Option<&'n str>, &'n Node<'w>);

impl Insertion<'_> {
    fn merge(&mut self, there: &Node<'_>, wanted: &Node<'_>, name: &str) -> Result<(), EditError> {
        match (&there.value, &wanted.value) {
            (Value::Object(_), Value::Object(members)) => {
                let mut missing: Vec<InsertionPart<'_, '_>> = Vec::new();
                for member in members {
                    match there.get(&member.key) {
                        Some(there) => self.merge(there, &member.value, &member.key)?,
                        None => missing.push((Some(&member.key), &member.value)),
                    }
                }
                self.insert(there, &missing);
            }
            (Value::Array(_), Value::Array(items)) => {
                let parts: Vec<InsertionPart<'_, '_>> = items.iter().map(|item| (None, item)).collect();
                self.insert(there, &parts);
            }
            // A key whose value somebody has emptied.
            (Value::Null, Value::Object(_) | Value::Array(_)) => {
                let indent = indent_of_line(self.text, start(there)).to_owned();
                let value = self.style.value(wanted, &indent, self.style.lines);
                self.splices.push(Splice::replace(start(there), end(there), value));
            }
            (_, Value::Object(_) | Value::Array(_)) => {
                let message = format!("`{name}` is {} here, and should be {}", there.type_name(), wanted.type_name());
                return Err(EditError::new(self.text, there.span, message));
            }
            _ => {}
        }
        Ok(())
    }

    fn insert(&mut self, there: &Node<'_>, parts: &[InsertionPart<'_, '_>]) {
        if parts.is_empty() {
            return;
        }
        let last = match &there.value {
            Value::Array(items) => items.last().map(end),
            Value::Object(members) => members.last().map(|member| end(&member.value)),
            _ => return,
        };
        match last {
            Some(last) => self.behind(there, last, parts),
            None => self.first_of(there, parts),
        }
    }

    /// Behind the last that is there. A comment behind that stays with it.
    fn behind(&mut self, there: &Node<'_>, last: usize, parts: &[InsertionPart<'_, '_>]) {
        let lines = there.span.of(self.text).contains('\n');
        let first = children(there).next().unwrap_or_default();
        let own_line = indent_if_first(self.text, first);
        // `[{` in one line, and more lines in it: what comes next goes on in the same way.
        let lines = lines && own_line.is_some();
        let indent = own_line.unwrap_or_else(|| indent_of_line(self.text, start(there))).to_owned();
        let separator = match lines {
            true => self.style.line(&indent),
            false if self.is_tight(there) => String::new(),
            false => " ".to_owned(),
        };
        let found = between(self.text, last);
        let parts: Vec<String> = parts.iter().map(|part| self.part(part, &indent, lines)).collect();
        let added = parts.join(&format!(",{separator}"));
        match found.comma {
            // It likes them at the end.
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

    fn first_of(&mut self, there: &Node<'_>, parts: &[InsertionPart<'_, '_>]) {
        let lines = self.style.lines;
        let outer = indent_of_line(self.text, start(there)).to_owned();
        let indent = format!("{outer}{}", self.style.unit);
        let parts: Vec<String> = parts.iter().map(|part| self.part(part, &indent, lines)).collect();
        let separator = if lines { self.style.line(&indent) } else { String::new() };
        let added = parts.join(&format!(",{}", if lines { &*separator } else { " " }));
        let found = between(self.text, start(there) + 1);
        let close = end(there).saturating_sub(1);
        // What stands there stays in front; only white space behind it goes.
        let closing = if lines { self.style.line(&outer) } else { String::new() };
        self.splices.push(Splice::replace(found.comments, close, format!("{separator}{added}{closing}")));
    }

    fn part(&self, (key, value): &InsertionPart<'_, '_>, indent: &str, lines: bool) -> String {
        match key {
            Some(key) => self.style.member(key, value, indent, lines),
            None => self.style.value(value, indent, lines),
        }
    }

    /// Whether it is written without white space.
    fn is_tight(&self, there: &Node<'_>) -> bool {
        !there.span.of(self.text).contains([' ', '\t', '\n'])
    }
}
