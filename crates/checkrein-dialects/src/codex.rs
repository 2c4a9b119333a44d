//! Codex CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("codex", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("SubagentStart", EventKind::SubagentStart),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("Interrupt", EventKind::TurnCancelled),
];
