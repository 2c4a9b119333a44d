//! Letta Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("letta", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("PreCompact", EventKind::PreCompact),
];
