//! ub.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "ub",
    events: &[
        EventName { name: "pre_tool_call", kind: EventKind::PreToolUse },
        EventName { name: "post_tool_call", kind: EventKind::PostToolUse },
        EventName { name: "pre_user_turn", kind: EventKind::UserTurnStart },
        EventName { name: "post_user_turn", kind: EventKind::UserTurnEnd },
    ],
};
