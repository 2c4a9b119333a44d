//! Amazon Q Developer CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "amazon-q",
    events: &[
        EventName { name: "agentSpawn", kind: EventKind::SessionStart },
        EventName { name: "userPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "preToolUse", kind: EventKind::PreToolUse },
        EventName { name: "postToolUse", kind: EventKind::PostToolUse },
        EventName { name: "stop", kind: EventKind::Stop },
        EventName { name: "fileCreated", kind: EventKind::FileCreated },
        EventName { name: "fileEdited", kind: EventKind::FileSaved },
    ],
};
