//! Codex CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "codex",
    events: &[
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PermissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "PostCompact", kind: EventKind::PostCompact },
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "SubagentStart", kind: EventKind::SubagentStart },
        EventName { name: "SubagentStop", kind: EventKind::SubagentStop },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "Interrupt", kind: EventKind::TurnCancelled },
    ],
};
