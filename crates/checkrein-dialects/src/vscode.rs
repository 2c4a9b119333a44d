//! Agent hooks of VS Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "vscode",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "SubagentStart", kind: EventKind::SubagentStart },
        EventName { name: "SubagentStop", kind: EventKind::SubagentStop },
        EventName { name: "Stop", kind: EventKind::Stop },
    ],
};
