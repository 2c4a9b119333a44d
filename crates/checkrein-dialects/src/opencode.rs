//! opencode: plugin hooks and bus events.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "opencode",
    events: &[
        EventName { name: "session.created", kind: EventKind::SessionStart },
        EventName { name: "session.deleted", kind: EventKind::SessionEnd },
        EventName { name: "chat.message", kind: EventKind::PromptSubmit },
        EventName { name: "command.execute.before", kind: EventKind::PromptExpansion },
        EventName { name: "chat.params", kind: EventKind::BeforeModel },
        EventName { name: "chat.headers", kind: EventKind::BeforeModel },
        EventName { name: "experimental.chat.messages.transform", kind: EventKind::BeforeModel },
        EventName { name: "experimental.chat.system.transform", kind: EventKind::BeforeModel },
        EventName { name: "tool.execute.before", kind: EventKind::PreToolUse },
        EventName { name: "tool.execute.after", kind: EventKind::PostToolUse },
        EventName { name: "shell.env", kind: EventKind::ShellEnvironment },
        EventName { name: "file.edited", kind: EventKind::PostFileWrite },
        EventName { name: "file.watcher.updated", kind: EventKind::FileChanged },
        EventName { name: "permission.ask", kind: EventKind::PermissionRequest },
        EventName { name: "permission.asked", kind: EventKind::PermissionRequest },
        EventName { name: "tui.toast.show", kind: EventKind::Notification },
        EventName { name: "session.idle", kind: EventKind::Stop },
        EventName { name: "session.error", kind: EventKind::Error },
        EventName { name: "experimental.session.compacting", kind: EventKind::PreCompact },
        EventName { name: "session.compacted", kind: EventKind::PostCompact },
    ],
};
