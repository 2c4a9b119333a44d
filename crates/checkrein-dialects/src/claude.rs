//! Claude Code, whose shape most others imitate.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "claude",
    events: &[
        EventName { name: "SessionStart", kind: EventKind::SessionStart },
        EventName { name: "Setup", kind: EventKind::Setup },
        EventName { name: "SessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "InstructionsLoaded", kind: EventKind::InstructionsLoaded },
        EventName { name: "ConfigChange", kind: EventKind::ConfigChange },
        EventName { name: "CwdChanged", kind: EventKind::CwdChanged },
        EventName { name: "DirectoryAdded", kind: EventKind::DirectoryAdded },
        EventName { name: "FileChanged", kind: EventKind::FileChanged },
        EventName { name: "WorktreeCreate", kind: EventKind::WorktreeCreate },
        EventName { name: "WorktreeRemove", kind: EventKind::WorktreeRemove },
        EventName { name: "PreModelSwitch", kind: EventKind::PreModelSwitch },
        EventName { name: "PostModelSwitch", kind: EventKind::PostModelSwitch },
        EventName { name: "UserPromptSubmit", kind: EventKind::PromptSubmit },
        EventName { name: "UserPromptExpansion", kind: EventKind::PromptExpansion },
        EventName { name: "MessageDisplay", kind: EventKind::MessageDisplay },
        EventName { name: "Stop", kind: EventKind::Stop },
        EventName { name: "StopFailure", kind: EventKind::StopFailure },
        EventName { name: "PreCompact", kind: EventKind::PreCompact },
        EventName { name: "PostCompact", kind: EventKind::PostCompact },
        EventName { name: "Notification", kind: EventKind::Notification },
        EventName { name: "PreToolUse", kind: EventKind::PreToolUse },
        EventName { name: "PermissionRequest", kind: EventKind::PermissionRequest },
        EventName { name: "PermissionDenied", kind: EventKind::PermissionDenied },
        EventName { name: "PostToolUse", kind: EventKind::PostToolUse },
        EventName { name: "PostToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "PostToolBatch", kind: EventKind::PostToolBatch },
        EventName { name: "Elicitation", kind: EventKind::Elicitation },
        EventName { name: "ElicitationResult", kind: EventKind::ElicitationResult },
        EventName { name: "SubagentStart", kind: EventKind::SubagentStart },
        EventName { name: "SubagentStop", kind: EventKind::SubagentStop },
        EventName { name: "TaskCreated", kind: EventKind::TaskCreated },
        EventName { name: "TaskCompleted", kind: EventKind::TaskCompleted },
        EventName { name: "TeammateIdle", kind: EventKind::TeammateIdle },
    ],
};
