//! Events of Claude Code: payload fields, and possible effects of a hook.

use checkrein_core::{DecisionRule, EventKind, FailurePolicy};

use crate::payload::FieldRow;
use crate::table::{EventRow, PlainTextUse};

/// Fields of a tool call.
const TOOL: &[FieldRow] = &[
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("mcp_server"),
];
const REQUEST: &[FieldRow] = &[
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("permission_suggestions"),
    FieldRow::same("mcp_server"),
];
const DENIED: &[FieldRow] = &[
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("reason"),
    FieldRow::same("mcp_server"),
];
const DONE: &[FieldRow] = &[
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_response").or("null"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("duration_ms"),
    FieldRow::same("mcp_server"),
];
const FAILED: &[FieldRow] = &[
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("error"),
    FieldRow::same("is_interrupt"),
    FieldRow::same("duration_ms"),
    FieldRow::same("mcp_server"),
];
const STOP: &[FieldRow] = &[
    FieldRow::same("stop_hook_active").or("false"),
    FieldRow::same("last_assistant_message"),
    FieldRow::same("background_tasks"),
    FieldRow::same("session_crons"),
];
const SUBAGENT_STOP: &[FieldRow] = &[
    FieldRow::same("stop_hook_active").or("false"),
    FieldRow::same("last_assistant_message"),
    FieldRow::same("agent_transcript_path"),
];
const MODEL: &[FieldRow] = &[
    FieldRow::same("from_model"),
    FieldRow::same("to_model"),
    FieldRow::same("requested_model"),
    FieldRow::same("source"),
    FieldRow::same("context_tokens"),
    FieldRow::same("prompt_cache_warm"),
    FieldRow::same("cache_ttl"),
    FieldRow::same("estimated_cache_write_usd"),
];
const ELICITATION: &[FieldRow] = &[
    FieldRow::same("mcp_server_name"),
    FieldRow::same("message"),
    FieldRow::same("mode"),
    FieldRow::same("url"),
    FieldRow::same("elicitation_id"),
    FieldRow::same("requested_schema"),
    FieldRow::same("action"),
    FieldRow::same("content"),
];
const TASK: &[FieldRow] = &[
    FieldRow::same("task_id"),
    FieldRow::same("task_subject"),
    FieldRow::same("task_description"),
    FieldRow::same("teammate_name"),
    FieldRow::same("team_name"),
];

