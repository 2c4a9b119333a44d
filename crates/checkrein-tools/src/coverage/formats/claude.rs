//! Session files of Claude Code: one line per message, and one file per sub-agent in `subagents/`.
//!
//! Observed with 2.1.325. The format is internal to the agent: line kinds are added with every release.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, time, unknown_line};
use super::super::call::{HookFailure, Outcome, Subagent};
use super::super::places::Root;
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};
use crate::install::is_own_command;

pub(super) const FORMAT: Format = Format {
    agent: "claude",
    title: "Claude Code",
    roots: &[Root {
        below_home: ".claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        below_variable: "",
        patterns: &["projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"],
    }],
    versions: &["1.", "2."],
    tools: &[],
    subagent_records: SubagentRecords::Named,
    time_unit: MILLISECONDS,
    reader: Reader::Lines(|| Box::new(Claude)),
};

/// Line kinds without tool calls.
const OTHER_LINES: &[&str] = &[
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tools-used",
];

/// Content blocks without tool calls of this machine. Server tools run at the provider, where no hook can run.
const OTHER_BLOCKS: &[&str] = &[
    "document",
    "image",
    "redacted_thinking",
    "server_tool_use",
    "text",
    "thinking",
    "tool_reference",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Start of the result of a call that the user refused, in JSON.
const REFUSED: &str = "\"The user doesn't want to proceed with this tool use.";

/// Type of a call, in JSON. Texts have their quotes escaped.
const CALL: &str = "\"tool_use\"";

#[derive(Debug)]
struct Claude;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_denial_kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    permission_decision: Option<&'a RawValue>,
    #[serde(borrow)]
    query_source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    is_sidechain: Option<bool>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// Result of the tool that starts a sub-agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubagentResult<'a> {
    #[serde(borrow)]
    agent_id: Cow<'a, str>,
    #[serde(borrow)]
    agent_type: Cow<'a, str>,
}

/// Report about a hook. A killed hook has no report: its call has a result that quotes the command.
///
/// The fields of a cancelled hook are not observed; they are those that programs which read these files expect.
#[derive(Deserialize)]
struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(rename = "toolUseID", borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(rename = "hookEvent", borrow)]
    event: Option<Cow<'a, str>>,
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(rename = "timedOut")]
    timed_out: Option<bool>,
    #[serde(rename = "timeoutMs")]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    is_error: Option<bool>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct PermissionDecision<'a> {
    #[serde(borrow)]
    decision: Option<Cow<'a, str>>,
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
}

impl LineReader for Claude {
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = serde_json::from_slice(line)?;
        if let Some(id) = &row.session_id {
            found.id(id);
        }
        if let Some(version) = &row.version {
            found.version(version);
        }
        if let Some(cwd) = &row.cwd {
            found.project(cwd);
        }
        if let Some(entrypoint) = &row.entrypoint {
            found.surface(entrypoint);
        }
        match &*row.kind {
            "assistant" | "user" => message(&row, found),
            // Old versions wrote the messages of sub-agents here.
            "progress" if row.data.is_some_and(|data| data.get().contains(CALL)) => Err(unknown_line("progress", true)),
            other if OTHER_LINES.contains(&other) => {
                learn_agent_type(&row, found);
                if other == "attachment" {
                    hook_report(&row, found);
                }
                Ok(())
            }
            other => Err(unknown_line(other, row.message.is_some())),
        }
    }
}

/// A request of a sub-agent names its type, such as `agent:builtin:Explore`.
fn learn_agent_type(row: &Row<'_>, found: &mut Builder) {
    let kind = row.query_source.as_deref().and_then(|source| source.strip_prefix("agent:"));
    let Some(kind) = kind.and_then(|kind| kind.rsplit(':').next()) else { return };
    // Requests come before the calls that answer them.
    found.subagent_kind(row.agent_id.as_deref(), kind);
}

/// The result of a sub-agent names its type, too. The calls are in another file.
fn learn_result_type(row: &Row<'_>, found: &mut Builder) {
    let result = row.tool_use_result.map(RawValue::get).filter(|text| text.contains("\"agentType\""));
    if let Some(Ok(result)) = result.map(serde_json::from_str::<SubagentResult<'_>>) {
        found.subagent_kind(Some(&result.agent_id), &result.agent_type);
    }
}

