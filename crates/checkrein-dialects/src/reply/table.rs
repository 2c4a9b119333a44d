//! Columns of a dialect for reading replies and rendering verdicts.

use checkrein_core::{Decision, EventKind, Target};

use super::defect::Defect;
use crate::table::Dialect;

/// Rules for reading replies.
#[derive(Debug, Clone, Copy)]
pub struct ReplyTable {
    /// Condition for standard output to be an answer.
    pub trigger: AnswerDetection,
    /// Treatment of an answer that is not JSON.
    pub malformed: MalformedPolicy,
    /// Treatment of unknown keys.
    pub unknown_keys: UnknownPolicy,
    /// Treatment of values of the wrong type and of unknown decisions.
    pub bad_values: UnknownPolicy,
    /// Deviations from JSON that the agent accepts. From an answer with another one, only restrictions are used.
    pub tolerates: &'static [Defect],
    /// `true` if words for decisions are case-sensitive.
    pub exact_case: bool,
    /// Keys of an answer. Rendering a verdict uses the first suitable key. The reason of a decision is the next reason after it.
    pub keys: &'static [Key],
    /// Meanings of exit codes. The first matching rule applies.
    pub exits: &'static [ExitRule],
    /// `true` if standard error is read as the answer when standard output is empty.
    pub stderr_answers: bool,
    /// Limit of a context, a message or a first prompt in characters. Longer texts are stored in a file.
    pub text_cap: Option<usize>,
    /// Events at which a denial is rendered with each key for it and with its exit code, for agents whose versions read different
    /// ones. `None`: the first suitable spelling is enough.
    pub all_spellings: Option<EventScope>,
    /// Answer without an opinion, for agents that treat silence as a decision. `None`: silence has no effect.
    pub no_opinion: Option<NoOpinionAnswer>,
}

/// Answer to an agent if no hook has an opinion. It must be safe: the agent decides as without hooks, or asks its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoOpinionAnswer {
    /// Events that need it.
    pub at: EventScope,
    /// Path of the key. Dots lead into objects.
    pub path: &'static str,
    /// Value as JSON.
    pub json: &'static str,
}

/// Condition for standard output to be an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerDetection {
    /// Standard output is never an answer.
    Never,
    /// An opening brace at its start.
    Brace,
    /// An opening brace at its start and a closing one at its end.
    Braces,
    /// A JSON object.
    Object,
    /// A JSON object with a key of the dialect, or a misspelling of one. Other JSON is text, and an empty object is empty output.
    OwnObject,
    /// A JSON object, or a line with this start. The rest of the last such line is the answer.
    ObjectOrLine(&'static str),
    /// An opening brace at its start, or a JSON object at its end that starts on its own line. Shells may print a greeting
    /// first.
    LastObject,
}

/// Treatment of an answer that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedPolicy {
    /// A failure.
    Failure,
    /// Plain text.
    Text,
    /// Plain text. At a gate, text with a key of answers is a failure.
    TextUnlessAnswer,
}

/// Treatment of unknown parts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownPolicy {
    /// Ignored.
    Ignored,
    /// Ignored with a message.
    Reported,
    /// A failure if it is a misspelling. Otherwise ignored with a message.
    MisspeltFails,
    /// A failure.
    Failure,
}

/// A key of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Paths of the key. Dots lead into objects. Rendered verdicts have the first one.
    pub paths: &'static [&'static str],
    /// Meaning.
    pub means: KeyMeaning,
    /// Events at which it has an effect.
    pub at: EventScope,
    /// `true` if it is read but never rendered: old names, and names of other agents.
    pub parse_only: bool,
    /// `true` if a string with JSON is read as that JSON.
    pub or_text: bool,
    /// `true` if rendered verdicts have it at all paths.
    pub at_all_paths: bool,
    /// `true` if it is read only in strict mode.
    pub only_strict: bool,
    /// `true` if an empty text, array or object means absent.
    pub ignore_if_empty: bool,
    /// Name of metadata that is `true` when the key denies, for agents with two kinds of denial.
    pub tags: Option<&'static str>,
    /// Decisions that are read but never rendered, because the agent ignores them.
    pub never_says: &'static [Decision],
    /// `true` if a block without a reason makes the answer invalid.
    pub needs_reason: bool,
    /// Path that an answer must have besides this key, and the JSON that rendering adds there. Without it the key has no effect.
    pub requires_sibling: Option<(&'static str, &'static str)>,
    /// Object that rendering puts text into: the key of the text, and further members as JSON.
    pub wrapped_in: Option<(&'static str, &'static [(&'static str, &'static str)])>,
    /// Decisions beside which the agent uses the key. `None`: all, and no decision.
    pub only_with: Option<&'static [Decision]>,
    /// Fields that a merge may leave as they were although the new value lacks them, because they only describe the call.
    pub keeps: &'static [&'static str],
    /// `true` if the agent ignores a new value whose shape differs from that of the original.
    pub same_shape: bool,
    /// Paths of the text in an output that is an object. The first one that exists is its main text.
    pub text_in: &'static [&'static str],
}

