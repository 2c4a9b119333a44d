//! Locations of a hook's values in its file, so that a finding points to the value at fault.

use checkrein_dialects::HookSpec;
use checkrein_dialects::config::{Attribute, FileFormat, HookKey, Location};
use checkrein_document::{LineIndex, Span};

use super::files::File;

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

/// Returns the location of a part of a hook in its file. `None` if the file is no document, or has changed.
pub(super) fn locate(hook: &HookSpec, part: Part, file: &File) -> Option<Location> {
    let entry = file.entry(hook)?;
    let own = |part: Part| keys(hook, part).find_map(|key| entry.get(key)).map(|value| value.span);
    let span = match part {
        Part::Entry => None,
        Part::Matcher => entry.matcher,
        Part::Arguments => own(Part::Arguments).or_else(|| own(Part::Handler)),
        part => own(part),
    };
    Some(match span {
        Some(span) => Location::of(&LineIndex::new(&file.text), span),
        None => entry.first.clone(),
    })
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

/// The first line of a span.
pub(super) fn first_line(span: Span, text: &str) -> Span {
    let inside = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let length = inside.find('\n').unwrap_or(inside.len());
    let end = u32::try_from(inside[..length].trim_end().len()).unwrap_or(u32::MAX);
    Span { start: span.start, end: span.start.saturating_add(end) }
}
