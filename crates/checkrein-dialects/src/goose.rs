//! goose.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "goose",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PostToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "BeforeShellExecution", kind: EventKind::PreShell },
        EventName { name: "AfterShellExecution", kind: EventKind::PostShell },
        EventName { name: "BeforeReadFile", kind: EventKind::PreFileRead },
        EventName { name: "AfterFileEdit", kind: EventKind::PostFileWrite },
        EventName { name: "Stop", kind: EventKind::Stop },
    ],
};
