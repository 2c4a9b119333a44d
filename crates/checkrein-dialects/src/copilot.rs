//! GitHub Copilot CLI, in the spelling that selects its own payload form.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("copilot", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", EventKind::SessionStart),
    EventRow::new("sessionEnd", EventKind::SessionEnd),
    EventRow::new("userPromptSubmitted", EventKind::PromptSubmit),
    EventRow::new("userPromptTransformed", EventKind::PromptExpansion),
    EventRow::new("preToolUse", EventKind::PreToolUse),
    EventRow::new("permissionRequest", EventKind::PermissionRequest),
    EventRow::new("postToolUse", EventKind::PostToolUse),
    EventRow::new("postToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("preMcpToolCall", EventKind::McpRequest),
    EventRow::new("notification", EventKind::Notification),
    EventRow::new("agentStop", EventKind::Stop),
    EventRow::new("errorOccurred", EventKind::Error),
    EventRow::new("subagentStart", EventKind::SubagentStart),
    EventRow::new("subagentStop", EventKind::SubagentStop),
    EventRow::new("preCompact", EventKind::PreCompact),
];
