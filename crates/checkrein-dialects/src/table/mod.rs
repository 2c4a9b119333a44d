//! What a dialect is: one value, whose columns are facts.

mod event;
mod handler;
mod host;
mod process;

use std::fmt;
use std::time::Duration;

use checkrein_core::{
    BlockEffect, Contract, DialectRef, Event, EventKind, FailureKind, FailurePolicy, FailureTable, Grammar, RawJson,
    Rules,
};

use crate::config::ConfigTable;
use crate::input::InputRow;
use crate::install::InstallTable;
use crate::payload::PayloadTable;
use crate::reply::ReplyTable;

pub use self::event::{EventRow, PlainTextUse};
pub use self::handler::{HttpTable, TimeTable};
pub use self::host::{ExitReason, HostBehavior, HostTable};
pub use self::process::{Cwd, Data, Environment, ProcessTable, Shell, VariableRow};

/// The hook language of one agent.
///
/// A dialect plays three parts, which need not be the same one: the hook's (how its file is read, what it is given, how
/// its reply is read), the host's (how the event came in and how the verdict is said back), and the rules (how opinions
/// settle).
#[derive(Clone)]
pub struct Dialect {
    /// What it is called: `claude`, or `docker-agent@g2` for one of its generations.
    pub name: &'static str,
    /// Its events, in its own order.
    pub events: &'static [EventRow],
    /// Whether it has all of checkrein's events, with all that hooks may do there; its rows are then only names.
    pub has_all_events: bool,
    /// The tools that its agent is known to have. Empty: nobody knows.
    pub tools: &'static [ToolRow],
    /// How matchers are written.
    pub matcher: Grammar,
    /// What hooks are given.
    pub payload: PayloadTable,
    /// How replies are read.
    pub reply: ReplyTable,
    /// How processes run.
    pub process: ProcessTable,
    /// How HTTP endpoints are called.
    pub http: HttpTable,
    /// How long hooks may take.
    pub time: TimeTable,
    /// How opinions settle, and what is done about failures.
    pub rules: Rules,
    /// Whether hooks must declare that they rewrite.
    pub declares_rewrites: bool,
    /// How often a stop may be answered with "go on" before it stands. 0: as often as hooks like.
    pub stop_cap: u32,
    /// Its files.
    pub config: ConfigTable,
    /// What its agent does with a program that it calls as a hook.
    pub host: HostTable,
    /// How its agent is told to call one. `None`: by hand.
    pub install: Option<InstallTable>,
    /// Fields that only payloads of another generation of it have, and that generation.
    pub other_generations: &'static [(&'static str, &'static Dialect)],
}

// Only the name: tables refer to each other in cycles.
impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialect").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolRow {
    /// What the agent calls it.
    pub name: &'static str,
    /// What it is called in the vocabulary that all dialects share, which is Claude Code's: `Bash`, `Write`, `Edit`,
    /// `Read`, `Grep`, `Glob`, `Agent`, `WebFetch`, … Hooks that fit one of these fit the tool. Empty: it is not in it,
    /// or has the same name there.
    pub common: &'static [&'static str],
    /// The fields of its input that the agent has other names for than Claude Code, or other forms.
    pub inputs: &'static [InputRow],
}

impl ToolRow {
    /// A tool that is called the same everywhere, or that nobody else has.
    pub const fn same(name: &'static str) -> Self {
        Self { name, common: &[], inputs: &[] }
    }

    /// A tool that the agent has another name for.
    pub const fn new(name: &'static str, common: &'static [&'static str]) -> Self {
        Self { name, common, inputs: &[] }
    }

    /// With these fields of its input called otherwise.
    #[must_use]
    pub const fn takes(mut self, inputs: &'static [InputRow]) -> Self {
        self.inputs = inputs;
        self
    }
}

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Provenance {
    /// The agent was seen doing it.
    Observed,
    /// Its source or its maker's documentation says so.
    #[default]
    Documented,
    /// Others say so, or sources differ.
    Uncertain,
}

impl Provenance {
    /// In a word.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Documented => "documented",
            Self::Uncertain => "uncertain",
        }
    }
}

