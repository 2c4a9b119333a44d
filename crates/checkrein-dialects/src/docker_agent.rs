//! docker-agent, once cagent.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("docker-agent", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("pre_tool_use", EventKind::PreToolUse),
    EventRow::new("post_tool_use", EventKind::PostToolUse),
    EventRow::new("session_start", EventKind::SessionStart),
    EventRow::new("turn_start", EventKind::TurnStart),
    EventRow::new("before_llm_call", EventKind::BeforeModel),
    EventRow::new("after_llm_call", EventKind::AfterModel),
    EventRow::new("session_end", EventKind::SessionEnd),
    EventRow::new("on_user_input", EventKind::UserInputNeeded),
    EventRow::new("stop", EventKind::Stop),
    EventRow::new("notification", EventKind::Notification),
    EventRow::new("on_error", EventKind::Error),
    EventRow::new("on_max_iterations", EventKind::MaxIterations),
    EventRow::new("permission_request", EventKind::PermissionRequest),
    EventRow::new("user_prompt_submit", EventKind::PromptSubmit),
    EventRow::new("pre_compact", EventKind::PreCompact),
    EventRow::new("subagent_stop", EventKind::SubagentStop),
    EventRow::new("turn_end", EventKind::TurnEnd),
    EventRow::new("before_compaction", EventKind::BeforeCompaction),
    EventRow::new("after_compaction", EventKind::PostCompact),
    EventRow::new("tool_response_transform", EventKind::ToolOutputTransform),
    EventRow::new("on_agent_switch", EventKind::AgentSwitch),
    EventRow::new("on_session_resume", EventKind::SessionResume),
    EventRow::new("on_tool_approval_decision", EventKind::ToolApprovalDecision),
    EventRow::new("worktree_create", EventKind::WorktreeCreate),
    EventRow::new("user_steering_messages_submit", EventKind::SteeringSubmit),
    EventRow::new("user_followup_submit", EventKind::FollowupSubmit),
    EventRow::new("tool_input_transform", EventKind::ToolInputTransform),
    EventRow::new("tool_guard", EventKind::ToolGuard),
];
