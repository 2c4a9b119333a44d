//! Chats of Qwen Code: one line per message. The calls of sub-agents are only in its telemetry lines.
//!
//! Observed with 0.24.4.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, known_status, time, unknown_line};
use super::super::call::{Outcome, Subagent};
use super::super::places::Root;
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};

pub(super) const FORMAT: Format = Format {
    agent: "qwen",
    title: "Qwen Code",
    roots: &[Root { below_home: ".qwen", variable: None, below_variable: "", patterns: &["projects/*/chats/*.jsonl"] }],
    versions: &["0."],
    tools: &[],
    subagent_records: SubagentRecords::Unnamed,
    time_unit: MILLISECONDS,
    reader: Reader::Lines(|| Box::new(Qwen)),
};

/// Kinds of lines without tool calls, besides telemetry.
const OTHER_LINES: &[&str] = &["user"];

#[derive(Debug)]
struct Qwen;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_result: Option<&'a RawValue>,
    #[serde(borrow)]
    system_payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    call_id: Cow<'a, str>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    execution_status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error_type: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SystemPayload<'a> {
    #[serde(borrow)]
    ui_event: Option<UiEvent<'a>>,
}

#[derive(Deserialize)]
struct UiEvent<'a> {
    #[serde(rename = "event.name", borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function_args: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    execution_status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    prompt_id: Option<Cow<'a, str>>,
}

impl LineReader for Qwen {
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = serde_json::from_slice(line)?;
        found.id(row.session_id.as_deref().ok_or(Odd::Broken)?);
        if let Some(version) = &row.version {
            found.version(version);
        }
        if let Some(cwd) = &row.cwd {
            found.project(cwd);
        }
        match &*row.kind {
            "assistant" => {
                let message: Message<'_> = serde_json::from_str(row.message.ok_or(Odd::Broken)?.get())?;
                for call in message.parts.iter().filter_map(|part| part.function_call.as_ref()) {
                    found.call(NewCall {
                        id: Some(&call.id),
                        tool: &call.name,
                        input: call.args.map_or("null", RawValue::get),
                        time: row.timestamp.as_deref().and_then(time),
                        subagent: None,
                    });
                }
                Ok(())
            }
            "tool_result" => {
                let result: CallResult<'_> = serde_json::from_str(row.tool_call_result.ok_or(Odd::Broken)?.get())?;
                let parts = [&result.status, &result.execution_status, &result.error_type];
                let outcome = outcome(parts.map(|part| part.as_deref()));
                found.outcome(None, &result.call_id, outcome);
                known_status(outcome, result.status.as_deref())
            }
            "system" => telemetry(&row, found),
            other if OTHER_LINES.contains(&other) => Ok(()),
            other => Err(unknown_line(other, row.message.is_some() || row.tool_call_result.is_some())),
        }
    }
}

fn telemetry(row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
    let Some(payload) = row.system_payload else { return Ok(()) };
    let payload: SystemPayload<'_> = serde_json::from_str(payload.get())?;
    let Some(event) = payload.ui_event.filter(|event| event.name.as_deref() == Some("qwen-code.tool_call")) else {
        return Ok(());
    };
    // `SESSION#AGENT-CALL#TURN` is a prompt of a sub-agent, `SESSION########TURN` one of the main agent.
    let agent =
        event.prompt_id.as_deref().and_then(|prompt| prompt.split('#').nth(1)).filter(|agent| !agent.is_empty());
    let Some(agent) = agent else { return Ok(()) };
    let id = event.call_id.as_deref().ok_or(Odd::Broken)?;
    found.call(NewCall {
        id: Some(id),
        tool: event.function_name.as_deref().ok_or(Odd::Broken)?,
        input: event.function_args.map_or("null", RawValue::get),
        time: row.timestamp.as_deref().and_then(time),
        subagent: Some(Subagent { id: Some(agent.to_owned()), kind: kind(agent) }),
    });
    let parts = [&event.status, &event.execution_status, &event.error_type];
    let outcome = outcome(parts.map(|part| part.as_deref()));
    found.outcome(Some(agent), id, outcome);
    known_status(outcome, event.status.as_deref())
}

/// Returns the type of a sub-agent: its id without the id of the call that started it.
fn kind(agent: &str) -> Option<String> {
    agent.split_once("-call").map(|(kind, _)| kind.to_owned()).or_else(|| Some(agent.to_owned()))
}

fn outcome(parts: [Option<&str>; 3]) -> Outcome {
    match parts {
        // Qwen Code checks the tool and its input before it calls hooks.
        [_, Some("not_started"), Some("invalid_tool_params" | "tool_not_registered")] => Outcome::Rejected,
        [_, Some("not_started"), _] | [_, _, Some("execution_denied")] | [Some("cancelled"), ..] => Outcome::Denied,
        [Some("success" | "error"), ..] => Outcome::Ran,
        _ => Outcome::Unknown,
    }
}
