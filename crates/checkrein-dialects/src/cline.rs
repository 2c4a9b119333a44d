//! Cline: file names of the extension, event names of its SDK.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "cline",
    events: &[
        EventName { name: "TaskStart", kind: EventKind::SessionStart },
        EventName { name: "TaskResume", kind: EventKind::SessionResume },
        EventName { name: "TaskCancel", kind: EventKind::TurnCancelled },
        EventName { name: "TaskComplete", kind: EventKind::Stop },
        EventName { name: "TaskError", kind: EventKind::Error },
        EventName { name: "SessionShutdown", kind: EventKind::SessionEnd },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "agent_start", kind: EventKind::SessionStart },
        EventName { name: "agent_resume", kind: EventKind::SessionResume },
        EventName { name: "agent_abort", kind: EventKind::TurnCancelled },
        EventName { name: "agent_end", kind: EventKind::Stop },
        EventName { name: "agent_error", kind: EventKind::Error },
        EventName { name: "session_shutdown", kind: EventKind::SessionEnd },
        EventName { name: "prompt_submit", kind: EventKind::PromptSubmit },
        EventName { name: "tool_call", kind: EventKind::PreToolUse },
        EventName { name: "tool_result", kind: EventKind::PostToolUse },
        EventName { name: "beforeModel", kind: EventKind::BeforeModel },
    ],
};
