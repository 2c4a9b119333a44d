//! Letta Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "letta",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PostToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "PermissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "SubagentStop", kind: EventKind::SubagentStop },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
    ],
};