/// Events in the order of the documentation.
pub(super) const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .since("1.0.62")
        .observed()
        .matched()
        .plain(PlainTextUse::Context)
        .fields(&[
            FieldRow::same("source"),
            FieldRow::same("model"),
            FieldRow::same("session_title"),
            FieldRow::same("context_tokens"),
        ]),
    EventRow::new("Setup", EventKind::Setup).since("2.1.10").matched().fields(&[FieldRow::same("trigger")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd)
        .since("1.0.85")
        .observed()
        .matched()
        .within_ms(1500)
        .fields(&[FieldRow::same("reason")]),
    EventRow::new("InstructionsLoaded", EventKind::InstructionsLoaded).since("2.1.69").observed().matched().fields(&[
        FieldRow::same("file_path"),
        FieldRow::same("memory_type"),
        FieldRow::same("load_reason"),
        FieldRow::same("globs"),
        FieldRow::same("trigger_file_path"),
        FieldRow::same("parent_file_path"),
    ]),
    EventRow::new("ConfigChange", EventKind::ConfigChange)
        .since("2.1.49")
        .matched()
        .blocks()
        .fields(&[FieldRow::same("source"), FieldRow::same("file_path")]),
    EventRow::new("CwdChanged", EventKind::CwdChanged)
        .since("2.1.83")
        .fields(&[FieldRow::same("old_cwd"), FieldRow::same("new_cwd")]),
    EventRow::new("DirectoryAdded", EventKind::DirectoryAdded)
        .since("2.1.219")
        .matched()
        .fields(&[FieldRow::same("directory"), FieldRow::same("source")]),
    EventRow::new("FileChanged", EventKind::FileChanged)
        .since("2.1.83")
        .matched()
        .fields(&[FieldRow::same("file_path"), FieldRow::named("event", "change")]),
    EventRow::new("WorktreeCreate", EventKind::WorktreeCreate)
        .since("2.1.50")
        .blocks()
        .plain(PlainTextUse::LastLine)
        .fields(&[FieldRow::same("name")]),
    EventRow::new("WorktreeRemove", EventKind::WorktreeRemove)
        .since("2.1.50")
        .fields(&[FieldRow::same("worktree_path")]),
    EventRow::new("PreModelSwitch", EventKind::PreModelSwitch)
        .since("2.1.251")
        .matched_as(canonical_model)
        .blocks()
        .within_ms(30_000)
        .on_timeout(FailurePolicy::Closed)
        .fields(MODEL),
    EventRow::new("PostModelSwitch", EventKind::PostModelSwitch)
        .since("2.1.251")
        .matched_as(canonical_model)
        .plain(PlainTextUse::Context)
        .within_ms(30_000)
        .fields(MODEL),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .since("1.0.54")
        .observed()
        .blocks()
        .plain(PlainTextUse::Context)
        .within_ms(30_000)
        .fields(&[FieldRow::same("prompt"), FieldRow::same("session_title")]),
    EventRow::new("UserPromptExpansion", EventKind::PromptExpansion)
        .matched()
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[
            FieldRow::same("expansion_type"),
            FieldRow::same("command_name"),
            FieldRow::same("command_args"),
            FieldRow::same("command_source"),
            FieldRow::same("prompt"),
        ]),
    EventRow::new("MessageDisplay", EventKind::MessageDisplay).since("2.1.152").within_ms(10_000).fields(&[
        FieldRow::same("turn_id"),
        FieldRow::same("message_id"),
        FieldRow::same("index"),
        FieldRow::named("final", "is_final"),
        FieldRow::named("delta", "text"),
    ]),
    EventRow::new("Stop", EventKind::Stop).since("1.0.38").observed().blocks().fields(STOP),
    EventRow::new("StopFailure", EventKind::StopFailure).since("2.1.78").observed().matched().fields(&[
        FieldRow::named("error", "error_type"),
        FieldRow::same("error_details"),
        FieldRow::same("last_assistant_message"),
    ]),
    EventRow::new("PreCompact", EventKind::PreCompact)
        .since("1.0.48")
        .observed()
        .matched()
        .blocks()
        .fields(&[FieldRow::same("trigger"), FieldRow::same("custom_instructions").or("null")]),
    EventRow::new("PostCompact", EventKind::PostCompact)
        .since("2.1.76")
        .observed()
        .matched()
        .fields(&[FieldRow::same("trigger"), FieldRow::named("compact_summary", "summary")]),
    EventRow::new("Notification", EventKind::Notification).since("1.0.38").observed().matched().fields(&[
        FieldRow::same("message"),
        FieldRow::same("title"),
        FieldRow::same("notification_type"),
    ]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).since("1.0.38").observed().matched().blocks().fields(TOOL),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .since("2.0.45")
        .observed()
        .matched()
        .blocks()
        .settle(DecisionRule::AnyDenyElseLastAllow)
        .fields(REQUEST),
    EventRow::new("PermissionDenied", EventKind::PermissionDenied).since("2.1.89").matched().fields(DENIED),
    EventRow::new("PostToolUse", EventKind::PostToolUse).since("1.0.38").observed().matched().blocks().fields(DONE),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure).observed().matched().blocks().fields(FAILED),
    EventRow::new("PostToolBatch", EventKind::PostToolBatch)
        .observed()
        .blocks()
        .fields(&[FieldRow::same("tool_calls")]),
    EventRow::new("Elicitation", EventKind::Elicitation).since("2.1.76").matched().blocks().fields(ELICITATION),
    EventRow::new("ElicitationResult", EventKind::ElicitationResult)
        .since("2.1.76")
        .matched()
        .blocks()
        .fields(ELICITATION),
    EventRow::new("SubagentStart", EventKind::SubagentStart).since("2.0.43").observed().matched(),
    EventRow::new("SubagentStop", EventKind::SubagentStop)
        .since("1.0.41")
        .observed()
        .matched()
        .blocks()
        .fields(SUBAGENT_STOP),
    EventRow::new("TaskCreated", EventKind::TaskCreated).since("2.1.84").blocks().fields(TASK),
    EventRow::new("TaskCompleted", EventKind::TaskCompleted).since("2.1.33").blocks().fields(TASK),
    EventRow::new("TeammateIdle", EventKind::TeammateIdle)
        .since("2.1.33")
        .blocks()
        .fields(&[FieldRow::same("teammate_name"), FieldRow::same("team_name")]),
];

/// The name of a model without the prefixes, dates, versions and context sizes that providers and settings add. `None` for
/// aliases such as `opus`.
fn canonical_model(name: &str) -> Option<String> {
    let name = name.split('[').next().unwrap_or(name);
    let at = name.find("claude-")?;
    let name = name[at..].split(['@', ':']).next().unwrap_or_default();
    let is_date = |part: &&str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_version =
        |part: &&str| part.len() == 2 && part.starts_with('v') && part.ends_with(|c: char| c.is_ascii_digit());
    let parts: Vec<_> = name.split('-').filter(|part| !is_date(part) && !is_version(part)).collect();
    Some(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_normalized() {
        for (name, canonical) in [
            ("claude-opus-4-8", Some("claude-opus-4-8")),
            ("claude-opus-4-8[1m]", Some("claude-opus-4-8")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Some("claude-sonnet-4-5")),
            ("claude-haiku-4-5@20251001", Some("claude-haiku-4-5")),
            ("anthropic/claude-opus-4-8", Some("claude-opus-4-8")),
            ("opus", None),
            ("gpt-5", None),
        ] {
            assert_eq!(canonical_model(name).as_deref(), canonical, "{name}");
        }
    }
}
