//! The columns that say how replies are read, and how verdicts are said.

use checkrein_core::{Decision, EventKind, Target};

use crate::table::Dialect;

/// How replies are read.
#[derive(Debug, Clone, Copy)]
pub struct ReplyTable {
    /// What makes standard output an answer.
    pub trigger: AnswerDetection,
    /// What becomes of an answer that is no JSON.
    pub malformed: MalformedPolicy,
    /// What becomes of keys that the dialect does not have.
    pub unknown_keys: UnknownPolicy,
    /// What becomes of values of the wrong type, and of unknown decisions.
    pub bad_values: UnknownPolicy,
    /// Whether `Deny` is another word than `deny`.
    pub exact_case: bool,
    /// The keys of an answer. When a verdict is said, the first that fits is used; the reason of a decision is the next
    /// reason behind it.
    pub keys: &'static [Key],
    /// What exit codes mean: the first rule that fits counts.
    pub exits: &'static [ExitRule],
    /// Whether standard error is taken for standard output if nothing was printed there.
    pub stderr_answers: bool,
    /// How many characters of a context, a message or a first prompt are taken; what is longer is kept elsewhere.
    pub text_cap: Option<usize>,
}

/// What makes standard output an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerDetection {
    /// Nothing does.
    Never,
    /// An opening brace at its start.
    Brace,
    /// An opening brace at its start and a closing one at its end.
    Braces,
    /// That it is a JSON object, whatever else it looks like.
    Object,
    /// That it is a JSON object with a key that the dialect has, or nearly has. Any other JSON is text, and an empty object
    /// is nothing.
    OwnObject,
    /// That it is a JSON object; or the last of the lines in it that start so, of which the rest is the answer.
    ObjectOrLine(&'static str),
    /// An opening brace at its start, or at the start of the line where its last part starts that is an object: shells
    /// print greetings.
    LastObject,
}

/// What becomes of an answer that is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedPolicy {
    /// A failure.
    Failure,
    /// It is text.
    Text,
    /// It is text, unless something waits for leave and it was meant as an answer: that is a failure.
    TextUnlessAnswer,
}

/// What becomes of something in an answer that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownPolicy {
    /// Nothing.
    Ignored,
    /// A message says that it was ignored.
    Told,
    /// A failure if it is a slip of the pen, else a message.
    MisspeltFails,
    /// A failure.
    Failure,
}

/// A key of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Where it stands; dots lead into objects. The first is where verdicts say it.
    pub paths: &'static [&'static str],
    /// What it says.
    pub means: KeyMeaning,
    /// Where it counts.
    pub at: EventScope,
    /// Whether it is read, but never said: old names, and those of others.
    pub parse_only: bool,
    /// Whether a string that holds JSON is that JSON.
    pub or_text: bool,
    /// Whether verdicts say it at all paths, and not only at the first.
    pub at_all_paths: bool,
    /// Whether it counts only in answers in which nothing is overlooked.
    pub only_strict: bool,
    /// Whether an empty text, array or object is as good as none.
    pub ignore_if_empty: bool,
    /// What the host is told under this name, `true`, when the key denies: for agents that know two kinds of it.
    pub tags: Option<&'static str>,
    /// Decisions that are understood here, but never said: the agent does not do what they mean.
    pub never_says: &'static [Decision],
    /// Whether a block without a reason is none, and voids the answer.
    pub needs_reason: bool,
    /// What must be said with it, unless something is said there already: a path and JSON. An answer that says nothing there
    /// does not say this either.
    pub requires_sibling: Option<(&'static str, &'static str)>,
    /// The object that text is put into when it is said: the key that it has there, and what else is in it, as JSON.
    pub wrapped_in: Option<(&'static str, &'static [(&'static str, &'static str)])>,
}

impl Key {
    /// A key that counts everywhere.
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
        }
    }

    /// Counts only there.
    #[must_use]
    pub const fn at(mut self, at: EventScope) -> Self {
        self.at = at;
        self
    }

    /// Whether it counts at events of this kind.
    pub fn applies_to(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        self.at.fits(dialect, kind)
    }

    /// Is read, but never said.
    #[must_use]
    pub const fn parse_only(mut self) -> Self {
        self.parse_only = true;
        self
    }

    /// A string that holds JSON is that JSON.
    #[must_use]
    pub const fn or_text(mut self) -> Self {
        self.or_text = true;
        self
    }

    /// Is said at all its paths.
    #[must_use]
    pub const fn at_all_paths(mut self) -> Self {
        self.at_all_paths = true;
        self
    }

    /// Counts only in answers in which nothing is overlooked.
    #[must_use]
    pub const fn only_strict(mut self) -> Self {
        self.only_strict = true;
        self
    }

    /// Says nothing if it is empty.
    #[must_use]
    pub const fn ignore_if_empty(mut self) -> Self {
        self.ignore_if_empty = true;
        self
    }

    /// Tells the host under this name when it denies.
    #[must_use]
    pub const fn tags(mut self, mark: &'static str) -> Self {
        self.tags = Some(mark);
        self
    }

    /// Understands these decisions, but never says them.
    #[must_use]
    pub const fn never_says(mut self, decisions: &'static [Decision]) -> Self {
        self.never_says = decisions;
        self
    }

    /// A block without a reason voids the answer.
    #[must_use]
    pub const fn needs_reason(mut self) -> Self {
        self.needs_reason = true;
        self
    }

    /// Is said with this, unless something is said there already.
    #[must_use]
    pub const fn requires_sibling(mut self, path: &'static str, json: &'static str) -> Self {
        self.requires_sibling = Some((path, json));
        self
    }

    /// Text is said inside an object, under this key, beside what else is in it.
    #[must_use]
    pub const fn wrapped_in(mut self, key: &'static str, beside: &'static [(&'static str, &'static str)]) -> Self {
        self.wrapped_in = Some((key, beside));
        self
    }
}

