//! evva.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("evva", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("Notification", EventKind::Notification),
];
