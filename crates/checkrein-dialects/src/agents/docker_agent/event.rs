//! Events of both generations: possible effects of hooks, and payload fields.

use checkrein_core::{EventKind, FailurePolicy, RunOrder};

use crate::payload::{FieldEncoding, FieldRow};
use crate::table::{EventRow, PlainTextUse};

/// An event of the newest generation with a matcher for the tool.
const fn tool_event(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).matched().fields(fields)
}

/// An event at which hooks have no effect.
const fn observe_event(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).fields(fields)
}

/// An event at which plain text is context.
const fn context_event(name: &'static str, kind: EventKind, fields: &'static [FieldRow]) -> EventRow {
    EventRow::new(name, kind).fields(fields).plain(PlainTextUse::Context)
}

/// Events of the newest generation. If an event allows rewrites, each hook gets the result of the previous one. Two events
/// always fail closed.
pub(super) const NEWEST: &[EventRow] = &[
    tool_event("pre_tool_use", EventKind::PreToolUse, CALL)
        .blocks()
        .order(RunOrder::Pipeline)
        .failure_policy(FailurePolicy::Closed),
    tool_event("post_tool_use", EventKind::PostToolUse, OUTCOME).blocks(),
    context_event("session_start", EventKind::SessionStart, SESSION_START),
    context_event("turn_start", EventKind::TurnStart, TURN),
    observe_event("before_llm_call", EventKind::BeforeModel, MODEL_CALL).blocks().order(RunOrder::Pipeline),
    observe_event("after_llm_call", EventKind::AfterModel, MODEL_ANSWER),
    observe_event("session_end", EventKind::SessionEnd, REASON),
    observe_event("on_user_input", EventKind::UserInputNeeded, &[]),
    observe_event("stop", EventKind::Stop, RESPONSE),
    observe_event("notification", EventKind::Notification, NOTIFICATION),
    observe_event("on_error", EventKind::Error, ERROR),
    observe_event("on_max_iterations", EventKind::MaxIterations, LIMIT),
    tool_event("permission_request", EventKind::PermissionRequest, CALL).blocks(),
    context_event("user_prompt_submit", EventKind::PromptSubmit, PROMPT).blocks(),
    context_event("pre_compact", EventKind::PreCompact, PRE_COMPACT).blocks(),
    observe_event("subagent_stop", EventKind::SubagentStop, RESPONSE),
    observe_event("turn_end", EventKind::TurnEnd, TURN),
    observe_event("before_compaction", EventKind::BeforeCompaction, COMPACTION).blocks(),
    observe_event("after_compaction", EventKind::PostCompact, COMPACTION),
    tool_event("tool_response_transform", EventKind::ToolOutputTransform, OUTCOME).order(RunOrder::Pipeline),
    observe_event("on_agent_switch", EventKind::AgentSwitch, AGENT_SWITCH),
    observe_event("on_session_resume", EventKind::SessionResume, SESSION_RESUME),
    observe_event("on_tool_approval_decision", EventKind::ToolApprovalDecision, APPROVAL),
    context_event("worktree_create", EventKind::WorktreeCreate, WORKTREE).blocks(),
    context_event("user_steering_messages_submit", EventKind::SteeringSubmit, STEERING).blocks(),
    context_event("user_followup_submit", EventKind::FollowupSubmit, PROMPT).blocks(),
    tool_event("tool_input_transform", EventKind::ToolInputTransform, CALL).blocks().order(RunOrder::Pipeline),
    tool_event("tool_guard", EventKind::ToolGuard, CALL).blocks().failure_policy(FailurePolicy::Closed),
];

/// The twelve events of the second generation.
pub(super) const G2: &[EventRow] = &[
    tool_event("pre_tool_use", EventKind::PreToolUse, G2_CALL).blocks().failure_policy(FailurePolicy::Closed),
    tool_event("post_tool_use", EventKind::PostToolUse, G2_OUTCOME).blocks().plain(PlainTextUse::Context),
    context_event("session_start", EventKind::SessionStart, G2_SESSION_START),
    context_event("turn_start", EventKind::TurnStart, &[]),
    observe_event("before_llm_call", EventKind::BeforeModel, &[]),
    observe_event("after_llm_call", EventKind::AfterModel, G2_MODEL_ANSWER),
    observe_event("session_end", EventKind::SessionEnd, REASON),
    observe_event("on_user_input", EventKind::UserInputNeeded, &[]),
    context_event("stop", EventKind::Stop, RESPONSE),
    observe_event("notification", EventKind::Notification, NOTIFICATION),
    observe_event("on_error", EventKind::Error, G2_ERROR),
    observe_event("on_max_iterations", EventKind::MaxIterations, G2_LIMIT),
];

/// A field that is omitted if it is empty, as all but the first three are.
const fn field(name: &'static str) -> FieldRow {
    FieldRow::same(name).unless_empty()
}

const fn named(name: &'static str, from: &'static str) -> FieldRow {
    FieldRow::named(name, from).unless_empty()
}

const INPUT: FieldRow = FieldRow::same("tool_input").unless_void();
/// The tool response. An empty text is valid.
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
/// Fields of `on_error`, which fires together with a notification of the same content.
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
    // A missing value is unknown, and 0 is free of charge.
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
