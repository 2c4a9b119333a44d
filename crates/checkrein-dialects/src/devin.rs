//! Devin CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "devin",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PermissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "PostCompaction", kind: EventKind::PostCompact },
    ],
};
