//! Gemini CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("gemini", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("BeforeTool", EventKind::PreToolUse),
    EventRow::new("AfterTool", EventKind::PostToolUse),
    EventRow::new("BeforeAgent", EventKind::PromptSubmit),
    EventRow::new("AfterAgent", EventKind::Stop),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("PreCompress", EventKind::PreCompact),
    EventRow::new("BeforeModel", EventKind::BeforeModel),
    EventRow::new("AfterModel", EventKind::AfterModel),
    EventRow::new("BeforeToolSelection", EventKind::ToolSelection),
];
