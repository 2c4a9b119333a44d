//! Hook protocols of AI agents as tables, one file per agent.
//!
//! A [`Dialect`] is a table of facts: event names, payloads, answers, hook files, and the agent's behaviour when hooks fail. Two
//! agents whose hooks are code have only event names. Names are in the agents' own spelling.
//!
//! ```
//! use checkrein_core::EventKind;
//!
//! let gemini = checkrein_dialects::find("gemini").unwrap();
//! assert_eq!(gemini.kind_of("BeforeTool")?, &EventKind::PreToolUse);
//! assert_eq!(gemini.name_of(&EventKind::PreCompact), Some("PreCompress"));
//!
//! let error = gemini.kind_of("PreToolUse").unwrap_err();
//! assert_eq!(error.to_string(), "gemini has no event `PreToolUse`; use `BeforeTool`");
//! # Ok::<(), checkrein_dialects::UnknownEvent>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

use std::fmt;

use checkrein_core::{EventKind, closest_match};

pub mod agents;
pub mod config;
mod defaults;
pub mod input;
mod install;
mod json_index;
pub mod packs;
pub mod payload;
mod render;
pub mod reply;
mod spec;
mod table;
#[doc(hidden)]
pub mod testing;

pub use agents::{ALL, find};
pub use input::{InputForm, InputRow, McpNames, canonical_input, is_common_tool, own_fields, patch_field};
pub use install::{FolderTrust, InstallTable, OffValue, ProjectTrust, SettingsPath, SwitchRow, TrustTable};
pub use render::{Answer, AnswerExtras};
pub use spec::{
    BadRule, BuiltinSpec, Callback, CallbackFuture, CommandError, CommandLine, CommandSpec, FileAccess, HandlerKind,
    HandlerSpec, HookSpec, HttpSpec, InputPattern, PermissionRule, RuleDecision, RuleSpec, RuleTest, SandboxSpec,
    VerifiedScript, VerifiedScripts, VerifiedWord, Warm,
};
pub use table::{
    ApprovalTable, BorrowedFiles, Cwd, Data, Dialect, Environment, EventRow, Evidence, ExitReason, FactGroup,
    FactSources, HeadlessSign, HostBehavior, HostTable, HttpTable, PlainTextUse, ProcessTable, Provenance, RelativeTo,
    Shell, TimeTable, ToolRow, VariableRow,
};

impl Dialect {
    /// Returns the kind of event with this name. The spelling must be exact, as in the agents.
    ///
    /// # Errors
    /// A name that the dialect does not have, with a suggestion.
    pub fn kind_of(&self, name: &str) -> Result<&'static EventKind, UnknownEvent> {
        match self.events.iter().find(|event| event.name == name) {
            Some(event) => Ok(&event.kind),
            None => Err(self.unknown(name)),
        }
    }

    /// Returns the dialect's name for a kind: the first, if it has several.
    pub fn name_of(&self, kind: &EventKind) -> Option<&'static str> {
        self.events.iter().find(|event| event.kind == *kind).map(|event| event.name)
    }

    fn unknown(&self, name: &str) -> UnknownEvent {
        let elsewhere = || {
            let other = ALL.iter().flat_map(|dialect| dialect.events).find(|event| event.name == name)?;
            self.name_of(&other.kind).map(Suggestion::OtherName)
        };
        let close = || closest_match(name, self.events.iter().map(|event| event.name)).map(Suggestion::Close);
        UnknownEvent { dialect: self.name, name: name.to_owned(), suggestion: close().or_else(elsewhere) }
    }
}

/// A name that is not an event of a dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEvent {
    dialect: &'static str,
    name: String,
    suggestion: Option<Suggestion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suggestion {
    /// Correct spelling of a misspelt name.
    Close(&'static str),
    /// The dialect's name for an event with this name in another dialect.
    OtherName(&'static str),
}

impl UnknownEvent {
    /// Returns the name that was probably intended.
    pub fn suggestion(&self) -> Option<&'static str> {
        self.suggestion.map(|suggestion| match suggestion {
            Suggestion::Close(name) | Suggestion::OtherName(name) => name,
        })
    }
}

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dialect {
            "native" => write!(f, "unknown event `{}`", self.name)?,
            dialect => write!(f, "{dialect} has no event `{}`", self.name)?,
        }
        match self.suggestion {
            None => write!(f, "; `checkrein events --as {}` lists all events", self.dialect),
            Some(Suggestion::Close(name)) => write!(f, ", did you mean `{name}`?"),
            Some(Suggestion::OtherName(name)) => write!(f, "; use `{name}`"),
        }
    }
}

