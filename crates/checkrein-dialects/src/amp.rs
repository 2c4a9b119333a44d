//! Amp: events of its plugins.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "amp",
    events: &[
        EventName { name: "session.start", kind: EventKind::SessionStart },
        EventName { name: "agent.start", kind: EventKind::PromptSubmit },
        EventName { name: "tool.call", kind: EventKind::PreToolUse },
        EventName { name: "tool.result", kind: EventKind::PostToolUse },
        EventName { name: "agent.end", kind: EventKind::Stop },
    ],
};