/// What a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMeaning {
    /// A decision, in these words.
    Decision(&'static [(&'static str, Decision)]),
    /// Why the decision in front of it in the table was made.
    Reason,
    /// This decision, if it is this truth value.
    Flag(bool, Decision),
    /// This decision, by being there, and why: a text that is not empty.
    Because(Decision),
    /// Why all ends.
    StopReason,
    /// A message for the user.
    Message,
    /// Whether the hook's output is to be shown.
    Suppress,
    /// Context for the model: text, or several.
    Context,
    /// A new value.
    Replace(Target),
    /// New values for some fields.
    Merge(Target),
    /// What the user says first.
    FirstMessage,
    /// Data for the host, each under its own name.
    Metadata,
    /// Data for the host, under this name.
    Named(&'static str),
    /// The event that the answer is for.
    EventName,
    /// Nothing that has an effect.
    Nothing,
}

/// Where something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventScope {
    /// Everywhere.
    Any,
    /// Where hooks can stop something.
    Blocking,
    /// Where they cannot.
    Watching,
    /// At events of these kinds.
    Kinds(&'static [EventKind]),
    /// At all others.
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

/// What an exit code means.
#[derive(Debug, Clone, Copy)]
pub struct ExitRule {
    /// For which codes.
    pub code: ExitCodeMatch,
    /// At which events.
    pub at: EventScope,
    /// Whether only if the process complained about something.
    pub needs_stderr: bool,
    /// Whether only if the process printed something, wherever.
    pub needs_text: bool,
    /// Whether only if what was printed is an answer.
    pub if_answer: bool,
    /// What then.
    pub then: ExitAction,
    /// What the host is told under this name, `true`, when the rule denies.
    pub marks: Option<&'static str>,
}

impl ExitRule {
    /// A rule for all events.
    pub const fn new(code: ExitCodeMatch, then: ExitAction) -> Self {
        Self { code, at: EventScope::Any, needs_stderr: false, needs_text: false, if_answer: false, then, marks: None }
    }

    /// Counts only there.
    #[must_use]
    pub const fn at(mut self, at: EventScope) -> Self {
        self.at = at;
        self
    }

    /// Whether it counts at events of this kind.
    pub fn counts(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        self.at.fits(dialect, kind)
    }

    /// Counts only if the process complained about something.
    #[must_use]
    pub const fn needs_stderr(mut self) -> Self {
        self.needs_stderr = true;
        self
    }

    /// Counts only if the process printed something.
    #[must_use]
    pub const fn needs_text(mut self) -> Self {
        self.needs_text = true;
        self
    }

    /// Counts only if what was printed is an answer.
    #[must_use]
    pub const fn if_answer(mut self) -> Self {
        self.if_answer = true;
        self
    }

    /// Tells the host under this name when it denies.
    #[must_use]
    pub const fn marks(mut self, mark: &'static str) -> Self {
        self.marks = Some(mark);
        self
    }
}

/// Exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCodeMatch {
    /// This one.
    Is(i32),
    /// This one and all above.
    AtLeast(i32),
    /// Any but 0, and signals.
    NotZero,
    /// Any at all, and signals.
    Any,
}

/// What follows from an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitAction {
    /// What was printed counts.
    Read,
    /// What was printed counts if it is an answer; if not, the hook has failed.
    ReadOrFail,
    /// The decision, for the first reason of these that there is. What was printed counts as well if it is an answer.
    Decide(Decision, &'static [ReasonSource]),
    /// The user is told the first of these that there is, and nothing is decided.
    Tell(&'static [ReasonSource]),
    /// The hook has failed.
    Fail,
    /// The same; if that closes something, then for the first reason of these that there is.
    FailFor(&'static [ReasonSource]),
    /// Nothing.
    Nothing,
}

/// Where a reason comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonSource {
    /// The answer.
    Answer,
    /// Standard error.
    Stderr,
    /// Standard output, as text.
    Stdout,
    /// This text.
    Fixed(&'static str),
    /// `hook PROGRAM exit CODE`.
    Exit,
}
