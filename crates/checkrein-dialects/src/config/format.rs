//! The format of a dialect's hook files. It selects the functions that decode and encode a file.

use super::{Decoder, Encoded, HookFileLayout};
use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::Node;

/// The format of a dialect's hook files.
#[derive(Debug, Clone, Copy)]
pub enum FileFormat {
    /// There are no hook files, or checkrein cannot read them.
    None,
    /// The layout that Claude Code introduced.
    Layout(&'static HookFileLayout),
    /// Any other format.
    Custom {
        /// Reads the hooks of a file.
        decode: fn(&mut Decoder<'_>, &Node<'_>),
        /// Writes hooks as a file.
        encode: fn(&Dialect, &[&HookSpec]) -> Encoded,
    },
    /// Every file is a hook: a program with the name of its event.
    Programs,
    /// Hooks are code. `install` writes this text, with `"@COMMAND@"` and `"@FAIL_OPEN@"` replaced by JSON: the words of the
    /// command, and `true` if a failure must not block. checkrein reads no hooks from such files.
    Code(&'static str),
}

impl FileFormat {
    /// Reads the hooks of a file.
    pub(super) fn decode(self, decoder: &mut Decoder<'_>, root: &Node<'_>) {
        match self {
            Self::None | Self::Code(_) => {
                let name = decoder.dialect().name;
                decoder.error("no-files", root.span, format!("checkrein cannot read files of `{name}` yet"));
            }
            Self::Layout(layout) => layout.decode(decoder, root),
            Self::Custom { decode, .. } => decode(decoder, root),
            // `Dialect::decode_script` loads a program by its name; its text is not read.
            Self::Programs => {}
        }
    }

    /// Writes hooks as a file. `None`: the format has no file for several hooks.
    pub(super) fn encode(self, dialect: &Dialect, hooks: &[&HookSpec]) -> Option<Encoded> {
        match self {
            Self::None | Self::Programs | Self::Code(_) => None,
            Self::Layout(layout) => Some(layout.encode(dialect, hooks)),
            Self::Custom { encode, .. } => Some(encode(dialect, hooks)),
        }
    }

    /// `true` if checkrein can read hook files of the dialect.
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::None | Self::Code(_))
    }

    /// Returns the text of a file with code that `install` writes.
    pub const fn code(self) -> Option<&'static str> {
        match self {
            Self::Code(text) => Some(text),
            _ => None,
        }
    }

    /// `true` if every file is a hook.
    pub const fn is_programs(self) -> bool {
        matches!(self, Self::Programs)
    }
}

#[cfg(test)]
mod tests {
    use checkrein_core::Scope;
    use checkrein_document::Format;

    use crate::config::DecodeOptions;
    use crate::table::EventRow;
    use crate::{ALL, Dialect, HookSpec};
    use checkrein_core::EventFilter;

    const PATTERNS: [&str; 9] = ["", "*", "Bash", "Edit|Write", "^B", "shell$", "mcp:*", "a(", "Read|Bash"];

    /// One file with every event of the dialect in which a hook has this matcher, in a group and on its own.
    fn file(dialect: &Dialect, pattern: &str) -> String {
        let hook = r#""type": "command", "command": "x""#;
        let event = |row: &EventRow| {
            let (name, group) = (row.name, format!(r#"{{"matcher": "{pattern}", "hooks": [{{{hook}}}]}}"#));
            format!(r#""{name}": [{group}, {{"matcher": "{pattern}", {hook}}}]"#)
        };
        format!(r#"{{"hooks": {{{}}}}}"#, dialect.events.iter().map(event).collect::<Vec<_>>().join(", "))
    }

    fn shown<'h>(hooks: impl Iterator<Item = &'h HookSpec>) -> Vec<String> {
        hooks.map(|spec| format!("{:?} {:?} {:?}", spec.info, spec.matcher, spec.state)).collect()
    }

    #[test]
    fn the_prefilter_drops_no_hook_of_any_layout() {
        let layouts: Vec<_> = ALL.iter().filter(|dialect| dialect.prefilter_layout().is_some()).collect();
        assert!(layouts.len() >= 12, "{layouts:?}");
        for dialect in layouts {
            let own = dialect.tools.iter().map(|tool| tool.name).take(2);
            let tools: Vec<_> = ["Bash", "Edit", "other"].into_iter().chain(own).collect();
            for pattern in PATTERNS.iter().chain(&tools[3..]) {
                let text = file(dialect, pattern);
                let all = dialect.decode("file", Scope::User, &text, Format::Json);
                for (row, tool) in dialect.events.iter().flat_map(|row| tools.iter().map(move |tool| (row, *tool))) {
                    let wanted = EventFilter::new(row.kind.clone(), vec![tool.to_owned()]);
                    let options = DecodeOptions::default().only(wanted.clone());
                    let found = dialect.decode_with("file", Scope::User, &text, Format::Json, &options);
                    let expected = all.hooks.iter().filter(|spec| spec.can_match(&dialect.adapt_filter(&wanted)));
                    assert_eq!(shown(found.hooks.iter()), shown(expected), "{} {wanted:?}\n{text}", dialect.name);
                }
            }
        }
    }
}
