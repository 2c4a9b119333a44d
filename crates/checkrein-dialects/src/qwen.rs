//! Qwen Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("qwen", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("PostToolBatch", EventKind::PostToolBatch),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("PermissionDenied", EventKind::PermissionDenied),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("UserPromptExpansion", EventKind::PromptExpansion),
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("SessionDelete", EventKind::SessionDelete),
    EventRow::new("SubagentStart", EventKind::SubagentStart),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("StopFailure", EventKind::StopFailure),
    EventRow::new("TodoCreated", EventKind::TodoCreated),
    EventRow::new("TodoCompleted", EventKind::TodoCompleted),
    EventRow::new("InstructionsLoaded", EventKind::InstructionsLoaded),
    EventRow::new("MessageDisplay", EventKind::MessageDisplay),
    EventRow::new("QueryEnd", EventKind::UserTurnEnd),
];
