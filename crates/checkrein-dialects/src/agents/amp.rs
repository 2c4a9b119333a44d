//! Amp: events of its plugins.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::named("amp", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("session.start", EventKind::SessionStart),
    EventRow::new("agent.start", EventKind::PromptSubmit),
    EventRow::new("tool.call", EventKind::PreToolUse),
    EventRow::new("tool.result", EventKind::PostToolUse),
    EventRow::new("agent.end", EventKind::Stop),
];
