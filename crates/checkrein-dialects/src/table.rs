//! What a dialect is: one value, whose columns are facts.

use std::time::Duration;

use checkrein_core::{
    Block, ChainEnd, Contract, Effect, Event, EventKind, FailureKind, FailureTable, Grammar, RawJson, Rules, RunOrder,
    Settle, TimeClass,
};

use crate::config::ConfigTable;
use crate::input::InputRow;
use crate::install::InstallTable;
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::ReplyTable;

/// The hook language of one agent.
///
/// A dialect plays three parts, which need not be the same one: the hook's (how its file is read, what it is given, how
/// its reply is read), the host's (how the event came in and how the verdict is said back), and the rules (how opinions
/// settle).
#[derive(Debug, Clone)]
#[non_exhaustive]
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
    /// Fields that only payloads of another generation of it have, and the name of that.
    pub kin: &'static [(&'static str, &'static str)],
}

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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

/// What an agent does with a program that it calls as a hook, for who puts one in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostTable {
    /// What is written beside a hook in its file so that its failures block: a key and its value as JSON. `None`: there is
    /// no such thing.
    pub failure_switch: Option<(&'static str, &'static str)>,
    /// What it does with a tool call if the program is not there.
    pub missing_program: Outcome,
    /// What it does with a tool call if the program is killed.
    pub killed: Outcome,
    /// What it does with a tool call if the program takes too long.
    pub late: Outcome,
    /// How its denial by exit code reads for the model.
    pub exit_reason: ExitReason,
    /// What hooks never hear of, in words.
    pub unseen: &'static [&'static str],
    /// What is not certain of it besides what its events say, in words.
    pub uncertain: &'static [&'static str],
}

/// What an agent does with a tool call when its hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The tool runs.
    Runs,
    /// It does not.
    Blocked,
    /// Nobody knows.
    Unknown,
}

/// How the reason of a denial by exit code reads for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// As it is.
    Plain,
    /// With the hook's whole command line in front.
    WithCommandLine,
    /// It is lost.
    Lost,
    /// Nobody knows.
    Unknown,
}

impl HostTable {
    /// An agent of which none of this is known.
    pub const UNKNOWN: Self = Self {
        failure_switch: None,
        missing_program: Outcome::Unknown,
        killed: Outcome::Unknown,
        late: Outcome::Unknown,
        exit_reason: ExitReason::Unknown,
        unseen: &[],
        uncertain: &[],
    };
}

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Known {
    /// The agent was seen doing it.
    Observed,
    /// Its source or its maker's documentation says so.
    #[default]
    Documented,
    /// Others say so, or sources differ.
    Uncertain,
}

impl Known {
    /// In a word.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Documented => "documented",
            Self::Uncertain => "uncertain",
        }
    }
}

/// What a dialect calls an event, and what its hooks may do there. Several names may stand for one kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EventRow {
    /// The dialect's name.
    pub name: &'static str,
    /// The kind that it stands for.
    pub kind: EventKind,
    /// Whether matchers count here. If not, every hook of the event fits.
    pub matched: bool,
    /// What makes the subject into what matchers are compared with, if that is not the subject itself. `None` of it: nobody
    /// knows, and every hook fits.
    pub normal_subject: Option<fn(&str) -> Option<String>>,
    /// The field that matchers are compared with, under checkrein's name, if it is not the kind's; dots lead into objects.
    pub compares: Option<&'static str>,
    /// How matchers are written here, if it is not as everywhere.
    pub grammar: Option<Grammar>,
    /// What matchers are compared with, if it is always the same.
    pub always: Option<&'static str>,
    /// Whether a hook can stop something here.
    pub blocks: bool,
    /// What text that is no answer is taken for.
    pub plain: Plain,
    /// What the payload has here besides what all have.
    pub fields: &'static [FieldRow],
    /// What the payload has here instead of what all have.
    pub instead: Option<&'static [FieldRow]>,
    /// The field that names the event in its payload, and the name there, if it is not as everywhere.
    pub named: Option<(&'static str, &'static str)>,
    /// How long hooks may take here, if it is not the usual time.
    pub timeout: Option<Duration>,
    /// The most that a hook may ask for here, if it is not as everywhere.
    pub timeout_cap: Option<Duration>,
    /// What is done about a hook that takes too long here, if it is not as everywhere.
    pub on_timeout: Option<Effect>,
    /// How hooks run here, if it is not as everywhere.
    pub order: Option<RunOrder>,
    /// What ends the chain here, if it is not as everywhere.
    pub chain_end: Option<ChainEnd>,
    /// Which decision wins here, if it is not as everywhere.
    pub settle: Option<Settle>,
    /// What is done about every failure here, whatever the dialect's table and the hook itself say.
    pub fails: Option<Effect>,
    /// Whether hooks run in the background here, whatever they say.
    pub detached: bool,
    /// Whether a program should be called here only if somebody asks for it: it comes very often, has whole conversations
    /// with it, or not every version knows its name.
    pub on_request: bool,
    /// Where all this comes from.
    pub known: Known,
}

