//! Claude Code, whose shape most others imitate.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("claude", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("Setup", EventKind::Setup),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("InstructionsLoaded", EventKind::InstructionsLoaded),
    EventRow::new("ConfigChange", EventKind::ConfigChange),
    EventRow::new("CwdChanged", EventKind::CwdChanged),
    EventRow::new("DirectoryAdded", EventKind::DirectoryAdded),
    EventRow::new("FileChanged", EventKind::FileChanged),
    EventRow::new("WorktreeCreate", EventKind::WorktreeCreate),
    EventRow::new("WorktreeRemove", EventKind::WorktreeRemove),
    EventRow::new("PreModelSwitch", EventKind::PreModelSwitch),
    EventRow::new("PostModelSwitch", EventKind::PostModelSwitch),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("UserPromptExpansion", EventKind::PromptExpansion),
    EventRow::new("MessageDisplay", EventKind::MessageDisplay),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("StopFailure", EventKind::StopFailure),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("PermissionDenied", EventKind::PermissionDenied),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("PostToolBatch", EventKind::PostToolBatch),
    EventRow::new("Elicitation", EventKind::Elicitation),
    EventRow::new("ElicitationResult", EventKind::ElicitationResult),
    EventRow::new("SubagentStart", EventKind::SubagentStart),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("TaskCreated", EventKind::TaskCreated),
    EventRow::new("TaskCompleted", EventKind::TaskCompleted),
    EventRow::new("TeammateIdle", EventKind::TeammateIdle),
];
