//! The [`Dialect`] table and its columns.
//!
//! Agents define their tables in [`agents`](crate::agents). A table contains facts about an agent, and no behaviour of checkrein.

mod borrowed;
mod event;
mod evidence;
mod handler;
mod host;
mod process;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use checkrein_core::{
    BlockEffect, Contract, DialectRef, Event, EventKind, FailureKind, FailurePolicy, FailureTable, Grammar, RawJson,
    Rules,
};

use crate::config::ConfigTable;
use crate::input::{InputRow, McpNames};
use crate::install::InstallTable;
use crate::payload::PayloadTable;
use crate::reply::ReplyTable;

pub use self::borrowed::BorrowedFiles;
pub use self::event::{EventRow, PlainTextUse};
pub use self::evidence::{Evidence, FactGroup, FactSources, Provenance};
pub use self::handler::{HttpTable, TimeTable};
pub use self::host::{ApprovalTable, ExitReason, HeadlessSign, HostBehavior, HostTable};
pub use self::process::{Cwd, Data, Environment, ProcessTable, RelativeTo, Shell, VariableRow};

/// The hook protocol of one agent.
///
/// A dialect has three roles, and one event can involve a different dialect for each. The dialect of a hook defines its file, its
/// payload and its reply. The dialect of the host defines the incoming payload and the answer. The dialect of the rules defines
/// how opinions settle.
#[derive(Clone)]
pub struct Dialect {
    /// Name: `claude`, or `docker-agent@g2` for a generation of an agent.
    pub name: &'static str,
    /// Name of the agent in messages: `Claude Code`. Empty: the same as `name`.
    pub title: &'static str,
    /// Events.
    pub events: &'static [EventRow],
    /// `true` if it has all of checkrein's events with their full contracts. The rows are then only names.
    pub has_all_events: bool,
    /// Known tools of its agent. Empty: not known.
    pub tools: &'static [ToolRow],
    /// Names of the tools of MCP servers.
    pub mcp: McpNames,
    /// Grammar of matchers.
    pub matcher: Grammar,
    /// Payloads.
    pub payload: PayloadTable,
    /// Reading of replies, and rendering of verdicts.
    pub reply: ReplyTable,
    /// Rules for processes.
    pub process: ProcessTable,
    /// Rules for HTTP endpoints.
    pub http: HttpTable,
    /// Timeouts.
    pub time: TimeTable,
    /// Rules for settling opinions and failures.
    pub rules: Rules,
    /// `true` if hooks must declare that they rewrite.
    pub declares_rewrites: bool,
    /// Number of times that hooks may prevent a stop. 0: no limit.
    pub stop_cap: u32,
    /// Hook files.
    pub config: ConfigTable,
    /// Behaviour of its agent towards a hook program.
    pub host: HostTable,
    /// Settings that make its agent call a hook program. `None`: users add them by hand.
    pub install: Option<InstallTable>,
    /// Files of other agents that its agent also reads. `None`: none, or it cannot be recognized.
    pub borrows: Option<BorrowedFiles>,
    /// Sources of the facts in this table.
    pub evidence: &'static [Evidence],
    /// Sources of the facts besides events. `None`: the first source.
    pub facts: Option<FactSources>,
    /// Fields that only payloads of another generation have, and that generation.
    pub other_generations: &'static [(&'static str, &'static Dialect)],
}

// Shows only the name, because tables refer to each other in cycles.
impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialect").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A tool of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolRow {
    /// The agent's name.
    pub name: &'static str,
    /// Canonical names, which are Claude Code's: `Bash`, `Write`, `Edit`, `Read`, `Grep`, `Glob`, `Agent`, `WebFetch`, … A matcher
    /// for one of them matches the tool. Empty: there is none, or the agent's name is the canonical one.
    pub common: &'static [&'static str],
    /// Names besides its own that its agent itself compares matchers with.
    pub aliases: &'static [&'static str],
    /// Fields of its input with other names or forms than in Claude Code.
    pub inputs: &'static [InputRow],
    /// Field of its input with a list of shell commands, if its agent shows no reason of a denial. A denied call becomes a call
    /// with a command that prints the reason and fails.
    pub speaks: Option<&'static str>,
    /// `true` if a call of the tool was observed. Otherwise its source is that of the dialect's tools.
    pub is_observed: bool,
}

impl ToolRow {
    /// A tool with its canonical name, or without one.
    pub const fn same(name: &'static str) -> Self {
        Self::new(name, &[])
    }

    /// A tool with another name in the agent.
    pub const fn new(name: &'static str, common: &'static [&'static str]) -> Self {
        Self { name, common, aliases: &[], inputs: &[], speaks: None, is_observed: false }
    }

    /// Marks the name and the input as observed with the agent.
    #[must_use]
    pub const fn observed(mut self) -> Self {
        self.is_observed = true;
        self
    }

    /// Sets the names besides its own that its agent compares matchers with.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Lists the names that its agent compares matchers with.
    pub fn matched_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Sets the fields of its input with other names or forms.
    #[must_use]
    pub const fn takes(mut self, inputs: &'static [InputRow]) -> Self {
        self.inputs = inputs;
        self
    }

    /// Sets the field for a command that prints the reason of a denial.
    #[must_use]
    pub const fn speaks(mut self, field: &'static str) -> Self {
        self.speaks = Some(field);
        self
    }
}

impl Dialect {
    /// Returns the name of the agent, which all its generations share.
    pub fn agent(&self) -> &'static str {
        self.name.split('@').next().unwrap_or(self.name)
    }

