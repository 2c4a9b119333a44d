//! Qwen Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "qwen",
    events: &[
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PostToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "PostToolBatch", kind: EventKind::PostToolBatch },
        EventName { name: "PermissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "PermissionDenied", kind: EventKind::PermissionDenied },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "UserPromptExpansion", kind: EventKind::PromptExpansion },
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "SessionDelete", kind: EventKind::SessionDelete },
        EventName { name: "SubagentStart", kind: EventKind::SubagentStart },
        EventName { name: "SubagentStop", kind: EventKind::SubagentStop },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "PostCompact", kind: EventKind::PostCompact },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "StopFailure", kind: EventKind::StopFailure },
        EventName { name: "TodoCreated", kind: EventKind::TodoCreated },
        EventName { name: "TodoCompleted", kind: EventKind::TodoCompleted },
        EventName { name: "InstructionsLoaded", kind: EventKind::InstructionsLoaded },
        EventName { name: "MessageDisplay", kind: EventKind::MessageDisplay },
        EventName { name: "QueryEnd", kind: EventKind::UserTurnEnd },
    ],
};
