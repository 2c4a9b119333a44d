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
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};

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
    subagent_records: SubagentRecords::Unnamed,
    time_unit: MILLISECONDS,
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

/// Kinds of completed items without tool calls of this machine.
const OTHER_COMPLETED: &[&str] = &[
    "AgentMessage",
    "ContextCompaction",
    "EnteredReviewMode",
    "ExitedReviewMode",
    "HookPrompt",
    "ImageGeneration",
    "ImageView",
    "Plan",
    "Reasoning",
    "Sleep",
    "SubAgentActivity",
    "UserMessage",
    "WebSearch",
];

/// Starts of the text that Codex returns for a call that a hook denied. Output of a command has other lines first.
const BLOCKED: &[&str] = &["Command blocked by PreToolUse hook: ", "Tool call blocked by PreToolUse hook: "];

/// Words of all these starts. Other outputs are not parsed.
const BLOCKED_WORDS: &str = "blocked by PreToolUse hook: ";

/// Text before such a text in the output of a script.
const SCRIPT_ERROR: &str = "Script error:\n";

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
    #[serde(borrow)]
    server: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    changes: Option<serde_json::Map<String, serde_json::Value>>,
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
                let texts = texts(item.output.map_or("", RawValue::get));
                if self.script.as_deref() == Some(id) && self.blocked_in_script(&texts, id, time, found) {
                    return Ok(());
                }
                let is_blocked = texts.iter().any(|text| is_blocked(text));
                let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
                found.outcome(subagent, id, if is_blocked { Outcome::Denied } else { Outcome::Ran });
                Ok(())
            }
            other if OTHER_ITEMS.contains(&other) => Ok(()),
            other => Err(Odd::UnknownBlock(format!("response_item {other}"))),
        }
    }

    /// A call of a script has an id of its own. Hooks see it, not the script.
    fn event(&mut self, row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
        let event: Item<'_> = serde_json::from_str(row.payload.get())?;
        if event.kind != "item_completed" {
            return Ok(());
        }
        let item: Completed<'_> = serde_json::from_str(event.item.ok_or(Odd::Broken)?.get())?;
        // Calls outside scripts have their own lines.
        let is_command = item.kind == "CommandExecution";
        if OTHER_COMPLETED.contains(&&*item.kind) || !is_command && self.script.is_none() {
            return Ok(());
        }
        let id = item.id.as_deref().ok_or(Odd::Broken)?;
        let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
        if found.find(subagent, id).is_some() {
            return Ok(());
        }
        let time = row.timestamp.as_deref().and_then(time);
        if is_command {
            let command = item.command.last().map(String::as_str).unwrap_or_default();
            self.nested(command, Some(id), time, Outcome::Ran, found);
            return Ok(());
        }
        let (tool, input) = match &*item.kind {
            "FileChange" => {
                let paths: Vec<_> = item.changes.iter().flat_map(serde_json::Map::keys).collect();
                ("apply_patch".to_owned(), serde_json::json!({ "path": paths }).to_string())
            }
            "McpToolCall" => {
                let (server, tool) = (item.server.ok_or(Odd::Broken)?, item.tool.ok_or(Odd::Broken)?);
                (format!("mcp__{server}__{tool}"), item.arguments.map_or("null", RawValue::get).to_owned())
            }
            other => return Err(Odd::UnknownBlock(format!("item {other}"))),
        };
        self.nested_tool(&tool, &input, id, time, found);
        Ok(())
    }

    /// Adds a call of another tool that a script made. The input that hooks get is not known.
    fn nested_tool(&mut self, tool: &str, input: &str, id: &str, time: Option<jiff::Timestamp>, found: &mut Builder) {
        self.script_calls += 1;
        found.call(NewCall { id: Some(id), tool, input, time, subagent: self.subagent.clone() });
        if let Some(call) = found.last() {
            call.outcome = Outcome::Ran;
            call.unclear = Some("a call of a script; the rollout does not show how hooks saw it");
        }
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

    /// Adds the denied call of a script. Only the text of the output describes it. Returns `false` if there is none.
    fn blocked_in_script(
        &mut self,
        texts: &[String],
        id: &str,
        time: Option<jiff::Timestamp>,
        found: &mut Builder,
    ) -> bool {
        let denied = |text: &str| is_blocked(text.strip_prefix(SCRIPT_ERROR).unwrap_or(text));
        let mut is_any = false;
        for text in texts.iter().filter(|text| denied(text)) {
            is_any = true;
            if let Some((_, command)) = text.split_once(BLOCKED_COMMAND) {
                self.nested(command.trim_end(), None, time, Outcome::Denied, found);
            }
        }
        if is_any {
            let subagent = self.subagent.as_ref().and_then(|subagent| subagent.id.clone());
            found.outcome(subagent.as_deref(), id, Outcome::Denied);
        }
        is_any
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

/// Returns the texts of an output that may be about a denied call: one text, or several parts.
fn texts(output: &str) -> Vec<String> {
    if !output.contains(BLOCKED_WORDS) {
        return Vec::new();
    }
    match serde_json::from_str::<Vec<serde_json::Value>>(output) {
        Ok(parts) => parts.iter().filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect(),
        Err(_) => serde_json::from_str(output).into_iter().collect(),
    }
}

fn is_blocked(text: &str) -> bool {
    BLOCKED.iter().any(|start| text.starts_with(start))
}

/// Returns the input in the form that hooks get.
fn hook_input(item: &Item<'_>) -> String {
    if let Some(input) = &item.input {
        return serde_json::json!({ "command": input }).to_string();
    }
    let text = item.arguments.as_deref().unwrap_or_default();
    #[derive(Deserialize)]
    struct Arguments {
        cmd: Option<serde_json::Value>,
        command: Option<serde_json::Value>,
    }
    let is_shell = FORMAT.tools.iter().any(|(name, _)| item.name.as_deref() == Some(name));
    if is_shell && let Ok(arguments) = serde_json::from_str::<Arguments>(text) {
        if let Some(serde_json::Value::String(command)) = &arguments.cmd {
            return serde_json::json!({ "command": command }).to_string();
        }
        // Some versions give the words of a shell command.
        if let Some(serde_json::Value::Array(words)) = arguments.cmd.as_ref().or(arguments.command.as_ref())
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
