//! docker-agent, once cagent.

use checkrein_core::EventKind;

use crate::{Dialect, EventName};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "docker-agent",
    events: &[
        EventName { name: "pre_tool_use", kind: EventKind::PreToolUse },
        EventName { name: "post_tool_use", kind: EventKind::PostToolUse },
        EventName { name: "session_start", kind: EventKind::SessionStart },
        EventName { name: "turn_start", kind: EventKind::TurnStart },
        EventName { name: "before_llm_call", kind: EventKind::BeforeModel },
        EventName { name: "after_llm_call", kind: EventKind::AfterModel },
        EventName { name: "session_end", kind: EventKind::SessionEnd },
        EventName { name: "on_user_input", kind: EventKind::UserInputNeeded },
        EventName { name: "stop", kind: EventKind::Stop },
        EventName { name: "notification", kind: EventKind::Notification },
        EventName { name: "on_error", kind: EventKind::Error },
        EventName { name: "on_max_iterations", kind: EventKind::MaxIterations },
        EventName { name: "permission_request", kind: EventKind::PermissionRequest },
        EventName { name: "user_prompt_submit", kind: EventKind::PromptSubmit },
        EventName { name: "pre_compact", kind: EventKind::PreCompact },
        EventName { name: "subagent_stop", kind: EventKind::SubagentStop },
        EventName { name: "turn_end", kind: EventKind::TurnEnd },
        EventName { name: "before_compaction", kind: EventKind::BeforeCompaction },
        EventName { name: "after_compaction", kind: EventKind::PostCompact },
        EventName { name: "tool_response_transform", kind: EventKind::ToolOutputTransform },
        EventName { name: "on_agent_switch", kind: EventKind::AgentSwitch },
        EventName { name: "on_session_resume", kind: EventKind::SessionResume },
        EventName { name: "on_tool_approval_decision", kind: EventKind::ToolApprovalDecision },
        EventName { name: "worktree_create", kind: EventKind::WorktreeCreate },
        EventName { name: "user_steering_messages_submit", kind: EventKind::SteeringSubmit },
        EventName { name: "user_followup_submit", kind: EventKind::FollowupSubmit },
        EventName { name: "tool_input_transform", kind: EventKind::ToolInputTransform },
        EventName { name: "tool_guard", kind: EventKind::ToolGuard },
    ],
};
