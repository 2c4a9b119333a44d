//! claw-code-go: callbacks in the process, and shell hooks for the three tool events.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("claw", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("PrePluginInstall", EventKind::PrePluginInstall),
    EventRow::new("PostPluginInstall", EventKind::PostPluginInstall),
    EventRow::new("PrePluginUninstall", EventKind::PrePluginUninstall),
    EventRow::new("PostPluginUninstall", EventKind::PostPluginUninstall),
];
