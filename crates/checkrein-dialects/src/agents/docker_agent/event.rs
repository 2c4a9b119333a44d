//! Its events, what hooks may do there, and what they are given.

use checkrein_core::{EventKind, FailurePolicy, RunOrder};

use crate::payload::{FieldEncoding, FieldRow};
use crate::table::{EventRow, PlainTextUse};

/// An event of the newest generation at which hooks are matched with the tool.
const fn of_tool(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).matched().fields(fields)
}

/// An event at which hooks can only watch.
const fn watched(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).fields(fields)
}

/// An event at which text is context.
const fn told(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).fields(fields).plain(PlainTextUse::Context)
}

/// The newest. Where something can be rewritten, each hook sees what the one before made of it. Hooks of two events fail
/// closed whatever they say themselves.
pub(super) const NEWEST: &[EventRow] = &[
    of_tool("pre_tool_use", EventKind::PreToolUse, CALL)
        .blocks()
        .order(RunOrder::Pipeline)
        .failure_policy(FailurePolicy::Closed),
    of_tool("post_tool_use", EventKind::PostToolUse, OUTCOME).blocks(),
    told("session_start", EventKind::SessionStart, SESSION_START),
    told("turn_start", EventKind::TurnStart, TURN),
    watched("before_llm_call", EventKind::BeforeModel, MODEL_CALL).blocks().order(RunOrder::Pipeline),
    watched("after_llm_call", EventKind::AfterModel, MODEL_ANSWER),
    watched("session_end", EventKind::SessionEnd, REASON),
    watched("on_user_input", EventKind::UserInputNeeded, &[]),
    watched("stop", EventKind::Stop, RESPONSE),
    watched("notification", EventKind::Notification, NOTIFICATION),
    watched("on_error", EventKind::Error, ERROR),
    watched("on_max_iterations", EventKind::MaxIterations, LIMIT),
    of_tool("permission_request", EventKind::PermissionRequest, CALL).blocks(),
    told("user_prompt_submit", EventKind::PromptSubmit, PROMPT).blocks(),
    told("pre_compact", EventKind::PreCompact, PRE_COMPACT).blocks(),
    watched("subagent_stop", EventKind::SubagentStop, RESPONSE),
    watched("turn_end", EventKind::TurnEnd, TURN),
    watched("before_compaction", EventKind::BeforeCompaction, COMPACTION).blocks(),
    watched("after_compaction", EventKind::PostCompact, COMPACTION),
    of_tool("tool_response_transform", EventKind::ToolOutputTransform, OUTCOME).order(RunOrder::Pipeline),
    watched("on_agent_switch", EventKind::AgentSwitch, AGENT_SWITCH),
    watched("on_session_resume", EventKind::SessionResume, SESSION_RESUME),
    watched("on_tool_approval_decision", EventKind::ToolApprovalDecision, APPROVAL),
    told("worktree_create", EventKind::WorktreeCreate, WORKTREE).blocks(),
    told("user_steering_messages_submit", EventKind::SteeringSubmit, STEERING).blocks(),
    told("user_followup_submit", EventKind::FollowupSubmit, PROMPT).blocks(),
    of_tool("tool_input_transform", EventKind::ToolInputTransform, CALL).blocks().order(RunOrder::Pipeline),
    of_tool("tool_guard", EventKind::ToolGuard, CALL).blocks().failure_policy(FailurePolicy::Closed),
];

/// The twelve of the second generation.
pub(super) const G2: &[EventRow] = &[
    of_tool("pre_tool_use", EventKind::PreToolUse, G2_CALL).blocks().failure_policy(FailurePolicy::Closed),
    of_tool("post_tool_use", EventKind::PostToolUse, G2_OUTCOME).blocks().plain(PlainTextUse::Context),
    told("session_start", EventKind::SessionStart, G2_SESSION_START),
    told("turn_start", EventKind::TurnStart, &[]),
    watched("before_llm_call", EventKind::BeforeModel, &[]),
    watched("after_llm_call", EventKind::AfterModel, G2_MODEL_ANSWER),
    watched("session_end", EventKind::SessionEnd, REASON),
    watched("on_user_input", EventKind::UserInputNeeded, &[]),
    told("stop", EventKind::Stop, RESPONSE),
    watched("notification", EventKind::Notification, NOTIFICATION),
    watched("on_error", EventKind::Error, G2_ERROR),
    watched("on_max_iterations", EventKind::MaxIterations, G2_LIMIT),
];

/// A field that is left out if it is empty, as all but the first three are.
const fn field(name: &'static str) -> FieldRow {
    FieldRow::same(name).unless_empty()
}

