//! [`Call`]: a tool call that hooks ask about, and the digest that an approval is bound to.

use std::fmt;
use std::path::{Path, PathBuf};

use checkrein::internal::sha256_hex;
use checkrein_core::payload::Field;
use checkrein_core::{Event, RawJson, Verdict};
use serde::{Deserialize, Serialize};

use super::parsed::{self, ParsedCommand};

/// A tool call that hooks ask about, with everything that an approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Call {
    /// Dialect name of the agent.
    pub agent: String,
    /// Session, if the agent names it.
    pub session: Option<String>,
    /// Directory of the project.
    pub project: PathBuf,
    /// Working directory of the call, if the agent names it.
    pub cwd: Option<String>,
    /// Event in the agent's spelling.
    pub event: String,
    /// Tool.
    pub tool: String,
    /// Tool input, as the agent sent it.
    pub input: RawJson,
    /// Tool input after the rewrites of hooks, if there are any.
    pub rewritten: Option<RawJson>,
    /// Hooks that ask, in config order.
    pub asks: Vec<Ask>,
    /// Digest of the hooks that judge this event.
    pub policy: String,
    /// Sub-agent, if the agent names it. An approval is not bound to it.
    pub subagent: Option<String>,
    /// Id of the tool call, if the agent names it. A repeated call has another one, so an approval is not bound to it.
    pub tool_call: Option<String>,
    /// Programs of a shell command, for display.
    pub commands: Vec<ParsedCommand>,
    /// Number of further programs.
    #[serde(default)]
    pub more_commands: usize,
    /// Changes of a file, for display.
    pub diff: Option<String>,
}

/// Question of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Id of the hook.
    pub hook: String,
    /// File and line of the hook.
    pub source: String,
    /// Question. Empty if the hook gave none.
    pub reason: String,
}

impl Call {
    /// Returns the call of a verdict, if the user's confirmation is enough for it to pass. `None` for other decisions than ask,
    /// for questions because of failures, and for events without a tool.
    pub fn new(
        agent: &str,
        project: &Path,
        (event_name, event): (&str, &Event),
        verdict: &Verdict,
        policy: String,
    ) -> Option<Self> {
        let asks: Vec<_> = verdict
            .questions()?
            .map(|reason| Ask {
                hook: reason.hook.id.clone(),
                source: reason.hook.source.to_string(),
                reason: reason.text.clone(),
            })
            .collect();
        let cwd = event.envelope.cwd.as_deref().map_or(project, Path::new);
        let (commands, more_commands) = parsed::commands(event, agent, cwd);
        Some(Self {
            agent: agent.to_owned(),
            session: event.envelope.session_id.clone().filter(|id| !id.is_empty()),
            project: project.to_owned(),
            cwd: event.envelope.cwd.clone(),
            event: event_name.to_owned(),
            tool: event.tool_name()?.to_owned(),
            input: without_description(event, event.tool_input()?),
            rewritten: verdict.effective_input().map(|input| without_description(event, input)),
            asks,
            policy,
            commands,
            more_commands,
            diff: parsed::diff(event, cwd),
            subagent: event.envelope.agent_id.clone(),
            tool_call: match event.field("tool_use_id") {
                Some(Field::Text(id)) => Some(id.to_owned()),
                _ => None,
            },
        })
    }

    /// Returns a digest of everything that an approval is bound to. The project is a part of it only without a session.
    pub(super) fn digest(&self) -> String {
        let project = if self.session.is_some() { None } else { Some(self.project.to_string_lossy()) };
        let hooks: Vec<_> = self.asks.iter().map(|ask| (&ask.hook, &ask.reason)).collect();
        let parts = (&self.agent, &self.session, project, &self.cwd, &self.event, &self.tool, hooks, &self.policy);
        let text = serde_json::to_string(&parts).unwrap_or_default();
        let rewritten = self.rewritten.as_ref().map(canonical);
        let hex = sha256_hex(format!("{text}\n{}\n{rewritten:?}", canonical(&self.input)).as_bytes());
        format!("sha256:{hex}")
    }
}

/// Tool, input and questions, in one line.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, self.input)?;
        for (index, ask) in self.asks.iter().enumerate() {
            write!(f, "{} {} asks: {}", if index == 0 { ";" } else { "," }, ask.hook, ask.reason)?;
        }
        Ok(())
    }
}

/// Returns the input of a shell tool without its description. It has no effect, and models write another one with each call.
fn without_description(event: &Event, input: &RawJson) -> RawJson {
    let is_shell = event.tool_aliases().chain(event.tool_name()).any(|name| name == "Bash");
    let Some(entries) = input.entries().filter(|_| is_shell) else { return input.clone() };
    let kept: Vec<_> = entries
        .filter(|entry| entry.key() != "description")
        .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
        .collect();
    RawJson::parse(format!("{{{}}}", kept.join(","))).unwrap_or_else(|_| input.clone())
}

/// Returns JSON without white space and with sorted keys. The text of strings and numbers does not change.
fn canonical(json: &RawJson) -> String {
    if let Some(entries) = json.entries() {
        let mut members: Vec<_> =
            entries.map(|entry| format!("{}:{}", RawJson::string(&entry.key()), canonical(&entry.to_json()))).collect();
        members.sort_unstable();
        return format!("{{{}}}", members.join(","));
    }
    match json.items() {
        Some(items) => {
            let items =
                items.map(|item| RawJson::parse(item).map_or_else(|_| item.to_owned(), |item| canonical(&item)));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        None => json.as_str().trim_ascii().to_owned(),
    }
}
