//! Crush.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect =
    Dialect { name: "crush", events: &[EventName { name: "PreToolUse", kind: EventKind::PreToolUse }] };
