//! One test of a rule: a call, the state around it, and the wanted effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checkrein::facts::{FactContext, MemoryHistory, PastCall, RepositoryState};
use checkrein_core::{Event, EventKind, RawJson, closest_match};
use checkrein_dialects::agents::{claude, native};
use checkrein_dialects::{Dialect, HookSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Effect;
use crate::AgentCall;

/// Home directory in tests.
const HOME: &str = "/home/user";

/// Project in tests.
const PROJECT: &str = "/home/user/project";

/// Branch in tests that do not set one.
const BRANCH: &str = "feature";

/// Keys of a test, with their descriptions.
pub const TEST_KEYS: &[(&str, &str)] = &[
    ("command", "Command line of a shell call."),
    ("tool", "Name of the tool."),
    ("input", "Input of the tool: an object."),
    ("path", "File that a call reads or writes."),
    ("access", "`read` or `write` (default), with `path`."),
    ("url", "URL of a fetch."),
    ("prompt", "Text of a prompt."),
    ("event", "Event, if it is not the first one of the rule."),
    ("agent", "Agent that makes the call. Default: `claude`."),
    ("cwd", "Working directory. Default: the project, `/home/user/project`."),
    ("branch", "Current branch of the repository. Default: `feature`."),
    ("remotes", "Remotes of the repository: names and URLs."),
    ("dirty", "`true` if tracked files are changed."),
    ("files", "Files that exist: a list."),
    ("subagent", "Type of the sub-agent that makes the call."),
    ("permission_mode", "Permission mode of the session."),
    ("env", "Environment variables: names and values."),
    ("now", "Local time, such as `2026-11-18T22:00`."),
    (
        "history",
        "Earlier calls: commands, or objects with `command`, `tool`, `input`, `denied`, `label`, `minutes`, `times`.",
    ),
    ("output", "Output of the tool."),
    ("want", "Wanted effect: `deny`, `ask`, `allow`, `halt`, `rewrite`, `context`, `message`, `label` or `none`."),
    ("text", "Text that the reason contains."),
];

/// One test of a rule.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TestCase {
    /// Wanted effect.
    pub want: Effect,
    /// Text that the reason contains.
    pub text: Option<String>,
    written: Written,
    /// `true` if a key describes the event.
    has_call: bool,
}

/// Error of a test that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(String);

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Written {
    #[serde(flatten)]
    call: Call,
    access: Option<String>,
    event: Option<String>,
    agent: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    remotes: BTreeMap<String, String>,
    dirty: bool,
    files: Vec<String>,
    subagent: Option<String>,
    permission_mode: Option<String>,
    env: BTreeMap<String, String>,
    now: Option<String>,
    history: Vec<Earlier>,
    output: Option<Value>,
}

/// A tool call or a prompt.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Call {
    command: Option<String>,
    tool: Option<String>,
    input: Option<Value>,
    path: Option<String>,
    url: Option<String>,
    prompt: Option<String>,
}

/// An earlier call of the session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Earlier {
    #[serde(flatten)]
    call: Call,
    denied: bool,
    label: Option<String>,
    /// Age in minutes.
    minutes: u64,
    /// Number of equal calls. Default: one.
    times: Option<usize>,
}

/// Keys of a call. A test has one of them, or `tool`.
const CALL_KEYS: &[&str] = &["command", "path", "url", "prompt"];

/// Keys of an earlier call.
const EARLIER_KEYS: &[&str] =
    &["command", "tool", "input", "path", "url", "prompt", "denied", "label", "minutes", "times"];

