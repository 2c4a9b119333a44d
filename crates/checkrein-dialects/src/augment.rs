//! Augment (auggie).

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("augment", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("PromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("Stop", EventKind::Stop),
];
