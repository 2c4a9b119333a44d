//! Agent hooks of VS Code.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("vscode", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("SubagentStart", EventKind::SubagentStart),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("Stop", EventKind::Stop),
];