/// What text that is no answer is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Plain {
    /// Nothing.
    #[default]
    Nothing,
    /// Context for the model.
    Context,
    /// A message for the user.
    Message,
    /// What the hook made: the last line that has something in it.
    LastLine,
    /// A failure.
    Failure,
}

impl EventRow {
    /// An event at which hooks can only watch.
    pub const fn new(name: &'static str, kind: EventKind) -> Self {
        Self {
            name,
            kind,
            matched: false,
            normal_subject: None,
            compares: None,
            grammar: None,
            always: None,
            blocks: false,
            plain: Plain::Nothing,
            fields: &[],
            instead: None,
            named: None,
            timeout: None,
            timeout_cap: None,
            on_timeout: None,
            order: None,
            chain_end: None,
            settle: None,
            fails: None,
            detached: false,
            on_request: false,
            known: Known::Documented,
        }
    }

    /// Matchers count here.
    #[must_use]
    pub const fn matched(mut self) -> Self {
        self.matched = true;
        self
    }

    /// Matchers count here, and are compared with what this makes of the subject.
    #[must_use]
    pub const fn matched_as(mut self, normal: fn(&str) -> Option<String>) -> Self {
        self.matched = true;
        self.normal_subject = Some(normal);
        self
    }

    /// Matchers count here, and are compared with this field.
    #[must_use]
    pub const fn compares(mut self, field: &'static str) -> Self {
        self.matched = true;
        self.compares = Some(field);
        self
    }

    /// Matchers count here, and are written so.
    #[must_use]
    pub const fn matched_by(mut self, grammar: Grammar) -> Self {
        self.matched = true;
        self.grammar = Some(grammar);
        self
    }

    /// Matchers count here, and are always compared with this.
    #[must_use]
    pub const fn always(mut self, subject: &'static str) -> Self {
        self.matched = true;
        self.always = Some(subject);
        self
    }

    /// Hooks can stop something here.
    #[must_use]
    pub const fn blocks(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Text is taken for this.
    #[must_use]
    pub const fn plain(mut self, plain: Plain) -> Self {
        self.plain = plain;
        self
    }

    /// The payload has these as well.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [FieldRow]) -> Self {
        self.fields = fields;
        self
    }

    /// The payload has these instead of what all have.
    #[must_use]
    pub const fn instead(mut self, fields: &'static [FieldRow]) -> Self {
        self.instead = Some(fields);
        self
    }

    /// The payload names the event in this field, by this name.
    #[must_use]
    pub const fn named(mut self, field: &'static str, name: &'static str) -> Self {
        self.named = Some((field, name));
        self
    }

    /// Hooks run in the background here.
    #[must_use]
    pub const fn detached(mut self) -> Self {
        self.detached = true;
        self
    }

    /// A program should be called here only if somebody asks for it.
    #[must_use]
    pub const fn on_request(mut self) -> Self {
        self.on_request = true;
        self
    }

    /// The agent was seen doing it.
    #[must_use]
    pub const fn observed(mut self) -> Self {
        self.known = Known::Observed;
        self
    }