/// A type, the keys that have it, and its test.
type KeyType = (&'static str, &'static [&'static str], fn(&Value) -> bool);

/// Types of keys, for messages.
const TYPES: &[KeyType] = &[
    (
        "a text",
        &[
            "command",
            "tool",
            "path",
            "access",
            "url",
            "prompt",
            "event",
            "agent",
            "cwd",
            "branch",
            "subagent",
            "permission_mode",
            "now",
            "want",
            "text",
            "label",
        ],
        Value::is_string,
    ),
    ("an object", &["input", "remotes", "env"], Value::is_object),
    ("`true` or `false`", &["dirty", "denied"], Value::is_boolean),
    ("a list", &["files", "history"], Value::is_array),
    ("a whole number", &["minutes", "times"], Value::is_u64),
];

/// Replaces `~` at the start of a path.
fn with_home(path: &str) -> String {
    path.replacen('~', HOME, usize::from(path.starts_with('~')))
}

/// Maximum number of equal earlier calls in a test.
const MAX_TIMES: usize = 10_000;

impl TestCase {
    /// Reads a test.
    ///
    /// # Errors
    /// A key is unknown or missing, or a value has the wrong type.
    pub fn parse(json: &RawJson) -> Result<Self, CaseError> {
        let mut value: Value = serde_json::from_str(json.as_str()).map_err(|error| CaseError(error.to_string()))?;
        let Some(members) = value.as_object_mut() else { return Err(CaseError("a test is an object".to_owned())) };
        let known: Vec<_> = TEST_KEYS.iter().map(|(name, _)| *name).collect();
        check_keys(members, &known).map_err(CaseError)?;
        if let Some(history) = members.get_mut("history").and_then(Value::as_array_mut) {
            history.iter_mut().try_for_each(check_earlier).map_err(|why| CaseError(format!("`history`: {why}")))?;
        }
        let written = members.remove("want").unwrap_or_default();
        let want = written.as_str().and_then(|word| Effect::NAMES.iter().find(|(name, _)| *name == word));
        let Some((_, want)) = want else {
            let names: Vec<_> = Effect::NAMES.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(CaseError(match written.as_str() {
                Some(word) => format!("`want: {word}` is unknown; use one of {names}"),
                None => format!("the test needs `want`: one of {names}"),
            }));
        };
        let text = members.remove("text").and_then(|text| text.as_str().map(str::to_owned));
        check_call(members).map_err(CaseError)?;
        let has_call = ["tool", "event", "output"].iter().chain(CALL_KEYS).any(|key| members.contains_key(*key));
        let written: Written = serde_json::from_value(value).map_err(|error| CaseError(error.to_string()))?;
        Ok(Self { want: *want, text, written, has_call })
    }

    /// Returns a short description of the call.
    pub fn describe(&self) -> String {
        self.written.call.describe()
    }

    /// Returns the event and the state around it.
    ///
    /// # Errors
    /// The call is not valid.
    pub fn facts(&self, hook: &HookSpec) -> Result<(Event, FactContext), String> {
        let written = &self.written;
        let cwd = match &written.cwd {
            Some(cwd) => Path::new(PROJECT).join(with_home(cwd)),
            None => PathBuf::from(PROJECT),
        };
        let event = self.event(hook, &cwd)?;
        let mut context = FactContext::new(cwd);
        context.agent = self.agent()?.name.to_owned();
        context.home = Some(PathBuf::from(HOME));
        context.project = Some(PathBuf::from(PROJECT));
        context.user = "user".to_owned();
        context.vars = written.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        context.repository = Some(RepositoryState {
            root: PathBuf::from(PROJECT),
            branch: written.branch.clone().unwrap_or_else(|| BRANCH.to_owned()),
            remotes: written.remotes.clone(),
            dirty: written.dirty,
        });
        context.files = Some(written.files.iter().map(|file| Path::new(PROJECT).join(with_home(file))).collect());
        if let Some(now) = &written.now {
            let invalid = |_| format!("`now` is `{now}`; write a local time such as `2026-11-18T22:00`");
            let time: jiff::civil::DateTime = now.parse().map_err(invalid)?;
            let time = time.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| format!("`now`: {error}"))?;
            context.now = Some(time);
        }
        context.history = Arc::new(self.history()?);
        Ok((event, context))
    }

    fn agent(&self) -> Result<&'static Dialect, String> {
        match &self.written.agent {
            None => Ok(&claude::DIALECT),
            Some(name) => checkrein_dialects::find(name).ok_or_else(|| {
                let known = checkrein_dialects::ALL.iter().map(|agent| agent.name);
                let hint = closest_match(name, known).map(|meant| format!("; did you mean `{meant}`?"));
                format!("`agent` is `{name}`, which is not a known agent{}", hint.unwrap_or_default())
            }),
        }
    }

    fn event(&self, hook: &HookSpec, cwd: &Path) -> Result<Event, String> {
        let written = &self.written;
        let kind = match &written.event {
            Some(name) => {
                let own = || EventKind::ALL.iter().find(|kind| kind.name() == name);
                let found = native::DIALECT.kind_of(name).or_else(|error| own().ok_or(error));
                found.cloned().map_err(|error| format!("`event`: {error}"))?
            }
            None => hook.kinds.first().cloned().unwrap_or(EventKind::PreToolUse),
        };
        if !self.has_call && kind.fields().iter().any(|field| field.name == "tool_name") {
            return Err("the test has no call; add one of: command, path, url, tool".to_owned());
        }
        let mut event = written.call.event(self.agent()?, &kind, written.access.as_deref(), cwd)?;
        if let Some(output) = &written.output {
            let output = RawJson::parse(output.to_string()).map_err(|error| error.to_string())?;
            event = event.rewritten(checkrein_core::Target::Output, &output).unwrap_or(event);
        }
        event.envelope.cwd = Some(cwd.to_string_lossy().into_owned());
        event.envelope.permission_mode.clone_from(&written.permission_mode);
        event.envelope.agent_type.clone_from(&written.subagent);
        event.envelope.agent_id = written.subagent.as_ref().map(|_| "agent-1".to_owned());
        Ok(event)
    }

    fn history(&self) -> Result<MemoryHistory, String> {
        let key = |call: &Call| format!("{call:?}");
        let mut calls = Vec::new();
        for earlier in &self.written.history {
            let Earlier { call, denied, label, minutes, times } = earlier;
            let past = call.event(self.agent()?, &EventKind::PreToolUse, None, Path::new(PROJECT))?;
            let names = past.tool_name().into_iter().chain(past.tool_aliases());
            let past = PastCall {
                tools: names.map(str::to_owned).collect(),
                key: key(call),
                denied: *denied,
                labels: label.clone().into_iter().collect(),
                age: Duration::from_secs(minutes.saturating_mul(60)),
            };
            calls.extend(std::iter::repeat_n(past, times.unwrap_or(1).min(MAX_TIMES)));
        }
        Ok(MemoryHistory { calls, key: key(&self.written.call), turn: Some(1) })
    }
}

