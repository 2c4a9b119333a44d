//! [`Contract`]: the effects that hooks can have at events of one kind.
//!
//! The kind table has one contract per row; hosts declare those of custom kinds. Settling, dialects and documentation read
//! them. A dialect may narrow a contract but must never widen it.

use std::borrow::Cow;
use std::fmt;

/// Effects that hooks can have at events of one kind. A dialect may narrow them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// Field that matchers are compared with. `None`: every hook of the kind matches.
    pub matched_on: Option<Cow<'static, str>>,
    /// Effect of a deny.
    pub block: BlockEffect,
    /// `true` if a hook can end the whole agent loop.
    pub halt: bool,
    /// Parts of the event that a hook can rewrite.
    pub rewrites: Cow<'static, [Target]>,
    /// Use of the context that a hook returns for the model.
    pub context: ContextUse,
    /// `true` if plain text on a hook's standard output is context.
    pub plain_text: bool,
    /// Class of the default timeout. Dialects define the durations.
    pub time: TimeClass,
}

impl Contract {
    /// Creates a contract where hooks can only observe. Start here for the contract of a custom kind.
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

    /// Sets the field that matchers are compared with.
    #[must_use]
    pub fn matched_on(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.matched_on = Some(field.into());
        self
    }

    /// Sets the effect of a deny.
    #[must_use]
    pub fn block(mut self, block: BlockEffect) -> Self {
        self.block = block;
        self
    }

    /// Allows hooks to end the agent loop.
    #[must_use]
    pub fn halt(mut self) -> Self {
        self.halt = true;
        self
    }

    /// Allows hooks to rewrite these targets.
    #[must_use]
    pub fn rewrites(mut self, targets: impl Into<Vec<Target>>) -> Self {
        self.rewrites = Cow::Owned(targets.into());
        self
    }

    /// Sets the use of context for the model.
    #[must_use]
    pub fn context(mut self, context: ContextUse) -> Self {
        self.context = context;
        self
    }

    /// Treats plain text on a hook's standard output as context.
    #[must_use]
    pub fn plain_text(mut self) -> Self {
        self.plain_text = true;
        self
    }

    /// Sets the class of the default timeout.
    #[must_use]
    pub fn time(mut self, time: TimeClass) -> Self {
        self.time = time;
        self
    }

    /// `true` if a deny refuses an operation. A hook that fails closed blocks it as well.
    pub fn is_gate(&self) -> bool {
        self.block == BlockEffect::Refuse
    }
}

/// Effect of a deny at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockEffect {
    /// No effect: there is nothing to stop.
    Ignored,
    /// The operation does not happen.
    Refuse,
    /// The operation has already happened; the model gets the reason.
    Feedback,
    /// The agent loop ends.
    EndLoop,
    /// The agent does not stop, but continues.
    Continue,
}

impl fmt::Display for BlockEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ignored => "ignored",
            Self::Refuse => "refuse",
            Self::Feedback => "feedback",
            Self::EndLoop => "end the loop",
            Self::Continue => "continue",
        })
    }
}

/// Part of an event that a hook can rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Input of a tool.
    Input,
    /// Output of a tool, a model or an agent.
    Output,
    /// Prompt of the user.
    Prompt,
    /// Conversation that is sent to a model.
    Messages,
    /// Summary that a compaction puts in place of dropped messages.
    Summary,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 5] = [Self::Input, Self::Output, Self::Prompt, Self::Messages, Self::Summary];

    /// Returns the name, as in records.
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

/// Use of the context that a hook returns for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextUse {
    /// Not supported.
    None,
    /// Added to the conversation.
    Model,
    /// Added to the next model call only.
    OneCall,
    /// Added to the conversation. A hook can also supply the first user message.
    FirstMessage,
}

impl ContextUse {
    /// `true` if context is supported.
    pub fn is_supported(self) -> bool {
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

/// Class of the default timeout of hooks at an event: the part of the agent that waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeClass {
    /// A tool call waits.
    Tool,
    /// The user or the model waits.
    Turn,
    /// Nothing waits.
    Notice,
    /// The display of text waits.
    Display,
    /// The exit of the host waits.
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