    /// Others say so, or sources differ.
    #[must_use]
    pub const fn uncertain(mut self) -> Self {
        self.known = Known::Uncertain;
        self
    }

    /// Hooks may take so many milliseconds at most, whatever they ask for.
    #[must_use]
    pub const fn at_most_ms(mut self, ms: u64) -> Self {
        self.timeout_cap = Some(Duration::from_millis(ms));
        self
    }

    /// Hooks may take so many milliseconds.
    #[must_use]
    pub const fn within_ms(mut self, ms: u64) -> Self {
        self.timeout = Some(Duration::from_millis(ms));
        self
    }

    /// This is done about a hook that takes too long.
    #[must_use]
    pub const fn on_timeout(mut self, effect: Effect) -> Self {
        self.on_timeout = Some(effect);
        self
    }

    /// Hooks run in this order.
    #[must_use]
    pub const fn order(mut self, order: RunOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// This ends the chain.
    #[must_use]
    pub const fn chain_end(mut self, end: ChainEnd) -> Self {
        self.chain_end = Some(end);
        self
    }

    /// This decision wins.
    #[must_use]
    pub const fn settle(mut self, settle: Settle) -> Self {
        self.settle = Some(settle);
        self
    }

    /// This is done about every failure, whatever the hook itself says.
    #[must_use]
    pub const fn fails(mut self, effect: Effect) -> Self {
        self.fails = Some(effect);
        self
    }
}

/// How processes run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ProcessTable {
    /// The shell for commands that are text.
    pub shell: Shell,
    /// What a hook gets of the host's environment.
    pub environment: Environment,
    /// Variables with data of the event.
    pub variables: &'static [VariableRow],
    /// Where it runs.
    pub cwd: Cwd,
    /// Whether `${env.NAME}` in the values of a hook's own variables stands for a variable of the host, and in its own
    /// directory also `~`, `$NAME` and `${NAME}`.
    pub expands: bool,
    /// Whether the payload ends with a new line.
    pub newline: bool,
    /// How much of each output stream is read, in bytes.
    pub output_cap: usize,
    /// Whether what a hook leaves in the background is left alone, and reported, rather than ended.
    pub leaves_background: bool,
}

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// `sh -c`.
    Sh,
    /// `bash -c`.
    Bash,
    /// The one that `$SHELL` names, as `-c`.
    User,
    /// The one that this variable names, else `/bin/sh`.
    Variable(&'static str),
    /// There is none: commands are lists of words.
    None,
}

/// What a hook gets of the host's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Names that every program needs, and what the hook asks for.
    Usual,
    /// Everything.
    All,
    /// Everything but what starts like this.
    AllBut(&'static [&'static str]),
    /// These, and what the hook asks for.
    Only(&'static [&'static str]),
}

/// Where hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cwd {
    /// In the event's directory.
    Event,
    /// There, or in the host's if it is gone.
    EventOrHost,
    /// In the host's.
    Host,
}

/// A variable with data of the event.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VariableRow {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub from: Data,
    /// What it holds if the event does not have that. `None`: it is not set then.
    pub absent: Option<&'static str>,
}

/// Where data comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The dialect's name for the event.
    EventName,
    /// A field, under checkrein's name for it: text as it is, all else as JSON. Dots lead into JSON.
    Field(&'static str),
    /// The same, but `1` and `0` instead of true and false.
    Digit(&'static str),
    /// The first of these fields that the event has, as [`Field`](Self::Field) has it.
    FirstOf(&'static [&'static str]),
    /// `1` if the event is about a tool that failed, by its kind or by what it says, else `0`.
    ToolFailed,
    /// The directory that the host was started in.
    ProjectDir,
    /// This text.
    Fixed(&'static str),
}

impl VariableRow {
    /// A variable that is set if the event has the data.
    pub const fn new(name: &'static str, from: Data) -> Self {
        Self { name, from, absent: None }
    }

    /// A variable that is always set.
    #[must_use]
    pub const fn or(mut self, absent: &'static str) -> Self {
        self.absent = Some(absent);
        self
    }
}

/// How HTTP endpoints are called.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpTable {
    /// The first status that is no success any more; 200 is the first that is one.
    pub success_below: u16,
    /// Whether what the endpoint answers counts.
    pub decides: bool,
    /// Whether hooks that are endpoints run in the background unless they say otherwise.
    pub in_background: bool,
    /// Whether `$NAME` in headers stands for a variable. Where it does not, headers are sent as they are written.
    pub variables: bool,
    /// How much of an answer is read, in bytes.
    pub response_cap: usize,
}

