//! claw-code-go: callbacks in the process, and shell hooks for the three tool events.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "claw",
    events: &[
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PostToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "PostCompact", kind: EventKind::PostCompact },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "PrePluginInstall", kind: EventKind::PrePluginInstall },
        EventName { name: "PostPluginInstall", kind: EventKind::PostPluginInstall },
        EventName { name: "PrePluginUninstall", kind: EventKind::PrePluginUninstall },
        EventName { name: "PostPluginUninstall", kind: EventKind::PostPluginUninstall },
    ],
};