/// Learns that checkrein failed at a call. Attachments of other kinds have other shapes.
fn hook_report(row: &Row<'_>, found: &mut Builder) {
    let Some(Ok(report)) = row.attachment.map(|text| serde_json::from_str::<Attachment<'_>>(text.get())) else {
        return;
    };
    let is_own = report.command.as_deref().is_some_and(|command| is_own_command(command, FORMAT.agent));
    if !is_own || report.event.as_deref() != Some("PreToolUse") {
        return;
    }
    let failure = match &*report.kind {
        "hook_cancelled" if report.timed_out == Some(true) => HookFailure::TimedOut { limit: report.timeout_ms },
        "hook_cancelled" => HookFailure::Cancelled,
        "hook_non_blocking_error" => HookFailure::Failed,
        _ => return,
    };
    let id = report.tool_use_id.as_deref().unwrap_or_default();
    if let Some(call) = found.find(row.agent_id.as_deref(), id) {
        call.hook_failure = Some(failure);
    }
}

/// Returns the sub-agent that wrote a line. Old versions mark its lines without an id.
fn subagent(row: &Row<'_>, found: &Builder) -> Option<Subagent> {
    match &row.agent_id {
        Some(id) => Some(Subagent { id: Some(id.clone().into_owned()), kind: found.kind_of_subagent(id) }),
        None if row.is_sidechain == Some(true) => Some(Subagent { id: None, kind: None }),
        None => None,
    }
}

fn message(row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
    learn_result_type(row, found);
    let message: Message<'_> = serde_json::from_str(row.message.ok_or(Odd::Broken)?.get())?;
    if !message.content.get().starts_with('[') {
        return Ok(());
    }
    let blocks: Vec<Block<'_>> = serde_json::from_str(message.content.get())?;
    let mut unknown = Ok(());
    for block in blocks {
        match &*block.kind {
            "tool_use" => {
                let subagent = subagent(row, found);
                found.call(NewCall {
                    id: Some(block.id.as_deref().ok_or(Odd::Broken)?),
                    tool: block.name.as_deref().ok_or(Odd::Broken)?,
                    input: block.input.ok_or(Odd::Broken)?.get(),
                    time: row.timestamp.as_deref().and_then(time),
                    subagent,
                });
            }
            "tool_result" => result(row, &block, found)?,
            other if OTHER_BLOCKS.contains(&other) => {}
            other => unknown = Err(Odd::UnknownBlock(format!("block {other}"))),
        }
    }
    unknown
}

fn result(row: &Row<'_>, block: &Block<'_>, found: &mut Builder) -> Result<(), Odd> {
    let id = block.tool_use_id.as_deref().ok_or(Odd::Broken)?;
    let Some(call) = found.find(row.agent_id.as_deref(), id) else { return Ok(()) };
    let decision: Option<PermissionDecision<'_>> =
        row.permission_decision.map(|decision| serde_json::from_str(decision.get())).transpose()?;
    let is_rejected = decision.as_ref().is_some_and(|decision| decision.decision.as_deref() == Some("reject"));
    let content = block.content.map_or("", |content| content.get());
    let is_error = block.is_error == Some(true);
    let is_hook_error = content.starts_with("\"PreToolUse:") && content.contains(" hook error: ");
    let is_denied =
        row.tool_denial_kind.is_some() || is_rejected || is_error && (is_hook_error || content.starts_with(REFUSED));
    call.outcome = if is_denied {
        Outcome::Denied
    } else if is_error && is_rejection(&call.tool, content) {
        Outcome::Rejected
    } else {
        // An error without a mark of a denial comes from the tool.
        Outcome::Ran
    };
    // Only versions that write their decision say if the user was asked. The answer of a hook does not say it.
    call.asked = match decision.and_then(|decision| decision.source).as_deref() {
        Some(source) if source.starts_with("user") => Some(true),
        Some("config") => Some(false),
        _ => None,
    };
    // Claude Code quotes the command of a hook that failed, in brackets.
    let quoted = content.split_once(" hook error: [").and_then(|(_, rest)| rest.split_once("]: "));
    let is_own = quoted.is_some_and(|(command, _)| is_own_command(command, FORMAT.agent));
    if is_error && is_hook_error && is_own {
        call.hook_failure.get_or_insert(HookFailure::Failed);
    }
    Ok(())
}

/// Returns `true` if the result of a call is the agent's own error about the call, so that no hook ran. A server of tools writes its
/// results itself, so they are no evidence.
fn is_rejection(tool: &str, content: &str) -> bool {
    let Some(error) = content.strip_prefix("\"<tool_use_error>") else { return false };
    let is_of_tool = |start: &str, end: &str| {
        error.strip_prefix(start).and_then(|rest| rest.strip_prefix(tool)).is_some_and(|rest| rest.starts_with(end))
    };
    !tool.starts_with("mcp__")
        && (is_of_tool("Error: No such tool available: ", "</tool_use_error>\"")
            || is_of_tool("InputValidationError: ", " failed due to the following issue"))
}