/// How long hooks may take.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TimeTable {
    /// If nothing else is said.
    pub usual: Duration,
    /// The same for events of these classes.
    pub classes: &'static [(TimeClass, Duration)],
    /// The same for kinds of handlers.
    pub handlers: &'static [(&'static str, Duration)],
    /// The same for kinds of handlers that nobody waits for.
    pub in_background: &'static [(&'static str, Duration)],
    /// The most that a hook may ask for; what is more is cut down to it.
    pub cap: Option<Duration>,
}

impl TimeTable {
    /// The same time everywhere.
    pub const fn seconds(seconds: u64) -> Self {
        Self { usual: Duration::from_secs(seconds), classes: &[], handlers: &[], in_background: &[], cap: None }
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
    pub fn compared(&self, event: &Event) -> Option<String> {
        let row = self.row(&event.kind());
        if let Some(always) = row.and_then(|row| row.always) {
            return Some(always.to_owned());
        }
        let subject = match row.and_then(|row| row.compares) {
            Some(path) => crate::payload::text_at(event, path),
            None => event.subject().map(std::borrow::Cow::into_owned),
        };
        match row.and_then(|row| row.normal_subject) {
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
    pub fn with_common_names(&self, mut event: Event) -> Event {
        event.also_general = self.lacks_general(&event.kind());
        match event.tool_name().and_then(|tool| self.tool(tool)) {
            Some(tool) if !(tool.common.is_empty() && tool.inputs.is_empty()) => {
                event.also_known_as(tool.common).in_words_of(self.name)
            }
            _ => event,
        }
    }

    /// The generation that a payload is of, if it is another one.
    pub fn generation_of(&self, payload: &RawJson) -> Option<&'static Self> {
        let (_, name) = self.kin.iter().find(|(field, _)| payload.field(field).is_some())?;
        crate::find(name)
    }

    /// Whether the agent has events of this kind, which is for some tools, and none for all of them.
    pub fn lacks_general(&self, kind: &EventKind) -> bool {
        let lacks =
            |general: &EventKind| !self.has_all_events && self.row(kind).is_some() && self.row(general).is_none();
        kind.general().as_ref().is_some_and(lacks)
    }

    /// Whether payloads of this kind of event say which event they are. If not, somebody else must say it.
    pub fn names_event(&self, kind: &EventKind) -> bool {
        !self.payload.event.is_empty() || self.row(kind).is_some_and(|row| row.named.is_some())
    }

    /// Whether a hook can stop something at events of this kind.
    pub fn blocks(&self, kind: &EventKind) -> bool {
        self.column(kind, |row| row.blocks, |contract| contract.block != Block::Ignored)
    }

    /// Whether something waits for leave of this dialect's hooks there.
    pub fn is_gate(&self, kind: &EventKind) -> bool {
        kind.contract().is_gate() && self.blocks(kind)
    }

    /// What text that is no answer is taken for.
    pub fn plain(&self, kind: &EventKind) -> Plain {
        let text = |contract: &Contract| if contract.plain_text { Plain::Context } else { Plain::Nothing };
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
    pub fn failure_effect(&self, kind: &EventKind, failure: FailureKind) -> Effect {
        let row = self.row(kind);
        let of_row = || row?.fails.or(row?.on_timeout.filter(|_| failure == FailureKind::Timeout));
        if let Some(effect) = of_row() {
            effect
        } else if kind.contract().is_gate() && !self.is_gate(kind) {
            // Its agent would never have heard it.
            Effect::Open
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
            rules.failures = row.fails.map_or(rules.failures, FailureTable::every);
        }
        rules
    }
}
