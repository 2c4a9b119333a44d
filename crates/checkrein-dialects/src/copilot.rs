//! GitHub Copilot CLI, in the spelling that selects its own payload form.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "copilot",
    events: &[
        EventName { name: "sessionStart", kind: EventKind::SessionStart },
        EventName { name: "sessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "userPromptSubmitted", kind: EventKind::PromptSubmit },
        EventName { name: "userPromptTransformed", kind: EventKind::PromptExpansion },
        EventName { name: "preToolUse", kind: EventKind::PreToolUse },
        EventName { name: "permissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "postToolUse", kind: EventKind::PostToolUse },
        EventName { name: "postToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "preMcpToolCall", kind: EventKind::McpRequest },
        EventName { name: "notification", kind: EventKind::Notification },
        EventName { name: "agentStop", kind: EventKind::Stop },
        EventName { name: "errorOccurred", kind: EventKind::Error },
        EventName { name: "subagentStart", kind: EventKind::SubagentStart },
        EventName { name: "subagentStop", kind: EventKind::SubagentStop },
        EventName { name: "preCompact", kind: EventKind::PreCompact },
    ],
};
