//! A tool call or another event as an agent sends it, from the shared names of tools and fields.
//!
//! `checkrein try` uses it to ask the same question under several agents. A field that the caller does not set has a sample
//! value.

use std::path::Path;

use checkrein::handler::{ProcessExit, ProcessReply, Reply};
use checkrein_core::{Event, EventKind, Opinion, RawJson, Target};
use checkrein_dialects::agents::{claude, native};
use checkrein_dialects::input::InputForm;
use checkrein_dialects::{Dialect, ToolRow};
use serde_json::{Map, Value, json};

use crate::{EventBuilder, EventBuilderError};

/// An event of an agent, and its payload.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentCall {
    /// The event.
    pub event: Event,
    /// Standard input of the agent's hooks.
    pub payload: Vec<u8>,
    /// Name of the event, if the payload does not contain it.
    pub event_name: Option<&'static str>,
}

/// Error of [`AgentCall`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AgentCallError {
    /// The agent does not call hooks for the event.
    #[error("{agent} has no event for `{event}`")]
    NoEvent {
        /// Name of the agent.
        agent: &'static str,
        /// Name of the event.
        event: String,
    },
    /// The agent has no such tool.
    #[error("{agent} has no tool for `{tool}`")]
    NoTool {
        /// Name of the agent.
        agent: &'static str,
        /// Shared name of the tool.
        tool: String,
    },
    /// The event cannot be built.
    #[error(transparent)]
    Event(#[from] EventBuilderError),
}

/// Kinds of events for single tools, for agents without an event for all tools.
const SPECIFIC: &[(&str, EventKind)] = &[
    ("Bash", EventKind::PreShell),
    ("Write", EventKind::PreFileWrite),
    ("Edit", EventKind::PreFileWrite),
    ("Read", EventKind::PreFileRead),
    (MCP, EventKind::PreMcp),
];

/// Start of the shared names of MCP tools.
const MCP: &str = "mcp__";

impl AgentCall {
    /// A call of a tool, with its shared name and shared field names, or with those of the agent.
    ///
    /// # Errors
    /// The agent has no such tool or event, or a field is invalid.
    pub fn tool(
        agent: &'static Dialect,
        kind: &EventKind,
        tool: &str,
        input: &RawJson,
        dir: &Path,
    ) -> Result<Self, AgentCallError> {
        let (own, own_input) = own_call(agent, tool, input, dir)?;
        let is_its = |name: &str| name == tool || (name == MCP && tool.starts_with(MCP));
        let specific = SPECIFIC.iter().find(|(name, _)| is_its(name)).map(|(_, kind)| kind);
        let kind = match agent.row(kind) {
            None if *kind == EventKind::PreToolUse => specific.unwrap_or(kind),
            _ => kind,
        };
        let builder = EventBuilder::new(kind.name()).tool(own).input(own_input);
        Self::new(agent, kind, &builder, dir, |event| event)
    }

    /// An event without a tool. `prompt` is the text of a prompt.
    ///
    /// # Errors
    /// The agent has no such event, or the event has no prompt.
    pub fn event(
        agent: &'static Dialect,
        kind: &EventKind,
        prompt: Option<&str>,
        dir: &Path,
    ) -> Result<Self, AgentCallError> {
        let with_prompt = |event: Event| match prompt {
            Some(text) => event.rewritten(Target::Prompt, &RawJson::string(text)).unwrap_or(event),
            None => event,
        };
        Self::new(agent, kind, &EventBuilder::new(kind.name()), dir, with_prompt)
    }

    /// Reads an answer to this call as the agent does.
    pub fn read(&self, agent: &'static Dialect, exit: i32, stdout: &str, stderr: &str) -> Opinion {
        let reply = ProcessReply::new(ProcessExit::Code(exit)).stdout(stdout).stderr(stderr);
        match agent.read(&self.event, Reply::Process(reply), false) {
            Ok(opinion) => opinion,
            // Some agents treat a failed hook as a deny.
            Err(failure) if exit != 0 => Opinion::deny(failure.message),
            Err(failure) => Opinion::none().with_warning(failure.to_string()),
        }
    }

    fn new(
        agent: &'static Dialect,
        kind: &EventKind,
        builder: &EventBuilder,
        dir: &Path,
        change: impl FnOnce(Event) -> Event,
    ) -> Result<Self, AgentCallError> {
        let Some(row) = agent.row(kind) else {
            return Err(AgentCallError::NoEvent { agent: agent.name, event: kind.name().to_owned() });
        };
        let event = change(builder.event(agent, dir)?);
        let payload = agent.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let event_name = if agent.names_event(kind) { None } else { Some(row.name) };
        Ok(Self { event, payload, event_name })
    }
}

