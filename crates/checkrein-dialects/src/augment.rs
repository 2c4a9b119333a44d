//! Augment (auggie).

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "augment",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "PromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "Stop", kind: EventKind::Stop },
    ],
};
