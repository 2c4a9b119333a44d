//! GitHub Copilot CLI, with event names in PascalCase (`PreToolUse`), which select the payload format of Claude Code.
//!
//! Permission requests have the other format anyway, with the agent's own tool names.

use checkrein_core::{Decision, EventKind, Grammar, NameList, Syntax, Target};

use crate::agents::copilot::{self, BEHAVIOR, CONTEXT, COPILOT, CREATE, EDIT, RESULT_TEXT, TASK, VIEW, WORDS};
use crate::config::{ConfigTable, FileFormat, HookFileLayout};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, Key, KeyMeaning, ReplyTable};
use crate::table::{Dialect, EventRow, ToolRow};

/// Dialect of GitHub Copilot CLI with event names of Claude Code.
pub static DIALECT: Dialect = Dialect {
    name: "copilot@pascal",
    evidence: crate::agents::evidence::COPILOT,
    facts: Some(crate::agents::evidence::COPILOT_FACTS),
    events: EVENTS,
    tools: TOOLS,
    matcher: Grammar::new(&["*", "**"], Some(NameList { also: "", separators: "|", trim: false }), Syntax::RegexWhole),
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable { keys: KEYS, ..COPILOT.reply },
    config: ConfigTable { format: FileFormat::Layout(&LAYOUT), ..COPILOT.config },
    ..COPILOT
};

/// Tools. Matchers match the name in the payload and the agent's own name of the tool.
const TOOLS: &[ToolRow] = &[
    ToolRow::new("Bash", &["bash"]).observed().aliases(&["bash"]),
    ToolRow::new("Write", &["create"]).observed().aliases(&["create"]).takes(CREATE),
    ToolRow::new("Edit", &["edit", "str_replace_editor", "apply_patch"])
        .aliases(&["edit", "str_replace_editor", "apply_patch"])
        .takes(EDIT),
    ToolRow::new("Read", &["view"]).aliases(&["view"]).takes(VIEW),
    ToolRow::new("Grep", &["grep", "rg"]).aliases(&["grep", "rg"]),
    ToolRow::new("Glob", &["glob"]).aliases(&["glob"]),
    ToolRow::new("Agent", &["task", "Task"]).aliases(&["task", "Task"]).takes(TASK),
    ToolRow::new("WebFetch", &["web_fetch"]).aliases(&["web_fetch"]),
    ToolRow::new("WebSearch", &["web_search"]).aliases(&["web_search"]),
    ToolRow::new("AskUserQuestion", &["ask_user"]).aliases(&["ask_user"]),
    // Names in permission requests.
    ToolRow::new("bash", &["Bash"]).aliases(&["Bash"]),
    ToolRow::new("create", &["Write"]).aliases(&["Write"]).takes(CREATE),
    ToolRow::new("edit", &["Edit", "Write"]).aliases(&["Edit", "Write"]).takes(EDIT),
    ToolRow::new("view", &["Read"]).aliases(&["Read"]).takes(VIEW),
];

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("timestamp"),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::same("transcript_path"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];
const CALL: [FieldRow; 2] = [FieldRow::same("tool_name"), FieldRow::same("tool_input")];
const STOP: [FieldRow; 3] = [
    FieldRow::named("stop_reason", "reason"),
    FieldRow::same("stop_hook_active").or("false"),
    FieldRow::same("last_assistant_message"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .fields(&[FieldRow::same("source"), FieldRow::same("initial_prompt")])
        .observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]).observed(),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).fields(&[FieldRow::same("prompt")]).observed(),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&CALL).observed(),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .event_field("hookName", "permissionRequest")
        .replaces_common_fields(copilot::COMMON)
        .fields(copilot::REQUEST)
        .observed(),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .fields(&[CALL[0], CALL[1], FieldRow::named("tool_result", "tool_response")])
        .observed(),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure).matched().fields(&[
        CALL[0],
        CALL[1],
        FieldRow::same("error"),
    ]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(&STOP).observed(),
    EventRow::new("ErrorOccurred", EventKind::Error).fields(&[
        FieldRow::named("error_context", "error_type"),
        FieldRow::same("recoverable"),
        FieldRow::named("error.message", "error"),
        FieldRow::named("error.name", "error_name"),
        FieldRow::named("error.stack", "error_details"),
    ]),
    EventRow::new("SubagentStop", EventKind::SubagentStop).matched().blocks().fields(&[
        STOP[1],
        STOP[2],
        FieldRow::same("response"),
    ]),
    EventRow::new("PreCompact", EventKind::PreCompact)
        .matched()
        .fields(&[FieldRow::same("trigger"), FieldRow::same("custom_instructions")]),
];

const CALL_ONLY: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const STOPS: EventScope = EventScope::Kinds(&[EventKind::Stop, EventKind::SubagentStop]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(&["hookSpecificOutput.permissionDecision", "permissionDecision"], KeyMeaning::Decision(WORDS))
        .at(CALL_ONLY),
    Key::new(&["hookSpecificOutput.permissionDecisionReason", "permissionDecisionReason"], KeyMeaning::Reason)
        .at(CALL_ONLY),
    Key::new(&["behavior", "hookSpecificOutput.decision.behavior"], KeyMeaning::Decision(BEHAVIOR)).at(REQUEST),
    Key::new(&["message", "hookSpecificOutput.decision.message"], KeyMeaning::Reason).at(REQUEST),
    Key::new(&["interrupt"], KeyMeaning::Flag(true, Decision::Halt)).at(REQUEST).parse_only(),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(STOPS),
    Key::new(&["reason"], KeyMeaning::Reason).at(STOPS),
    // Beside `ask`, the agent asks about the old input and runs it.
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input))
        .at(CALL_ONLY)
        .only_with(&[Decision::NoOpinion, Decision::Allow]),
    Key::new(&["modifiedResult"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .wrapped_in("textResultForLlm", &[("resultType", "\"success\"")])
        .text_in(RESULT_TEXT),
    Key::new(&["additionalContext", "hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(CONTEXT),
];

static LAYOUT: HookFileLayout = HookFileLayout { sibling: Some(&copilot::DIALECT), ..copilot::BASE_LAYOUT };
