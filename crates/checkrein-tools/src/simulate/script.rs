//! Types of a parsed simulation script, and the tables of its keys.

use checkrein_core::{Envelope, Event, EventKind, RawJson};
use checkrein_document::LineColumn;

/// Script of a session: the actions of the user, the model and the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Script {
    /// Description for the reader.
    pub description: Option<String>,
    /// Envelope of all events.
    pub envelope: Envelope,
    /// Steps, in order.
    pub steps: Vec<Step>,
}

impl Script {
    /// Default script: a user asks an agent to fix a test.
    pub const DEFAULT: &'static str = include_str!("default.yaml");
}

/// One step of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Action of the step.
    pub action: Action,
    /// Location in the script.
    pub place: LineColumn,
}

/// Action of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The session starts.
    Start(Event),
    /// The user sends a prompt.
    Prompt(Event),
    /// The model calls a tool.
    Tool(ToolStep),
    /// The conversation is compacted.
    Compact(Event),
    /// The agent wants to stop.
    Stop(Event),
    /// The session ends.
    End(Event),
    /// Another event, whose verdict the simulator ignores.
    Fire(Event),
}

/// A tool call and its scripted outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolStep {
    /// Tool name.
    pub name: String,
    /// Tool input.
    pub input: RawJson,
    /// Outcome, if the tool runs.
    pub outcome: ScriptedOutcome,
    /// `true` if the agent's own rules ask the user when no hook decides.
    pub asks: bool,
    /// Answer of the user when asked.
    pub answer: Answer,
}

/// Outcome of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedOutcome {
    /// The tool returns this value.
    Result(RawJson),
    /// The tool fails with this error.
    Failure(String),
}

/// Answer of the user to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Answer {
    /// The tool may run.
    #[default]
    Allow,
    /// The tool may not run.
    Deny,
}

impl Answer {
    /// All answers.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Deny];

    /// Name in scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// Key of a step that fires one event. The value of the key is the event's main field.
pub(crate) struct StepKey {
    pub(crate) key: &'static str,
    pub(crate) kind: EventKind,
    /// Field that receives the value of the key.
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
        about: "The user sends this prompt. If it is denied, the turn ends.",
        action: Action::Prompt,
    },
    StepKey {
        key: "compact",
        kind: EventKind::PreCompact,
        field: "trigger",
        about: "The conversation is compacted: auto or manual.",
        action: Action::Compact,
    },
    StepKey {
        key: "stop",
        kind: EventKind::Stop,
        field: "last_assistant_message",
        about: "The agent prints this message and stops. If the stop is denied, it continues and tries to stop again.",
        action: Action::Stop,
    },
    StepKey {
        key: "end",
        kind: EventKind::SessionEnd,
        field: "reason",
        about: "The session ends with this reason.",
        action: Action::End,
    },
];

/// Type of a key's value.
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
    ("input", KeyType::Anything, "Tool input. Default: a sample input for this tool."),
    ("result", KeyType::Anything, "Result of the tool. Default: a sample result of this tool."),
    ("failure", KeyType::Text, "The tool fails with this error."),
    ("asks", KeyType::Flag, "`true` if the agent's own rules ask the user when no hook decides."),
    ("answer", KeyType::Answer, "Answer of the user when asked. Default: allow."),
];
