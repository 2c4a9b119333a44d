//! What hooks may do at an event of each kind.

use std::borrow::Cow;
use std::fmt;

/// What hooks may do at an event of one kind, at the widest: a dialect may narrow it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// The field that matchers are compared with. `None`: every hook of the kind fits.
    pub matched_on: Option<Cow<'static, str>>,
    /// What a deny comes to.
    pub block: BlockEffect,
    /// Whether a hook can end the whole agent loop here.
    pub halt: bool,
    /// What a hook can rewrite.
    pub rewrites: Cow<'static, [Target]>,
    /// Whether a hook can tell the model something.
    pub context: ContextUse,
    /// Whether plain text on a hook's standard output counts as context.
    pub plain_text: bool,
    /// How long a hook may take, as a class; dialects put figures to it.
    pub time: TimeClass,
}

impl Contract {
    /// Hooks may watch, and nothing else. The start for a custom kind's own contract.
    pub fn observe() -> Self {
        Self {
            matched_on: None,
            block: BlockEffect::Ignored,
            halt: false,
            rewrites: Cow::Borrowed(&[]),
            context: ContextUse::None,
            plain_text: false,
            time: TimeClass::Notice,
        }
    }

    /// Compares matchers with this field.
    #[must_use]
    pub fn matched_on(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.matched_on = Some(field.into());
        self
    }

    /// Says what a deny comes to.
    #[must_use]
    pub fn block(mut self, block: BlockEffect) -> Self {
        self.block = block;
        self
    }

    /// Lets hooks end the loop.
    #[must_use]
    pub fn halt(mut self) -> Self {
        self.halt = true;
        self
    }

    /// Lets hooks rewrite these.
    #[must_use]
    pub fn rewrites(mut self, targets: impl Into<Vec<Target>>) -> Self {
        self.rewrites = Cow::Owned(targets.into());
        self
    }

    /// Lets hooks tell the model something.
    #[must_use]
    pub fn context(mut self, context: ContextUse) -> Self {
        self.context = context;
        self
    }

    /// Takes plain text on a hook's standard output as context.
    #[must_use]
    pub fn plain_text(mut self) -> Self {
        self.plain_text = true;
        self
    }

    /// Says how long hooks may take.
    #[must_use]
    pub fn time(mut self, time: TimeClass) -> Self {
        self.time = time;
        self
    }

    /// Whether something waits for leave here, so that a hook that fails must be able to close it.
    pub fn is_gate(&self) -> bool {
        self.block == BlockEffect::Refuse
    }
}

/// What a deny comes to at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockEffect {
    /// Nothing is left to stop.
    Ignored,
    /// What was about to happen does not happen.
    Refuse,
    /// It has happened; the model hears the reason.
    Feedback,
    /// The agent loop ends.
    EndLoop,
    /// The agent, about to stop, goes on.
    Continue,
}

impl fmt::Display for BlockEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ignored => "ignored",
            Self::Refuse => "refuse",
            Self::Feedback => "feedback",
            Self::EndLoop => "end the loop",
            Self::Continue => "go on",
        })
    }
}

/// What a hook can rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// What a tool is called with.
    Input,
    /// What a tool, a model or an agent gave back.
    Output,
    /// What the user said.
    Prompt,
    /// The conversation that a model is sent.
    Messages,
    /// What stands for the messages that compaction drops.
    Summary,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Input, Self::Output, Self::Prompt, Self::Messages, Self::Summary];

    /// The name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Prompt => "prompt",
            Self::Messages => "messages",
            Self::Summary => "summary",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a hook can tell the model something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextUse {
    /// No.
    None,
    /// Yes.
    Model,
    /// Yes, for the next model call only.
    OneCall,
    /// Yes, and it can speak as the user, first of all.
    FirstMessage,
}

impl ContextUse {
    /// Whether context is taken at all.
    pub fn is_taken(self) -> bool {
        self != Self::None
    }
}

impl fmt::Display for ContextUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "no",
            Self::Model => "yes",
            Self::OneCall => "for one call",
            Self::FirstMessage => "yes, and a first user message",
        })
    }
}

/// How long hooks may take at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeClass {
    /// A tool waits.
    Tool,
    /// The user or the model waits.
    Turn,
    /// Nobody waits.
    Notice,
    /// Text is being shown.
    Display,
    /// The host is about to leave.
    Closing,
}

impl fmt::Display for TimeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tool => "tool",
            Self::Turn => "turn",
            Self::Notice => "notice",
            Self::Display => "display",
            Self::Closing => "closing",
        })
    }
}
