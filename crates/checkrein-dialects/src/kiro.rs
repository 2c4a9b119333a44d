//! Kiro.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("kiro", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("PostFileCreate", EventKind::FileCreated),
    EventRow::new("PostFileSave", EventKind::FileSaved),
    EventRow::new("PostFileDelete", EventKind::FileDeleted),
    EventRow::new("PreTaskExec", EventKind::PreSpecTask),
    EventRow::new("PostTaskExec", EventKind::PostSpecTask),
    EventRow::new("Manual", EventKind::Manual),
];
