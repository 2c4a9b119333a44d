//! Gemini CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "gemini",
    events: &[
        EventName { name: "BeforeTool", kind: EventKind::PreToolUse },
        EventName { name: "AfterTool", kind: EventKind::PostToolUse },
        EventName { name: "BeforeAgent", kind: EventKind::PromptSubmit },
        EventName { name: "AfterAgent", kind: EventKind::Stop },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "PreCompress", kind: EventKind::PreCompact },
        EventName { name: "BeforeModel", kind: EventKind::BeforeModel },
        EventName { name: "AfterModel", kind: EventKind::AfterModel },
        EventName { name: "BeforeToolSelection", kind: EventKind::ToolSelection },
    ],
};
