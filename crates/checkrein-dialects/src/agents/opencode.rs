//! opencode: plugin hooks and bus events. checkrein only knows their names.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// Dialect of opencode.
pub static DIALECT: Dialect = Dialect::named("opencode", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("session.created", EventKind::SessionStart),
    EventRow::new("session.deleted", EventKind::SessionEnd),
    EventRow::new("chat.message", EventKind::PromptSubmit),
    EventRow::new("command.execute.before", EventKind::PromptExpansion),
    EventRow::new("chat.params", EventKind::BeforeModel),
    EventRow::new("chat.headers", EventKind::BeforeModel),
    EventRow::new("experimental.chat.messages.transform", EventKind::BeforeModel),
    EventRow::new("experimental.chat.system.transform", EventKind::BeforeModel),
    EventRow::new("tool.execute.before", EventKind::PreToolUse),
    EventRow::new("tool.execute.after", EventKind::PostToolUse),
    EventRow::new("shell.env", EventKind::ShellEnvironment),
    EventRow::new("file.edited", EventKind::PostFileWrite),
    EventRow::new("file.watcher.updated", EventKind::FileChanged),
    EventRow::new("permission.ask", EventKind::PermissionRequest),
    EventRow::new("permission.asked", EventKind::PermissionRequest),
    EventRow::new("tui.toast.show", EventKind::Notification),
    EventRow::new("session.idle", EventKind::Stop),
    EventRow::new("session.error", EventKind::Error),
    EventRow::new("experimental.session.compacting", EventKind::PreCompact),
    EventRow::new("session.compacted", EventKind::PostCompact),
];
