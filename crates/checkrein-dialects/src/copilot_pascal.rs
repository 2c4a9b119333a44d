//! GitHub Copilot CLI, in the spelling that selects the payload form of Claude Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("copilot@pascal", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("ErrorOccurred", EventKind::Error),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("PreCompact", EventKind::PreCompact),
];