const fn named(name: &'static str, from: &'static str) -> FieldRow {
    FieldRow::named(name, from).unless_empty()
}

const INPUT: FieldRow = FieldRow::same("tool_input").unless_void();
/// An empty text is a response too.
const TOOL_RESPONSE: FieldRow = FieldRow::same("tool_response");
const STOP_RESPONSE: FieldRow = named("stop_response", "last_assistant_message");
const MODEL_RESPONSE: FieldRow = named("stop_response", "response").form(FieldEncoding::Text);
const MODEL: FieldRow = named("model_id", "model");
const LEVEL: FieldRow = named("notification_level", "level");
const MESSAGE: FieldRow = named("notification_message", "message");
const ERROR_MESSAGE: FieldRow = named("notification_message", "error");
const CONTEXT_LIMIT: FieldRow = field("context_limit");

const CALL: &[FieldRow] = &[
    field("tool_name"),
    field("tool_use_id"),
    INPUT,
    field("tool_category"),
    field("tool_read_only"),
    field("safety_policy"),
];
const OUTCOME: &[FieldRow] = &[
    field("tool_name"),
    field("tool_use_id"),
    INPUT,
    TOOL_RESPONSE,
    named("tool_error", "is_error"),
    field("tool_category"),
    field("tool_read_only"),
    field("safety_policy"),
];
const APPROVAL: &[FieldRow] = &[
    field("tool_name"),
    field("tool_use_id"),
    INPUT,
    field("approval_decision"),
    field("approval_source"),
    field("safety_label"),
];
const SESSION_START: &[FieldRow] = &[field("source"), MODEL];
const SESSION_RESUME: &[FieldRow] = &[field("source"), field("previous_max_iterations"), field("new_max_iterations")];
const REASON: &[FieldRow] = &[field("reason")];
const RESPONSE: &[FieldRow] = &[STOP_RESPONSE];
const NOTIFICATION: &[FieldRow] = &[LEVEL, MESSAGE];
/// It is fired beside a notification, and says the same.
const ERROR: &[FieldRow] =
    &[FieldRow::named("notification_level", "level").or("\"error\""), ERROR_MESSAGE, field("iteration")];
const LIMIT: &[FieldRow] =
    &[FieldRow::named("notification_level", "level").or("\"warning\""), ERROR_MESSAGE, field("iteration")];
const PROMPT: &[FieldRow] = &[field("prompt")];
const STEERING: &[FieldRow] = &[field("prompt"), FieldRow::named("steering_messages", "messages").unless_void()];
const TURN: &[FieldRow] = &[
    MODEL,
    field("iteration"),
    field("reason"),
    FieldRow::same("usage").unless_void(),
    // Absent is unknown, 0 is free.
    FieldRow::same("cost"),
    field("input_tokens"),
    field("output_tokens"),
    CONTEXT_LIMIT,
];
const MODEL_CALL: &[FieldRow] = &[MODEL, field("iteration"), FieldRow::same("messages").unless_void()];
const MODEL_ANSWER: &[FieldRow] =
    &[MODEL, MODEL_RESPONSE, field("iteration"), FieldRow::same("usage").unless_void(), FieldRow::same("cost")];
const PRE_COMPACT: &[FieldRow] = &[named("source", "trigger"), named("input_tokens", "context_tokens"), CONTEXT_LIMIT];
const COMPACTION: &[FieldRow] = &[
    named("compaction_reason", "trigger"),
    named("input_tokens", "context_tokens"),
    field("output_tokens"),
    CONTEXT_LIMIT,
    field("summary"),
];
const AGENT_SWITCH: &[FieldRow] = &[
    field("from_agent"),
    field("to_agent"),
    field("agent_switch_kind"),
    FieldRow::same("from_agent_models").unless_void(),
];
const WORKTREE: &[FieldRow] = &[field("worktree_path"), field("worktree_branch"), field("worktree_source_dir")];

const G2_CALL: &[FieldRow] = &[field("tool_name"), field("tool_use_id"), INPUT];
const G2_OUTCOME: &[FieldRow] = &[field("tool_name"), field("tool_use_id"), INPUT, TOOL_RESPONSE];
const G2_SESSION_START: &[FieldRow] = &[field("source")];
const G2_MODEL_ANSWER: &[FieldRow] = &[MODEL_RESPONSE];
const G2_ERROR: &[FieldRow] = &[FieldRow::named("notification_level", "level").or("\"error\""), ERROR_MESSAGE];
const G2_LIMIT: &[FieldRow] = &[FieldRow::named("notification_level", "level").or("\"warning\""), ERROR_MESSAGE];
