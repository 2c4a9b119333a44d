//! Windsurf Cascade.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("windsurf", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("pre_user_prompt", EventKind::PromptSubmit),
    EventRow::new("pre_run_command", EventKind::PreShell),
    EventRow::new("post_run_command", EventKind::PostShell),
    EventRow::new("pre_mcp_tool_use", EventKind::PreMcp),
    EventRow::new("post_mcp_tool_use", EventKind::PostMcp),
    EventRow::new("pre_read_code", EventKind::PreFileRead),
    EventRow::new("post_read_code", EventKind::PostFileRead),
    EventRow::new("pre_write_code", EventKind::PreFileWrite),
    EventRow::new("post_write_code", EventKind::PostFileWrite),
    EventRow::new("post_cascade_response", EventKind::Stop),
    EventRow::new("post_cascade_response_with_transcript", EventKind::AgentResponse),
    EventRow::new("post_setup_worktree", EventKind::WorktreeCreated),
];
