//! Cursor.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("cursor", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", EventKind::SessionStart),
    EventRow::new("sessionEnd", EventKind::SessionEnd),
    EventRow::new("workspaceOpen", EventKind::WorkspaceOpen),
    EventRow::new("beforeSubmitPrompt", EventKind::PromptSubmit),
    EventRow::new("preToolUse", EventKind::PreToolUse),
    EventRow::new("postToolUse", EventKind::PostToolUse),
    EventRow::new("postToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("beforeShellExecution", EventKind::PreShell),
    EventRow::new("afterShellExecution", EventKind::PostShell),
    EventRow::new("beforeMCPExecution", EventKind::PreMcp),
    EventRow::new("afterMCPExecution", EventKind::PostMcp),
    EventRow::new("beforeReadFile", EventKind::PreFileRead),
    EventRow::new("afterFileEdit", EventKind::PostFileWrite),
    EventRow::new("stop", EventKind::Stop),
    EventRow::new("subagentStart", EventKind::SubagentStart),
    EventRow::new("subagentStop", EventKind::SubagentStop),
    EventRow::new("preCompact", EventKind::PreCompact),
    EventRow::new("afterAgentResponse", EventKind::AgentResponse),
    EventRow::new("afterAgentThought", EventKind::AgentThought),
    EventRow::new("beforeTabFileRead", EventKind::PreTabRead),
    EventRow::new("afterTabFileEdit", EventKind::PostTabEdit),
];
