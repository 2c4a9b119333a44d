//! Amp: events of its plugins. checkrein only knows their names.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// Dialect of Amp.
pub static DIALECT: Dialect =
    Dialect { title: "Amp", evidence: crate::agents::evidence::AMP, ..Dialect::named("amp", EVENTS) };

const EVENTS: &[EventRow] = &[
    EventRow::new("session.start", EventKind::SessionStart),
    EventRow::new("agent.start", EventKind::PromptSubmit),
    EventRow::new("tool.call", EventKind::PreToolUse),
    EventRow::new("tool.result", EventKind::PostToolUse),
    EventRow::new("agent.end", EventKind::Stop),
];