    /// Returns the name of the agent in messages.
    pub fn title(&self) -> &'static str {
        if self.title.is_empty() { self.agent() } else { self.title }
    }

    /// Returns the first event of this kind.
    pub fn row(&self, kind: &EventKind) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.kind == *kind)
    }

    /// `true` if matchers apply at events of this kind.
    pub fn is_matched(&self, kind: &EventKind) -> bool {
        self.column(kind, |row| row.matched, |contract| contract.matched_on.is_some())
    }

    /// Returns the grammar of matchers at events of this kind.
    pub fn grammar(&self, kind: &EventKind) -> &Grammar {
        self.row(kind).and_then(|row| row.grammar.as_ref()).unwrap_or(&self.matcher)
    }

    /// Returns the text that matchers of this dialect's hooks are compared with at an event. `None`: not known.
    pub fn subject(&self, event: &Event) -> Option<String> {
        let row = self.row(&event.kind());
        if let Some(subject) = row.and_then(|row| row.fixed_subject) {
            return Some(subject.to_owned());
        }
        let subject = match row.and_then(|row| row.subject_field) {
            Some(path) => crate::payload::text_at(event, path),
            None => event.subject().map(Cow::into_owned),
        };
        match row.and_then(|row| row.normalize_subject) {
            Some(normal) => subject.and_then(|subject| normal(&subject)),
            None => subject,
        }
    }

    /// Returns the canonical names of a tool, besides its own name.
    pub fn common_names(&self, tool: &str) -> &'static [&'static str] {
        self.tool(tool).map_or(&[], |row| row.common)
    }

    /// Adds the canonical names of the tool to an event of this dialect. Hooks of other dialects then get the tool input with their
    /// own field names.
    ///
    /// If the agent has no event for all tools, hooks for all tools run at its events for some tools.
    #[must_use]
    pub fn with_common_names(&'static self, event: Event) -> Event {
        let lacks_general = self.lacks_general(&event.kind());
        let event = event.with_parent_hooks(lacks_general);
        let Some(name) = event.tool_name() else { return event };
        let own = DialectRef::new(self.name, self);
        match self.tool(name) {
            Some(tool) if tool.common.is_empty() && tool.inputs.is_empty() => event,
            Some(tool) => {
                let common = tool.common_for(event.tool_input());
                event.with_tool_aliases(common).with_dialect(own)
            }
            None => {
                let aliases = self.mcp_aliases(name, |path| crate::payload::text_at(&event, path).map(Cow::Owned));
                if aliases.is_empty() { event } else { event.with_computed_aliases(aliases).with_dialect(own) }
            }
        }
    }

    /// Returns the generation of a payload, if it is another one.
    pub fn generation_of(&self, payload: &RawJson) -> Option<&'static Self> {
        let mut generations = self.other_generations.iter();
        generations.find(|(field, _)| payload.field(field).is_some()).map(|(_, dialect)| *dialect)
    }

    /// `true` if the agent has events of this kind, which is for some tools, and no event for all tools.
    pub fn lacks_general(&self, kind: &EventKind) -> bool {
        let lacks =
            |general: &EventKind| !self.has_all_events && self.row(kind).is_some() && self.row(general).is_none();
        kind.parent_kind().as_ref().is_some_and(lacks)
    }

    /// `true` if payloads of this kind contain the name of the event. Otherwise the caller must know it.
    pub fn names_event(&self, kind: &EventKind) -> bool {
        !self.payload.event.is_empty() || self.row(kind).is_some_and(|row| row.event_field.is_some())
    }

    /// `true` if a hook can block events of this kind.
    pub fn blocks(&self, kind: &EventKind) -> bool {
        self.column(kind, |row| row.blocks, |contract| contract.block != BlockEffect::Ignored)
    }

    /// `true` if events of this kind are gates for this dialect's hooks: the agent waits for their permission.
    pub fn is_gate(&self, kind: &EventKind) -> bool {
        kind.contract().is_gate() && self.blocks(kind)
    }

    /// Returns the use of plain text that is not an answer.
    pub fn plain(&self, kind: &EventKind) -> PlainTextUse {
        let text =
            |contract: &Contract| if contract.plain_text { PlainTextUse::Context } else { PlainTextUse::Nothing };
        self.column(kind, |row| row.plain, text)
    }

    fn column<T: Default>(&self, kind: &EventKind, of_row: impl Fn(&EventRow) -> T, own: impl Fn(&Contract) -> T) -> T {
        if self.has_all_events { own(kind.contract()) } else { self.row(kind).map(of_row).unwrap_or_default() }
    }

    /// Returns the default timeout of a hook at events of this kind.
    pub fn timeout(&self, kind: &EventKind, handler: &str) -> Duration {
        let class = kind.contract().time;
        let of_class = || self.time.classes.iter().find(|(own, _)| *own == class).map(|(_, time)| *time);
        let of_handler = || self.time.handlers.iter().find(|(own, _)| *own == handler).map(|(_, time)| *time);
        of_handler().or_else(|| self.row(kind)?.timeout).or_else(of_class).unwrap_or(self.time.usual)
    }

    /// Returns the policy for a failure of one of its hooks at events of this kind.
    pub fn failure_effect(&self, kind: &EventKind, failure: FailureKind) -> FailurePolicy {
        let row = self.row(kind);
        let of_row = || row?.failure_policy.or(row?.on_timeout.filter(|_| failure == FailureKind::Timeout));
        if let Some(effect) = of_row() {
            effect
        } else if kind.contract().is_gate() && !self.is_gate(kind) {
            // The agent ignores hooks at this event.
            FailurePolicy::Open
        } else {
            self.rules.failures.effect(failure, kind.contract())
        }
    }

    /// Returns the rules for settling opinions at events of this kind.
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