/// Returns the name and the input of a tool as the agent has them.
fn own_call(
    agent: &'static Dialect,
    tool: &str,
    input: &RawJson,
    dir: &Path,
) -> Result<(String, RawJson), AgentCallError> {
    let shared = EventBuilder::new(EventKind::PreToolUse.name()).tool(tool).input(input.clone());
    let shared = shared.event(&native::DIALECT, dir)?;
    if let Some(own) = agent.native_tool_name(&shared) {
        let input = agent.native_input(&shared).map_or_else(|| input.clone(), std::borrow::Cow::into_owned);
        return Ok((own.name.to_owned(), input));
    }
    let is_equivalent = |row: &&ToolRow| row.shared_names().any(|name| name == tool);
    let derived =
        agent.tools.iter().filter(is_equivalent).find_map(|row| Some((row, derived_input(row, tool, input)?)));
    match derived {
        Some((row, input)) => Ok((row.name.to_owned(), input)),
        // A shared name that the agent does not have.
        None if agent.tool(tool).is_none() && !agent.tools.is_empty() && claude::DIALECT.tool(tool).is_some() => {
            Err(AgentCallError::NoTool { agent: agent.name, tool: tool.to_owned() })
        }
        None => Ok((tool.to_owned(), input.clone())),
    }
}

/// Returns an input of a tool whose shared fields are derived from a patch or from a list.
fn derived_input(row: &ToolRow, tool: &str, input: &RawJson) -> Option<RawJson> {
    let text = |field: &str| input.field(field).and_then(|value| value.as_text().map(std::borrow::Cow::into_owned));
    let mut own = Map::new();
    for field in row.inputs {
        match field.form {
            InputForm::SeenInPatch(_) => {
                own.insert(field.own.to_owned(), patch(tool, &text("file_path")?, &text).into());
            }
            InputForm::SeenInEach(name) => {
                let Some(value) = text(field.common) else { continue };
                let list = own.entry(field.own).or_insert_with(|| json!([{}]));
                if let Some(Value::Object(item)) = list.get_mut(0) {
                    item.insert(name.to_owned(), value.into());
                }
            }
            _ => {
                let Some(value) = text(field.common) else { continue };
                own.insert(field.own.to_owned(), value.into());
            }
        }
    }
    // A patch has all fields of its tool. Fields of other tools that no row names have their shared names.
    if !row.inputs.iter().any(|field| matches!(field.form, InputForm::SeenInPatch(_))) {
        let shared: Map<String, Value> = serde_json::from_str(input.as_str()).unwrap_or_default();
        let is_named = |name: &str| row.inputs.iter().any(|field| field.common == name);
        own.extend(shared.into_iter().filter(|(name, _)| !is_named(name)));
    }
    RawJson::parse(Value::Object(own).to_string()).ok()
}

fn patch(tool: &str, path: &str, text: &impl Fn(&str) -> Option<String>) -> String {
    let lines = |mark: char, field: &str| -> String {
        text(field).unwrap_or_default().lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    let body = match tool {
        "Write" => format!("*** Add File: {path}\n{}", lines('+', "content")),
        _ => format!("*** Update File: {path}\n@@\n{}{}", lines('-', "old_string"), lines('+', "new_string")),
    };
    format!("*** Begin Patch\n{body}*** End Patch")
}

#[cfg(test)]
mod tests {
    use checkrein::facts::{FactContext, Facts};
    use checkrein_dialects::agents::{codex, gemini, windsurf};

    use super::*;

    fn call(agent: &'static Dialect, tool: &str, input: &str) -> Result<AgentCall, AgentCallError> {
        AgentCall::tool(agent, &EventKind::PreToolUse, tool, &RawJson::parse(input).unwrap(), Path::new("/project"))
    }

    /// Rules and guards read the commands of every agent.
    #[test]
    fn commands_of_all_agents_are_read() {
        for agent in checkrein_dialects::agents::ALL {
            let Ok(call) = call(agent, "Bash", r#"{"command":"git push"}"#) else { continue };
            let facts = Facts::new(call.event, FactContext::new("/project")).to_json();
            assert!(facts.as_str().contains(r#""commands":[{"program":"git""#), "{}: {}", agent.name, facts.as_str());
        }
    }

    #[test]
    fn calls_have_the_names_of_the_agent() {
        let sent = |agent, tool, input| {
            let call = call(agent, tool, input).unwrap();
            let name = call.event.tool_name().unwrap().to_owned();
            (name, call.event.tool_input().unwrap().as_str().to_owned())
        };
        let (name, input) = sent(&gemini::DIALECT, "Bash", r#"{"command":"ls"}"#);
        assert_eq!((name.as_str(), input.as_str()), ("run_shell_command", r#"{"command":"ls"}"#));
        let (name, input) = sent(&codex::DIALECT, "Write", r#"{"file_path":".env","content":"A=1"}"#);
        assert_eq!(name, "apply_patch");
        assert!(input.contains(r"*** Add File: .env\n+A=1\n"), "{input}");
        assert!(matches!(call(&codex::DIALECT, "Read", r#"{"file_path":"a"}"#), Err(AgentCallError::NoTool { .. })));
        let (_, input) = sent(&windsurf::DIALECT, "Write", r#"{"file_path":".env","content":"A=1"}"#);
        assert!(input.contains(r#""file_path":".env""#), "{input}");
        let call = call(&windsurf::DIALECT, "Bash", r#"{"command":"ls"}"#).unwrap();
        assert_eq!(call.event.kind(), EventKind::PreShell);
    }
}
