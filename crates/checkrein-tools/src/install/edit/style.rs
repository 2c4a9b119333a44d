//! Layout of a JSON file, so that added text has the same layout.

use checkrein_document::{Node, Value};

/// Layout of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// Indentation of one level.
    pub(super) unit: String,
    pub(super) newline: &'static str,
    /// `true` if the file has several lines, or is empty.
    pub(super) lines: bool,
}

impl Style {
    /// Detects the layout of a text with this root.
    pub(super) fn detect(text: &str, root: &Node<'_>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let starts = children(root).next();
        let unit = starts.and_then(|at| indent_if_first(text, at)).filter(|unit| !unit.is_empty());
        let inside = root.span.slice(text);
        let is_empty = starts.is_none();
        Self { unit: unit.unwrap_or("  ").to_owned(), newline, lines: is_empty || inside.contains('\n') }
    }

    /// Line break with this indentation.
    pub(super) fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.newline)
    }

    /// Text of a value. The caller has indented its first line.
    pub(super) fn value(&self, node: &Node<'_>, indent: &str, lines: bool) -> String {
        let mut out = String::new();
        self.write(&mut out, node, indent, lines);
        out
    }

    /// Text of a key and its value.
    pub(super) fn member(&self, key: &str, value: &Node<'_>, indent: &str, lines: bool) -> String {
        let mut out = format!("{}: ", checkrein_core::RawJson::string(key));
        self.write(&mut out, value, indent, lines);
        out
    }

    fn write(&self, out: &mut String, node: &Node<'_>, indent: &str, lines: bool) {
        let (open, close) = match &node.value {
            Value::Array(items) if !items.is_empty() => ('[', ']'),
            Value::Object(members) if !members.is_empty() => ('{', '}'),
            _ => return out.push_str(&node.to_json()),
        };
        let inner = format!("{indent}{}", self.unit);
        let parts: Vec<String> = match &node.value {
            Value::Array(items) => items.iter().map(|item| self.value(item, &inner, lines)).collect(),
            Value::Object(members) => {
                members.iter().map(|member| self.member(&member.key, &member.value, &inner, lines)).collect()
            }
            _ => Vec::new(),
        };
        out.push(open);
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match lines {
                true => out.push_str(&self.line(&inner)),
                false if at > 0 => out.push(' '),
                false => {}
            }
            out.push_str(part);
        }
        if lines {
            out.push_str(&self.line(indent));
        }
        out.push(close);
    }
}

/// Start offsets of the items of an array or the members of an object.
pub(super) fn children<'n>(node: &'n Node<'_>) -> Box<dyn Iterator<Item = usize> + 'n> {
    match &node.value {
        Value::Array(items) => Box::new(items.iter().map(|item| item.span.start as usize)),
        Value::Object(members) => Box::new(members.iter().map(|member| member.key_span.start as usize)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Indentation of the line with this offset.
pub(super) fn indent_of_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.get(start..).unwrap_or_default().trim_start_matches('\u{feff}');
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// Indentation of the line, if only white space is before this offset.
pub(super) fn indent_if_first(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(line)
}
