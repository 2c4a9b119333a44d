//! Windsurf Cascade.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "windsurf",
    events: &[
        EventName { name: "pre_user_prompt", kind: EventKind::PromptSubmit },
        EventName { name: "pre_run_command", kind: EventKind::PreShell },
        EventName { name: "post_run_command", kind: EventKind::PostShell },
        EventName { name: "pre_mcp_tool_use", kind: EventKind::PreMcp },
        EventName { name: "post_mcp_tool_use", kind: EventKind::PostMcp },
        EventName { name: "pre_read_code", kind: EventKind::PreFileRead },
        EventName { name: "post_read_code", kind: EventKind::PostFileRead },
        EventName { name: "pre_write_code", kind: EventKind::PreFileWrite },
        EventName { name: "post_write_code", kind: EventKind::PostFileWrite },
        EventName { name: "post_cascade_response", kind: EventKind::Stop },
        EventName { name: "post_cascade_response_with_transcript", kind: EventKind::AgentResponse },
        EventName { name: "post_setup_worktree", kind: EventKind::WorktreeCreated },
    ],
};