impl Key {
    /// A key for all events.
    pub const fn new(paths: &'static [&'static str], means: KeyMeaning) -> Self {
        Self {
            paths,
            means,
            at: EventScope::Any,
            parse_only: false,
            or_text: false,
            at_all_paths: false,
            only_strict: false,
            ignore_if_empty: false,
            tags: None,
            never_says: &[],
            needs_reason: false,
            requires_sibling: None,
            wrapped_in: None,
            only_with: None,
            keeps: &[],
            same_shape: false,
            text_in: &[],
        }
    }

    /// Limits the key to these events.
    #[must_use]
    pub const fn at(mut self, at: EventScope) -> Self {
        self.at = at;
        self
    }

    /// `true` if the key has an effect at events of this kind.
    pub fn applies_to(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        self.at.fits(dialect, kind)
    }

    /// `true` if rendered verdicts have this decision here.
    pub(crate) fn says(&self, decision: Decision) -> bool {
        let means = match self.means {
            KeyMeaning::Decision(words) => words.iter().any(|(_, own)| *own == decision),
            KeyMeaning::Flag(_, own) | KeyMeaning::Because(own) => own == decision,
            _ => false,
        };
        means && !self.parse_only && !self.never_says.contains(&decision)
    }

    /// Reads the key, but never renders it.
    #[must_use]
    pub const fn parse_only(mut self) -> Self {
        self.parse_only = true;
        self
    }

    /// Reads a string with JSON as that JSON.
    #[must_use]
    pub const fn or_text(mut self) -> Self {
        self.or_text = true;
        self
    }

    /// Renders the key at all its paths.
    #[must_use]
    pub const fn at_all_paths(mut self) -> Self {
        self.at_all_paths = true;
        self
    }

    /// Reads the key only in strict mode.
    #[must_use]
    pub const fn only_strict(mut self) -> Self {
        self.only_strict = true;
        self
    }

    /// Ignores an empty value.
    #[must_use]
    pub const fn ignore_if_empty(mut self) -> Self {
        self.ignore_if_empty = true;
        self
    }

    /// Adds metadata with this name when it denies.
    #[must_use]
    pub const fn tags(mut self, mark: &'static str) -> Self {
        self.tags = Some(mark);
        self
    }

    /// Reads these decisions, but never renders them.
    #[must_use]
    pub const fn never_says(mut self, decisions: &'static [Decision]) -> Self {
        self.never_says = decisions;
        self
    }

    /// Makes an answer that blocks without a reason invalid.
    #[must_use]
    pub const fn needs_reason(mut self) -> Self {
        self.needs_reason = true;
        self
    }

    /// Requires a value at another path. Rendering adds this JSON there, unless the path has a value.
    #[must_use]
    pub const fn requires_sibling(mut self, path: &'static str, json: &'static str) -> Self {
        self.requires_sibling = Some((path, json));
        self
    }

    /// Renders text inside an object, under this key and beside these members.
    #[must_use]
    pub const fn wrapped_in(mut self, key: &'static str, beside: &'static [(&'static str, &'static str)]) -> Self {
        self.wrapped_in = Some((key, beside));
        self
    }

    /// Limits the key to answers with these decisions.
    #[must_use]
    pub const fn only_with(mut self, decisions: &'static [Decision]) -> Self {
        self.only_with = Some(decisions);
        self
    }

    /// Lets a merge keep these fields, which only describe the call.
    #[must_use]
    pub const fn keeps(mut self, fields: &'static [&'static str]) -> Self {
        self.keeps = fields;
        self
    }

    /// Renders new values in the shape of the original.
    #[must_use]
    pub const fn same_shape(mut self) -> Self {
        self.same_shape = true;
        self
    }

    /// Sets the paths of the text in an output that is an object.
    #[must_use]
    pub const fn text_in(mut self, paths: &'static [&'static str]) -> Self {
        self.text_in = paths;
        self
    }
}

/// Meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMeaning {
    /// A decision, in these words.
    Decision(&'static [(&'static str, Decision)]),
    /// Reason of the decision before it in the table.
    Reason,
    /// This decision, if the value is this boolean.
    Flag(bool, Decision),
    /// This decision, if the text is not empty. The text is the reason.
    Because(Decision),
    /// Reason of a halt.
    StopReason,
    /// A message for the user.
    Message,
    /// Flag that hides the hook's output.
    Suppress,
    /// Context for the model: a text, or an array of texts.
    Context,
    /// A new value.
    Replace(Target),
    /// New values for some fields.
    Merge(Target),
    /// First message of the user.
    FirstMessage,
    /// Metadata for the host, each under its own name.
    Metadata,
    /// Metadata for the host, under this name.
    Named(&'static str),
    /// Name of the event.
    EventName,
    /// No effect.
    Nothing,
}

/// Events at which a key or a rule has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventScope {
    /// All events.
    Any,
    /// Events at which hooks can block.
    Blocking,
    /// Events at which hooks cannot block.
    Watching,
    /// Events of these kinds.
    Kinds(&'static [EventKind]),
    /// Events of all other kinds.
    Except(&'static [EventKind]),
}

impl EventScope {
    #[inline]
    pub(crate) fn fits(self, dialect: &Dialect, kind: &EventKind) -> bool {
        let blocks = || dialect.blocks(kind);
        match self {
            Self::Any => true,
            Self::Blocking => blocks(),
            Self::Watching => !blocks(),
            Self::Kinds(kinds) => kinds.contains(kind),
            Self::Except(kinds) => !kinds.contains(kind),
        }
    }
}

/// Meaning of an exit code.
#[derive(Debug, Clone, Copy)]
pub struct ExitRule {
    /// Exit codes.
    pub code: ExitCodeMatch,
    /// Events.
    pub at: EventScope,
    /// `true` if the rule requires output on standard error.
    pub needs_stderr: bool,
    /// `true` if the rule requires output on standard output or standard error.
    pub needs_text: bool,
    /// `true` if the rule requires an answer.
    pub if_answer: bool,
    /// Action.
    pub then: ExitAction,
    /// Name of metadata that is `true` when the rule denies.
    pub marks: Option<&'static str>,
}

impl ExitRule {
    /// A rule for all events.
    pub const fn new(code: ExitCodeMatch, then: ExitAction) -> Self {
        Self { code, at: EventScope::Any, needs_stderr: false, needs_text: false, if_answer: false, then, marks: None }
    }

    /// Limits the rule to these events.
    #[must_use]
    pub const fn at(mut self, at: EventScope) -> Self {
        self.at = at;
        self
    }

    /// `true` if the rule applies to events of this kind.
    pub fn applies_to(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        self.at.fits(dialect, kind)
    }

    /// Requires output on standard error.
    #[must_use]
    pub const fn needs_stderr(mut self) -> Self {
        self.needs_stderr = true;
        self
    }

    /// Requires output on standard output or standard error.
    #[must_use]
    pub const fn needs_text(mut self) -> Self {
        self.needs_text = true;
        self
    }

    /// Requires an answer.
    #[must_use]
    pub const fn if_answer(mut self) -> Self {
        self.if_answer = true;
        self
    }

    /// Adds metadata with this name when it denies.
    #[must_use]
    pub const fn marks(mut self, mark: &'static str) -> Self {
        self.marks = Some(mark);
        self
    }
}

/// Set of exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCodeMatch {
    /// This code.
    Is(i32),
    /// This code and all higher ones.
    AtLeast(i32),
    /// All codes but 0, and signals.
    NotZero,
    /// All codes, and signals.
    Any,
}

/// Action for an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitAction {
    /// Reads the output.
    Read,
    /// Reads the answer. Without an answer, the hook has failed.
    ReadOrFail,
    /// Makes this decision with the first available reason. An answer is read too.
    Decide(Decision, &'static [ReasonSource]),
    /// Shows the user the first available text, without a decision.
    Tell(&'static [ReasonSource]),
    /// Fails the hook.
    Fail,
    /// Fails the hook, with the first available reason if the failure closes a gate.
    FailFor(&'static [ReasonSource]),
    /// No opinion.
    Nothing,
}

/// Source of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonSource {
    /// Answer.
    Answer,
    /// Standard error.
    Stderr,
    /// Standard output, as text.
    Stdout,
    /// Fixed text.
    Fixed(&'static str),
    /// `hook PROGRAM exit CODE`.
    Exit,
}
