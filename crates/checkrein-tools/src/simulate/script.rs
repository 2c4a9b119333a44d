//! What a session's script says.

use checkrein_core::{Envelope, Event, EventKind, RawJson};
use checkrein_document::LineColumn;

/// What happens in a session, besides hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// What it is about.
    pub description: Option<String>,
    /// What all its events carry.
    pub envelope: Envelope,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

impl Script {
    /// The session that is played if nobody brings a script: somebody asks an agent to repair a test.
    pub const DEFAULT: &'static str = include_str!("default.yaml");
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// What.
    pub action: Action,
    /// Where the script says so.
    pub place: LineColumn,
}

/// What happens in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The session starts.
    Start(Event),
    /// The user says something.
    Prompt(Event),
    /// The model calls a tool.
    Tool(ToolStep),
    /// The conversation is shortened.
    Compact(Event),
    /// The agent wants to stop.
    Stop(Event),
    /// The session ends.
    End(Event),
    /// Something else, which no verdict changes.
    Fire(Event),
}

/// A tool call, and what comes of it if it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolStep {
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub input: RawJson,
    /// What comes of it.
    pub outcome: ScriptedOutcome,
    /// Whether the agent's own rules ask the user if no hook decides.
    pub asks: bool,
    /// What the user says when asked.
    pub answer: Answer,
}

/// What comes of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedOutcome {
    /// It gives something back.
    Result(RawJson),
    /// It fails, with this error.
    Failure(String),
}

/// What the user says when asked whether a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Answer {
    /// It may.
    #[default]
    Allow,
    /// It may not.
    Deny,
}

impl Answer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Deny];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A key that says what a step is, if that is an event with one field that matters most.
pub(crate) struct StepKey {
    pub(crate) key: &'static str,
    pub(crate) kind: EventKind,
    /// The field that the key's value is.
    pub(crate) field: &'static str,
    pub(crate) about: &'static str,
    pub(crate) action: fn(Event) -> Action,
}

pub(crate) const LEADS: &[StepKey] = &[
    StepKey {
        key: "start",
        kind: EventKind::SessionStart,
        field: "source",
        about: "The session starts: startup, resume, clear or compact.",
        action: Action::Start,
    },
    StepKey {
        key: "prompt",
        kind: EventKind::PromptSubmit,
        field: "prompt",
        about: "The user says this. If it is refused the turn is over.",
        action: Action::Prompt,
    },
    StepKey {
        key: "compact",
        kind: EventKind::PreCompact,
        field: "trigger",
        about: "The conversation is shortened: auto or manual.",
        action: Action::Compact,
    },
    StepKey {
        key: "stop",
        kind: EventKind::Stop,
        field: "last_assistant_message",
        about: "The agent says this and wants to stop. If that is refused it goes on, and wants to stop again.",
        action: Action::Stop,
    },
    StepKey {
        key: "end",
        kind: EventKind::SessionEnd,
        field: "reason",
        about: "The session ends, for this reason.",
        action: Action::End,
    },
];

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyType {
    Text,
    Flag,
    Answer,
    Anything,
}

/// Keys of a step that is a tool call.
pub(crate) const TOOL_KEYS: &[(&str, KeyType, &str)] = &[
    ("tool", KeyType::Text, "The model calls this tool."),
    ("input", KeyType::Anything, "What it is called with. If absent: what such a tool is usually called with."),
    ("result", KeyType::Anything, "What it gives back. If absent: what such a tool usually gives back."),
    ("failure", KeyType::Text, "It fails, with this error."),
    ("asks", KeyType::Flag, "Whether the agent's own rules ask the user if no hook decides."),
    ("answer", KeyType::Answer, "What the user says when asked. If absent: allow."),
];
