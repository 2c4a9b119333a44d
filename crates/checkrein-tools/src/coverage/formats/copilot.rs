//! Session files of Copilot CLI: `events.jsonl`, with the events of sub-agents between those of the main agent.
//!
//! Observed with 1.0.102. Hooks of a sub-agent get its id as the id of the session.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, known_status, time, unknown_line};
use super::super::call::{HookFailure, Outcome, Subagent};
use super::super::places::Root;
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};

pub(super) const FORMAT: Format = Format {
    agent: "copilot",
    title: "Copilot CLI",
    roots: &[Root {
        below_home: ".copilot",
        variable: Some("COPILOT_HOME"),
        below_variable: "",
        patterns: &["session-state/*/events.jsonl"],
    }],
    versions: &["0.", "1."],
    tools: &[],
    subagent_records: SubagentRecords::OwnSession,
    time_unit: MILLISECONDS,
    reader: Reader::Lines(|| Box::<Copilot>::default()),
};

/// Version of the format of events.
const EVENTS_VERSION: u64 = 1;

/// Starts of event names without tool calls.
const OTHER_EVENTS: &[&str] = &[
    "abort",
    "assistant.",
    "hook.start",
    "permission.",
    "session.",
    "subagent.",
    "system.",
    "tool.execution_partial_result",
    "tool.execution_progress",
    "tool.user_requested",
    "user.",
];

#[derive(Debug, Default)]
struct Copilot {
    /// Types of sub-agents, by id.
    kinds: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    version: Option<u64>,
    #[serde(borrow)]
    copilot_version: Option<Cow<'a, str>>,
    context: Option<Context>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    success: Option<bool>,
    error: Option<Failure>,
    #[serde(borrow)]
    agent_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    hook_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    permission_request: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Context {
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Failure {
    code: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
}

impl LineReader for Copilot {
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = serde_json::from_slice(line)?;
        let agent = row.agent_id.as_deref();
        let data = || serde_json::from_str::<Data<'_>>(row.data.get());
        match &*row.kind {
            "session.start" => {
                let data = data()?;
                found.id(data.session_id.as_deref().ok_or(Odd::Broken)?);
                if let Some(cwd) = data.context.and_then(|context| context.cwd) {
                    found.project(&cwd);
                }
                match data.version {
                    Some(EVENTS_VERSION) => found.version(data.copilot_version.as_deref().ok_or(Odd::Broken)?),
                    other => found.version(&format!("events {other:?}")),
                }
            }
            "subagent.started" => {
                let data = data()?;
                if let (Some(id), Some(kind)) = (agent, data.agent_type) {
                    self.kinds.insert(id.to_owned(), kind.into_owned());
                }
            }
            "tool.execution_start" => {
                let data = data()?;
                found.call(NewCall {
                    id: Some(data.tool_call_id.as_deref().ok_or(Odd::Broken)?),
                    tool: data.tool_name.as_deref().ok_or(Odd::Broken)?,
                    input: data.arguments.map_or("null", RawValue::get),
                    time: row.timestamp.as_deref().and_then(time),
                    subagent: agent.map(|id| Subagent { id: Some(id.to_owned()), kind: self.kinds.get(id).cloned() }),
                });
                if let Some(call) = found.last() {
                    call.asked = Some(false);
                }
            }
            "permission.requested" => {
                let data = data()?;
                let request = data.permission_request.map(|request| serde_json::from_str::<Request<'_>>(request.get()));
                if let Some(Ok(Request { tool_call_id: Some(id) })) = request
                    && let Some(call) = found.find(agent, &id)
                {
                    call.asked = Some(true);
                }
            }
            "tool.execution_complete" => {
                let data = data()?;
                let id = data.tool_call_id.as_deref().ok_or(Odd::Broken)?;
                let code = data.error.and_then(|error| error.code);
                let outcome = match data.success {
                    Some(true) => Outcome::Ran,
                    Some(false) if code.as_deref().is_some_and(|code| matches!(code, "denied" | "rejected")) => {
                        Outcome::Denied
                    }
                    // The tool ran and returned an error.
                    Some(false) => Outcome::Ran,
                    None => Outcome::Unknown,
                };
                found.outcome(agent, id, outcome);
                known_status(outcome, None)?;
            }
            "hook.end" => {
                let data = data()?;
                if data.success == Some(false) && data.hook_type.as_deref() == Some("preToolUse") {
                    let calls: HashMap<String, serde_json::Value> =
                        data.output.and_then(|output| serde_json::from_str(output.get()).ok()).unwrap_or_default();
                    for id in calls.keys() {
                        if let Some(call) = found.find(agent, id) {
                            call.hook_failure = Some(HookFailure::Failed);
                        }
                    }
                }
            }
            other if OTHER_EVENTS.iter().any(|start| other.starts_with(start)) => {}
            other => return Err(unknown_line(other, other.starts_with("tool."))),
        }
        Ok(())
    }
}
