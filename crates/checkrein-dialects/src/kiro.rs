//! Kiro.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "kiro",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "PostFileCreate", kind: EventKind::FileCreated },
        EventName { name: "PostFileSave", kind: EventKind::FileSaved },
        EventName { name: "PostFileDelete", kind: EventKind::FileDeleted },
        EventName { name: "PreTaskExec", kind: EventKind::PreSpecTask },
        EventName { name: "PostTaskExec", kind: EventKind::PostSpecTask },
        EventName { name: "Manual", kind: EventKind::Manual },
    ],
};