impl Dialect {
    /// The agent that it is a language of: the same for all its generations.
    pub fn agent(&self) -> &'static str {
        self.name.split('@').next().unwrap_or(self.name)
    }

    /// The dialect's first event of this kind.
    pub fn row(&self, kind: &EventKind) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.kind == *kind)
    }

    /// Whether matchers count at events of this kind.
    pub fn is_matched(&self, kind: &EventKind) -> bool {
        self.column(kind, |row| row.matched, |contract| contract.matched_on.is_some())
    }

    /// How matchers are written at events of this kind.
    pub fn grammar(&self, kind: &EventKind) -> &Grammar {
        self.row(kind).and_then(|row| row.grammar.as_ref()).unwrap_or(&self.matcher)
    }

    /// What matchers of this dialect's hooks are compared with at an event. `None`: nobody knows.
    pub fn subject(&self, event: &Event) -> Option<String> {
        let row = self.row(&event.kind());
        if let Some(always) = row.and_then(|row| row.fixed_subject) {
            return Some(always.to_owned());
        }
        let subject = match row.and_then(|row| row.subject_field) {
            Some(path) => crate::payload::text_at(event, path),
            None => event.subject().map(std::borrow::Cow::into_owned),
        };
        match row.and_then(|row| row.normalize_subject) {
            Some(normal) => subject.and_then(|subject| normal(&subject)),
            None => subject,
        }
    }

    /// What a tool is called in the vocabulary that all dialects share, besides its name.
    pub fn common_names(&self, tool: &str) -> &'static [&'static str] {
        self.tool(tool).map_or(&[], |row| row.common)
    }

    /// The event with its tool and the tool's input taken for words of this dialect: the tool is called by the names that all
    /// share as well, and hooks of other dialects read its input in their own words.
    ///
    /// Where the agent has no event for all tools, hooks for all tools run as well.
    #[must_use]
    pub fn with_common_names(&'static self, event: Event) -> Event {
        let lacks_general = self.lacks_general(&event.kind());
        let event = event.with_parent_hooks(lacks_general);
        match event.tool_name().and_then(|tool| self.tool(tool)) {
            Some(tool) if !(tool.common.is_empty() && tool.inputs.is_empty()) => {
                event.with_tool_aliases(tool.common).with_dialect(DialectRef::new(self.name, self))
            }
            _ => event,
        }
    }

    /// The generation that a payload is of, if it is another one.
    pub fn generation_of(&self, payload: &RawJson) -> Option<&'static Self> {
        let mut generations = self.other_generations.iter();
        generations.find(|(field, _)| payload.field(field).is_some()).map(|(_, dialect)| *dialect)
    }

    /// Whether the agent has events of this kind, which is for some tools, and none for all of them.
    pub fn lacks_general(&self, kind: &EventKind) -> bool {
        let lacks =
            |general: &EventKind| !self.has_all_events && self.row(kind).is_some() && self.row(general).is_none();
        kind.parent_kind().as_ref().is_some_and(lacks)
    }

    /// Whether payloads of this kind of event say which event they are. If not, somebody else must say it.
    pub fn names_event(&self, kind: &EventKind) -> bool {
        !self.payload.event.is_empty() || self.row(kind).is_some_and(|row| row.event_field.is_some())
    }

    /// Whether a hook can stop something at events of this kind.
    pub fn blocks(&self, kind: &EventKind) -> bool {
        self.column(kind, |row| row.blocks, |contract| contract.block != BlockEffect::Ignored)
    }

    /// Whether something waits for leave of this dialect's hooks there.
    pub fn is_gate(&self, kind: &EventKind) -> bool {
        kind.contract().is_gate() && self.blocks(kind)
    }

    /// What text that is no answer is taken for.
    pub fn plain(&self, kind: &EventKind) -> PlainTextUse {
        let text =
            |contract: &Contract| if contract.plain_text { PlainTextUse::Context } else { PlainTextUse::Nothing };
        self.column(kind, |row| row.plain, text)
    }

    fn column<T: Default>(&self, kind: &EventKind, of_row: impl Fn(&EventRow) -> T, own: impl Fn(&Contract) -> T) -> T {
        if self.has_all_events { own(kind.contract()) } else { self.row(kind).map(of_row).unwrap_or_default() }
    }

    /// How long a hook may take at events of this kind if it does not say.
    pub fn timeout(&self, kind: &EventKind, handler: &str) -> Duration {
        let class = kind.contract().time;
        let of_class = || self.time.classes.iter().find(|(of, _)| *of == class).map(|(_, time)| *time);
        let of_handler = || self.time.handlers.iter().find(|(of, _)| *of == handler).map(|(_, time)| *time);
        of_handler().or_else(|| self.row(kind)?.timeout).or_else(of_class).unwrap_or(self.time.usual)
    }

    /// What is done about a failure of one of its hooks at events of this kind.
    pub fn failure_effect(&self, kind: &EventKind, failure: FailureKind) -> FailurePolicy {
        let row = self.row(kind);
        let of_row = || row?.failure_policy.or(row?.on_timeout.filter(|_| failure == FailureKind::Timeout));
        if let Some(effect) = of_row() {
            effect
        } else if kind.contract().is_gate() && !self.is_gate(kind) {
            // Its agent would never have heard it.
            FailurePolicy::Open
        } else {
            self.rules.failures.effect(failure, kind.contract())
        }
    }

    /// How opinions settle at events of this kind.
    pub fn rules_at(&self, kind: &EventKind) -> Rules {
        let mut rules = self.rules;
        if let Some(row) = self.row(kind) {
            rules.order = row.order.unwrap_or(rules.order);
            rules.chain_end = row.chain_end.unwrap_or(rules.chain_end);
            rules.settle = row.settle.unwrap_or(rules.settle);
            rules.failures = row.failure_policy.map_or(rules.failures, FailureTable::every);
        }
        rules
    }
}
