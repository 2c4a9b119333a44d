//! Crush.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("crush", EVENTS);

const EVENTS: &[EventRow] = &[EventRow::new("PreToolUse", EventKind::PreToolUse)];