impl std::error::Error for UnknownEvent {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn event_names_are_distinct_and_round_trip() {
        let mut dialects = BTreeSet::new();
        for dialect in ALL {
            assert!(dialects.insert(dialect.name));
            let names: BTreeSet<_> = dialect.events.iter().map(|event| event.name).collect();
            assert_eq!(names.len(), dialect.events.len(), "{}: a name twice", dialect.name);
            for event in dialect.events {
                assert_eq!(dialect.kind_of(event.name).unwrap(), &event.kind);
                assert_eq!(dialect.kind_of(dialect.name_of(&event.kind).unwrap()).unwrap(), &event.kind);
                assert!(!matches!(event.kind, EventKind::Custom(_)));
            }
        }
    }

    #[test]
    fn tables_have_all_events() {
        for (dialect, events) in [
            ("claw", 11),
            ("docker-agent", 28),
            ("docker-agent@g2", 12),
            ("evva", 6),
            ("claude", 33),
            ("ub", 4),
            ("gemini", 11),
            ("vscode", 8),
            ("letta", 11),
        ] {
            assert_eq!(find(dialect).unwrap().events.len(), events, "{dialect}");
        }
    }

    /// An entry in a file that the agent does not read has no effect.
    #[test]
    fn installed_entries_are_in_files_that_agents_read() {
        use checkrein_core::Scope;
        let has_files = |dialect: &&&Dialect| dialect.config.format.code().is_none();
        for dialect in ALL.iter().filter(|dialect| dialect.install.is_some()).filter(has_files) {
            let table = dialect.install.unwrap();
            let entry_dialect = table.through.unwrap_or(dialect);
            for (scope, spots) in [(Scope::User, table.user), (Scope::Project, table.project)] {
                assert!(!spots.is_empty(), "{}", dialect.name);
                for spot in spots {
                    let reads = |row: &&config::FileRow| {
                        let (before, after) = row.path.split_once('*').unwrap_or((row.path, ""));
                        let fits = match row.path.contains('*') {
                            true if entry_dialect.config.format.is_programs() => before == format!("{}/", spot.path),
                            true => spot.path.starts_with(before) && spot.path.ends_with(after),
                            false => row.path == spot.path,
                        };
                        row.scope == scope && row.base == spot.base && fits
                    };
                    assert!(entry_dialect.config.files.iter().any(|row| reads(&row)), "{}: {spot:?}", dialect.name);
                }
            }
            assert!(entry_dialect.config.format.is_known(), "{}", dialect.name);
        }
    }

    #[test]
    fn every_kind_is_an_event_of_an_agent() {
        // Kinds of an agent whose name for them is not known yet.
        let nameless = [EventKind::SessionHeartbeat];
        for kind in EventKind::ALL.iter().filter(|kind| !nameless.contains(kind)) {
            assert!(ALL.iter().any(|dialect| dialect.name_of(kind).is_some()), "no agent has {kind}");
        }
    }

    #[test]
    fn unknown_event_names_have_a_suggestion() {
        let claude = find("claude").unwrap();
        for (name, message) in [
            ("PreToolUsee", "claude has no event `PreToolUsee`, did you mean `PreToolUse`?"),
            ("preToolUse", "claude has no event `preToolUse`, did you mean `PreToolUse`?"),
            ("BeforeAgent", "claude has no event `BeforeAgent`; use `UserPromptSubmit`"),
            ("zebra", "claude has no event `zebra`; `checkrein events --as claude` lists all events"),
        ] {
            assert_eq!(claude.kind_of(name).unwrap_err().to_string(), message);
        }
    }
}
