//! Locations of a hook's values in its file, so that a finding points to the value at fault.

use checkrein_dialects::HookSpec;
use checkrein_dialects::config::{Attribute, FileFormat, HookKey, Location};
use checkrein_document::{Format, LineColumn, LineIndex, Node, Span, Value};

/// Part of a hook's entry in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole entry.
    Entry,
    /// Command, URL or name of the builtin.
    Handler,
    /// Arguments of the handler. Without any, the handler.
    Arguments,
    /// Matcher, which may be in the group of the hook.
    Matcher,
    /// Permission rule.
    Rule,
    /// File with certificates.
    CaFile,
    /// Timeout.
    Timeout,
    /// Name of the hook.
    Id,
}

impl Part {
    fn is_set_by(self, attribute: Attribute) -> bool {
        match self {
            Self::Entry | Self::Matcher => false,
            Self::Handler => matches!(
                attribute,
                Attribute::Command
                    | Attribute::ShellCommand
                    | Attribute::CommandOn(_)
                    | Attribute::CommandFor(_)
                    | Attribute::Url
                    | Attribute::Builtin
            ),
            Self::Rule => attribute == Attribute::Rule,
            Self::CaFile => attribute == Attribute::CaFile,
            Self::Arguments => matches!(attribute, Attribute::Args | Attribute::FunctionArgs),
            Self::Timeout => matches!(attribute, Attribute::Timeout(_) | Attribute::WholeSeconds { .. }),
            Self::Id => attribute == Attribute::Id,
        }
    }

    /// Key in formats without a table of keys.
    fn usual_key(self) -> &'static str {
        match self {
            Self::Entry => "",
            Self::Handler => "command",
            Self::Arguments => "args",
            Self::Matcher => "matcher",
            Self::Rule => "if",
            Self::CaFile => "ca_file",
            Self::Timeout => "timeout",
            Self::Id => "id",
        }
    }
}

/// Returns the location of a part of a hook in the text of its file. `None` if the file is no document, or has changed.
pub(super) fn locate(hook: &HookSpec, part: Part, text: &str) -> Option<Location> {
    with_path(hook, text, |path| {
        let entry = path.last()?;
        let own = |part: Part| keys(hook, part).find_map(|key| entry.get(key)).map(|node| node.span);
        let span = match part {
            Part::Entry => None,
            Part::Matcher => path.iter().rev().find_map(|node| node.get("matcher")).map(|node| node.span),
            Part::Arguments => own(Part::Arguments).or_else(|| own(Part::Handler)),
            part => own(part),
        };
        let span = span.unwrap_or_else(|| first_line(entry.span, text));
        Some(Location::of(&LineIndex::new(text), span))
    })
}

/// Calls a function with the entry of a hook in the text of its file. `None` if the file is no document, or has changed.
pub(super) fn entry_of<T>(hook: &HookSpec, text: &str, read: impl FnOnce(&Node<'_>) -> Option<T>) -> Option<T> {
    with_path(hook, text, |path| read(path.last()?))
}

/// Calls a function with the nodes that lead to the entry of a hook, which is the last.
fn with_path<T>(hook: &HookSpec, text: &str, read: impl FnOnce(&[&Node<'_>]) -> Option<T>) -> Option<T> {
    let source = &hook.info.source;
    let (line, column) = (source.line?, source.column?);
    let format = Format::from_path(std::path::Path::new(source.file.as_deref()?)).unwrap_or(Format::Json);
    let format = if format == Format::Json { Format::Jsonc } else { format };
    let document = checkrein_document::parse(text, format).ok()?;
    let lines = LineIndex::new(text);
    let mut path = Vec::new();
    if !find(&document.root, LineColumn { line, column }, &lines, &mut path) {
        return None;
    }
    read(&path)
}

/// Keys that set a part.
fn keys(hook: &HookSpec, part: Part) -> impl Iterator<Item = &'static str> {
    let known: &'static [HookKey] = match hook.dialect.config.format {
        FileFormat::Layout(layout) => layout.keys,
        _ => &[],
    };
    let own = known.iter().filter(move |key| part.is_set_by(key.says)).map(|key| key.name);
    own.chain(std::iter::once(part.usual_key()))
}

/// Finds the object that starts at a place, with the nodes around it.
fn find<'n, 't>(node: &'n Node<'t>, place: LineColumn, lines: &LineIndex<'_>, path: &mut Vec<&'n Node<'t>>) -> bool {
    path.push(node);
    let is_found = match &node.value {
        Value::Object(_) if lines.place(node.span.start) == place => true,
        Value::Object(members) => members.iter().any(|member| find(&member.value, place, lines, path)),
        Value::Array(items) => items.iter().any(|item| find(item, place, lines, path)),
        _ => false,
    };
    if !is_found {
        path.pop();
    }
    is_found
}

/// The first line of a span.
fn first_line(span: Span, text: &str) -> Span {
    let inside = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let length = inside.find('\n').unwrap_or(inside.len());
    let end = u32::try_from(inside[..length].trim_end().len()).unwrap_or(u32::MAX);
    Span { start: span.start, end: span.start.saturating_add(end) }
}
