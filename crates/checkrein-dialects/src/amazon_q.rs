//! Amazon Q Developer CLI.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("amazon-q", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("agentSpawn", EventKind::SessionStart),
    EventRow::new("userPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("preToolUse", EventKind::PreToolUse),
    EventRow::new("postToolUse", EventKind::PostToolUse),
    EventRow::new("stop", EventKind::Stop),
    EventRow::new("fileCreated", EventKind::FileCreated),
    EventRow::new("fileEdited", EventKind::FileSaved),
];
