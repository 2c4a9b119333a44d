//! Rollouts of Codex: one line per item, and one file per thread. Sub-agents are threads with a parent.
//!
//! Observed with 0.166.0. In "code mode" a script of the tool `exec` calls other tools; hooks see those calls, and the rollout lists
//! only the ones that ran.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, time};
use super::super::call::{Outcome, Subagent};
use super::super::places::Root;
use super::{Format, LineReader, Reader};

pub(super) const FORMAT: Format = Format {
    agent: "codex",
    title: "Codex",
    roots: &[Root {
        below_home: ".codex",
        variable: Some("CODEX_HOME"),
        below_variable: "",
        patterns: &["sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"],
    }],
    versions: &["0."],
    tools: &[("exec_command", "Bash"), ("shell", "Bash"), ("local_shell", "Bash"), ("shell_command", "Bash")],
    reader: Reader::Lines(|| Box::<Codex>::default()),
};

/// Tool whose scripts call other tools.
const SCRIPT_TOOL: &str = "exec";

/// Line kinds without tool calls.
const OTHER_LINES: &[&str] = &[
    "compacted",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "token_usage_record",
    "turn_context",
    "world_state",
];

/// Items without tool calls of this machine. Web searches run at the provider.
const OTHER_ITEMS: &[&str] = &[
    "additional_tools",
    "agent_message",
    "compaction",
    "ghost_snapshot",
    "message",
    "reasoning",
    "tool_search_output",
    "web_search_call",
];

/// Text that Codex returns for a call that a hook denied.
const BLOCKED: &str = "blocked by PreToolUse hook: ";

/// Text before the command of a denied call.
const BLOCKED_COMMAND: &str = " Command: ";

#[derive(Debug, Default)]
struct Codex {
    /// First line of the thread itself. Lines before it are copies from the parent.
    starts_at: u64,
    subagent: Option<Subagent>,
    has_meta: bool,
    /// Id of the last script call.
    script: Option<String>,
    /// Number of known calls of that script.
    script_calls: usize,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    ordinal: Option<u64>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    originator: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cli_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_nickname: Option<Cow<'a, str>>,
    subagent_history_start_ordinal: Option<u64>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<Cow<'a, str>>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Completed<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    command: Vec<String>,
}

impl LineReader for Codex {
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = serde_json::from_slice(line)?;
        if row.kind == "session_meta" {
            return self.meta(row.payload, found);
        }
        if row.ordinal.is_some_and(|ordinal| ordinal < self.starts_at) {
            return Ok(());
        }
        match &*row.kind {
            "response_item" => self.item(&row, found),
            "event_msg" => self.event(&row, found),
            other if OTHER_LINES.contains(&other) => Ok(()),
            other => Err(Odd::Unknown(other.to_owned())),
        }
    }

    fn end(&mut self, found: &mut Builder) {
        self.end_script(found);
    }
}

impl Codex {
    /// The first head is the thread's own. Others are copies from the parent.
    fn meta(&mut self, payload: &RawValue, found: &mut Builder) -> Result<(), Odd> {
        if self.has_meta {
            return Ok(());
        }
        let meta: Meta<'_> = serde_json::from_str(payload.get())?;
        self.has_meta = true;
        if meta.parent_thread_id.is_some() {
            self.subagent = Some(Subagent {
                id: Some(meta.id.clone().into_owned()),
                kind: meta.agent_nickname.map(Cow::into_owned),
            });
        }
        self.starts_at = meta.subagent_history_start_ordinal.unwrap_or(0);
        // Hooks get the id of the session, which all threads share.
        found.id(meta.session_id.as_deref().or(meta.parent_thread_id.as_deref()).unwrap_or(&meta.id));
        if let Some(cwd) = &meta.cwd {
            found.project(cwd);
        }
        if let Some(originator) = &meta.originator {
            found.surface(originator);
        }
        found.version(meta.cli_version.as_deref().ok_or(Odd::Broken)?);
        Ok(())
    }