/// Reports an unknown key, and a value of another type.
fn check_keys(members: &serde_json::Map<String, Value>, known: &[&str]) -> Result<(), String> {
    for (key, value) in members {
        if !known.contains(&key.as_str()) {
            let hint = match closest_match(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("use one of: {}", known.join(", ")),
            };
            return Err(format!("unknown key `{key}`; {hint}"));
        }
        let row = TYPES.iter().find(|(_, keys, _)| keys.contains(&key.as_str()));
        if let Some((name, _, is_valid)) = row
            && !is_valid(value)
        {
            return Err(format!("`{key}` is `{value}`; write {name}"));
        }
    }
    Ok(())
}

/// Reports a test or an earlier call with two calls.
fn check_call(members: &serde_json::Map<String, Value>) -> Result<(), String> {
    let mut calls = CALL_KEYS.iter().filter(|key| members.contains_key(**key));
    match (calls.next(), calls.next()) {
        (Some(first), Some(second)) => Err(format!("`{first}` and `{second}` are two calls; remove one of them")),
        _ => Ok(()),
    }
}

/// Checks an earlier call, and makes an object of a command.
fn check_earlier(earlier: &mut Value) -> Result<(), String> {
    if let Some(command) = earlier.as_str() {
        *earlier = json!({ "command": command });
    }
    let Some(members) = earlier.as_object() else {
        return Err(format!("an entry is `{earlier}`; write a command, or an object such as `{{ command: ls }}`"));
    };
    check_keys(members, EARLIER_KEYS)?;
    check_call(members)?;
    let keys = ["tool", "label"].iter().chain(CALL_KEYS);
    match keys.into_iter().any(|key| members.contains_key(*key)) {
        true => Ok(()),
        false => Err("an entry has no call; add one of: command, path, url, tool, prompt, label".to_owned()),
    }
}

impl Call {
    fn describe(&self) -> String {
        let Self { command, tool, input, path, url, prompt } = self;
        match (command, path, url, prompt) {
            (Some(command), ..) => command.clone(),
            (_, Some(path), ..) => format!("{} {path}", tool.as_deref().unwrap_or("file")),
            (_, _, Some(url), _) => format!("fetch {url}"),
            (.., Some(prompt)) => format!("prompt: {prompt}"),
            _ => {
                let input = input.as_ref().map(Value::to_string).unwrap_or_default();
                format!("{} {input}", tool.as_deref().unwrap_or("event"))
            }
        }
    }

    fn event(
        &self,
        agent: &'static Dialect,
        kind: &EventKind,
        access: Option<&str>,
        cwd: &Path,
    ) -> Result<Event, String> {
        let Self { command, tool, input, path, url, prompt } = self;
        let (usual, own) = match (command, path, url) {
            (Some(command), ..) => ("Bash", json!({ "command": command })),
            (_, Some(path), _) => match access {
                Some("read") => ("Read", json!({ "file_path": path })),
                None | Some("write") => ("Write", json!({ "file_path": path, "content": "" })),
                Some(other) => return Err(format!("`access` is `{other}`; use `read` or `write`")),
            },
            (_, _, Some(url)) => ("WebFetch", json!({ "url": url, "prompt": "" })),
            _ => ("", json!({})),
        };
        let tool = tool.as_deref().unwrap_or(usual);
        let call = if tool.is_empty() {
            AgentCall::event(agent, kind, prompt.as_deref(), cwd)
        } else {
            let input =
                RawJson::parse(input.as_ref().unwrap_or(&own).to_string()).map_err(|error| error.to_string())?;
            AgentCall::tool(agent, kind, tool, &input, cwd)
        };
        call.map(|call| call.event).map_err(|error| error.to_string())
    }
}
