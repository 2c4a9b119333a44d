//! Cursor.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "cursor",
    events: &[
        EventName { name: "sessionStart", kind: EventKind::SessionStart },
        EventName { name: "sessionEnd", kind: EventKind::SessionEnd },
        EventName { name: "workspaceOpen", kind: EventKind::WorkspaceOpen },
        EventName { name: "beforeSubmitPrompt", kind: EventKind::PromptSubmit },
        EventName { name: "preToolUse", kind: EventKind::PreToolUse },
        EventName { name: "postToolUse", kind: EventKind::PostToolUse },
        EventName { name: "postToolUseFailure", kind: EventKind::PostToolFailure },
        EventName { name: "beforeShellExecution", kind: EventKind::PreShell },
        EventName { name: "afterShellExecution", kind: EventKind::PostShell },
        EventName { name: "beforeMCPExecution", kind: EventKind::PreMcp },
        EventName { name: "afterMCPExecution", kind: EventKind::PostMcp },
        EventName { name: "beforeReadFile", kind: EventKind::PreFileRead },
        EventName { name: "afterFileEdit", kind: EventKind::PostFileWrite },
        EventName { name: "stop", kind: EventKind::Stop },
        EventName { name: "subagentStart", kind: EventKind::SubagentStart },
        EventName { name: "subagentStop", kind: EventKind::SubagentStop },
        EventName { name: "preCompact", kind: EventKind::PreCompact },
        EventName { name: "afterAgentResponse", kind: EventKind::AgentResponse },
        EventName { name: "afterAgentThought", kind: EventKind::AgentThought },
        EventName { name: "beforeTabFileRead", kind: EventKind::PreTabRead },
        EventName { name: "afterTabFileEdit", kind: EventKind::PostTabEdit },
    ],
};