    fn item(&mut self, row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
        let item: Item<'_> = serde_json::from_str(row.payload.get())?;
        let time = row.timestamp.as_deref().and_then(time);
        match &*item.kind {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let id = item.call_id.as_deref().ok_or(Odd::Broken)?;
                let name = item.name.as_deref().unwrap_or("local_shell");
                if name == SCRIPT_TOOL && item.kind == "custom_tool_call" {
                    self.end_script(found);
                    self.script = Some(id.to_owned());
                    self.script_calls = 0;
                }
                // Hooks get the namespace and the name as one word.
                let tool = match item.namespace.as_deref() {
                    Some(space) if space != "functions" => format!("{space}{name}"),
                    _ => name.to_owned(),
                };
                let input = hook_input(&item);
                found.call(NewCall { id: Some(id), tool: &tool, input: &input, time, subagent: self.subagent.clone() });
                Ok(())
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = item.call_id.as_deref().ok_or(Odd::Broken)?;
                let output = item.output.map_or("", RawValue::get);
                let is_blocked = output.contains(BLOCKED);
                let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
                if is_blocked && self.script.as_deref() == Some(id) {
                    self.blocked_in_script(output, id, time, found);
                    return Ok(());
                }
                found.outcome(subagent, id, if is_blocked { Outcome::Denied } else { Outcome::Ran });
                Ok(())
            }
            other if OTHER_ITEMS.contains(&other) => Ok(()),
            other => Err(Odd::UnknownBlock(format!("response_item {other}"))),
        }
    }

    /// A command of a script has an id of its own. Hooks see it, not the script.
    fn event(&mut self, row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
        let event: Item<'_> = serde_json::from_str(row.payload.get())?;
        if event.kind != "item_completed" {
            return Ok(());
        }
        let item: Completed<'_> = serde_json::from_str(event.item.ok_or(Odd::Broken)?.get())?;
        if item.kind != "CommandExecution" {
            return Ok(());
        }
        let id = item.id.as_deref().ok_or(Odd::Broken)?;
        let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
        if found.find(subagent, id).is_some() {
            return Ok(());
        }
        let command = item.command.last().map(String::as_str).unwrap_or_default();
        self.nested(command, Some(id), row.timestamp.as_deref().and_then(time), Outcome::Ran, found);
        Ok(())
    }

    /// Adds a call that a script made.
    fn nested(
        &mut self,
        command: &str,
        id: Option<&str>,
        time: Option<jiff::Timestamp>,
        outcome: Outcome,
        found: &mut Builder,
    ) {
        self.script_calls += 1;
        let input = serde_json::json!({ "command": command }).to_string();
        found.call(NewCall { id, tool: "exec_command", input: &input, time, subagent: self.subagent.clone() });
        if let Some(call) = found.last() {
            call.outcome = outcome;
        }
    }

    /// Adds the denied call of a script. Only the text of the output describes it.
    fn blocked_in_script(&mut self, output: &str, id: &str, time: Option<jiff::Timestamp>, found: &mut Builder) {
        let texts: Vec<String> = match serde_json::from_str::<Vec<serde_json::Value>>(output) {
            Ok(parts) => parts.iter().filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect(),
            Err(_) => serde_json::from_str(output).into_iter().collect(),
        };
        for text in texts.iter().filter(|text| text.contains(BLOCKED)) {
            if let Some((_, command)) = text.split_once(BLOCKED_COMMAND) {
                self.nested(command.trim_end(), None, time, Outcome::Denied, found);
            }
        }
        let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.clone());
        found.outcome(subagent.as_deref(), id, Outcome::Denied);
    }

    /// A script is no call of its own: its calls are judged. If none is known, its state is unknown.
    fn end_script(&mut self, found: &mut Builder) {
        let Some(id) = self.script.take() else { return };
        let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.clone());
        if self.script_calls > 0 {
            found.remove(subagent.as_deref(), &id);
        } else if let Some(call) = found.find(subagent.as_deref(), &id) {
            call.unclear = Some("a script that can call other tools; the rollout does not list its calls");
        }
    }
}

/// Returns the input in the form that hooks get.
fn hook_input(item: &Item<'_>) -> String {
    if let Some(input) = &item.input {
        return serde_json::json!({ "command": input }).to_string();
    }
    let text = item.arguments.as_deref().unwrap_or_default();
    #[derive(Deserialize)]
    struct Arguments {
        cmd: Option<String>,
        command: Option<serde_json::Value>,
    }
    let is_shell = FORMAT.tools.iter().any(|(name, _)| item.name.as_deref() == Some(name));
    if is_shell && let Ok(arguments) = serde_json::from_str::<Arguments>(text) {
        if let Some(command) = arguments.cmd {
            return serde_json::json!({ "command": command }).to_string();
        }
        // Older versions give the words of a shell command.
        if let Some(serde_json::Value::Array(words)) = &arguments.command
            && let [.., flag, last] = &words[..]
            && flag.as_str().is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'))
        {
            return serde_json::json!({ "command": last }).to_string();
        }
    }
    match item.action {
        Some(action) if text.is_empty() => action.get().to_owned(),
        _ => text.to_owned(),
    }
}
