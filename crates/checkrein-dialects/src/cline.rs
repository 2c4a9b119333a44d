//! Cline: file names of the extension, event names of its SDK.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("cline", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("TaskStart", EventKind::SessionStart),
    EventRow::new("TaskResume", EventKind::SessionResume),
    EventRow::new("TaskCancel", EventKind::TurnCancelled),
    EventRow::new("TaskComplete", EventKind::Stop),
    EventRow::new("TaskError", EventKind::Error),
    EventRow::new("SessionShutdown", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("agent_start", EventKind::SessionStart),
    EventRow::new("agent_resume", EventKind::SessionResume),
    EventRow::new("agent_abort", EventKind::TurnCancelled),
    EventRow::new("agent_end", EventKind::Stop),
    EventRow::new("agent_error", EventKind::Error),
    EventRow::new("session_shutdown", EventKind::SessionEnd),
    EventRow::new("prompt_submit", EventKind::PromptSubmit),
    EventRow::new("tool_call", EventKind::PreToolUse),
    EventRow::new("tool_result", EventKind::PostToolUse),
    EventRow::new("beforeModel", EventKind::BeforeModel),
];
