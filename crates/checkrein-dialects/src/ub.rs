//! ub.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("ub", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("pre_tool_call", EventKind::PreToolUse),
    EventRow::new("post_tool_call", EventKind::PostToolUse),
    EventRow::new("pre_user_turn", EventKind::UserTurnStart),
    EventRow::new("post_user_turn", EventKind::UserTurnEnd),
];
