//! [`DecisionEntry`]: one line of the decision log.

use std::fmt::Write as _;
use std::time::Duration;

use checkrein_core::payload::Field;
use checkrein_core::{Decision, Event, EventKind, RawJson, Record};
use checkrein_dialects::Answer;
use serde::{Deserialize, Serialize};

use super::digest::{digest_json, quick_gist, short};
use crate::agent_adapter::AgentResponse;

/// Fields of a payload with the id of a call, the best first. The session files of agents use the same id. Qwen Code also sends a
/// `tool_use_id` that is nowhere else.
const CALL_FIELDS: &[&str] = &["tool_call_id", "toolCallId"];

/// One line of the decision log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct DecisionEntry {
    /// Time of the answer, UTC.
    pub time: String,
    /// Kind of the entry.
    #[serde(default, skip_serializing_if = "EntryKind::is_event")]
    pub kind: EntryKind,
    /// Dialect name of the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Session, if the agent named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Directory in which the agent called checkrein.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Id of the sub-agent, if the agent named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Kind of the event.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// Id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Digest of the tool input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Digest of the tool input that the agent got instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
    /// Start of the command or path, with secrets redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Decision of all hooks.
    #[serde(default)]
    pub verdict: Decision,
    /// Decision that the agent got, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Decision>,
    /// Start of the reason that the agent got, with secrets redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Hooks that ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    /// Hook that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Hooks that a variable of the user skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Time from the arrival of the event to its answer, in microseconds.
    #[serde(default)]
    pub us: u64,
    /// `true` if the agent delivered the event before: no hook ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// An answered event.
    #[default]
    Event,
    /// First line of a new log: before it, no event was logged.
    Start,
}

impl EntryKind {
    fn is_event(&self) -> bool {
        *self == Self::Event
    }
}

/// Maximum length of an id, in bytes. Longer ones are cut, here and in session files.
const MAX_ID: usize = 200;

/// Maximum number of hooks in an entry.
const MAX_HOOKS: usize = 20;

/// Returns an id as the log keeps it. `None`: it is empty.
pub(crate) fn bounded_id(id: &str) -> Option<String> {
    if id.is_empty() {
        return None;
    }
    let mut end = id.len().min(MAX_ID);
    while !id.is_char_boundary(end) {
        end -= 1;
    }
    Some(id[..end].to_owned())
}

/// Hooks of an answer. A repeated delivery has those of the first one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct AnsweredBy {
    hooks: Vec<String>,
    /// Hook that decided.
    by: Option<String>,
    skipped: Vec<String>,
    /// Digest of the input that the agent got instead.
    rewritten: Option<String>,
}

impl AnsweredBy {
    /// Collects the hooks of a response.
    pub(crate) fn new(response: &AgentResponse) -> Self {
        let skipped = short_ids(response.skipped_hooks.iter().map(String::as_str));
        let Some(record) = &response.record else { return Self { skipped, ..Self::default() } };
        let verdict = &record.verdict;
        let decided = verdict.reasons.iter().find(|reason| reason.decision == verdict.decision);
        let is_new = verdict.effective_input.is_some() && verdict.effective_input != verdict.original_input;
        Self {
            hooks: short_ids(record.hooks.iter().map(|hook| hook.id.as_str())),
            by: decided.map(|reason| short(&reason.hook)),
            skipped,
            rewritten: if is_new { verdict.effective_input.as_ref().map(digest_json) } else { None },
        }
    }
}

fn short_ids<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    ids.take(MAX_HOOKS).map(short).collect()
}

/// One answered event.
pub(crate) struct Answered<'a> {
    pub(crate) agent: &'a str,
    pub(crate) payload: &'a RawJson,
    pub(crate) event: &'a Event,
    pub(crate) record: Option<&'a Record>,
    pub(crate) answer: &'a Answer,
    pub(crate) by: AnsweredBy,
    pub(crate) duration: Duration,
}

impl Answered<'_> {
    /// Returns `true` if the event belongs in the log: it can be judged, it starts or ends something, or a hook ran for it.
    pub(crate) fn is_logged(&self) -> bool {
        let has_effect = self.record.is_some_and(|record| {
            !record.hooks.is_empty() || record.repeat || record.verdict.decision != Decision::NoOpinion
        });
        has_effect
            || self.answer.restricts
            || matches!(
                self.event.kind(),
                EventKind::PreToolUse
                    | EventKind::PermissionRequest
                    | EventKind::PromptSubmit
                    | EventKind::SessionStart
                    | EventKind::SessionEnd
                    | EventKind::Stop
                    | EventKind::SubagentStart
                    | EventKind::SubagentStop
            )
    }

    /// Returns the entry, without its time.
    pub(crate) fn entry(&self, project: Option<String>) -> DecisionEntry {
        let Self { event, record, answer, .. } = self;
        let text = |name: &str| match event.field(name) {
            Some(Field::Text(text)) if !text.is_empty() => Some(text.to_string()),
            _ => None,
        };
        // One pass: a payload can be large.
        let sent = self.payload.entries().and_then(|mut entries| {
            let entry = entries.find(|entry| CALL_FIELDS.iter().any(|name| entry.is_named(name)))?;
            entry.text().filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
        });
        let told = answer.told();
        let verdict = record.map_or(told.decision, |record| record.verdict.decision);
        let input = event.tool_input();
        let AnsweredBy { hooks, by, skipped, rewritten } = self.by.clone();
        DecisionEntry {
            time: String::new(),
            kind: EntryKind::Event,
            agent: self.agent.to_owned(),
            session: event.envelope.session_id.as_deref().and_then(bounded_id),
            project,
            subagent: event.envelope.agent_id.as_deref().and_then(bounded_id),
            event: event.kind().name().to_owned(),
            call: sent.or_else(|| text("tool_use_id")).and_then(|id| bounded_id(&id)),
            tool: event.tool_name().map(short),
            digest: input.map(digest_json),
            rewritten,
            command: input.and_then(quick_gist),
            verdict,
            told: (told.decision != verdict).then_some(told.decision),
            reason: told.reason.map(short),
            hooks,
            by,
            skipped,
            us: u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX),
            repeat: record.is_some_and(|record| record.repeat),
        }
    }
}

impl DecisionEntry {
    /// Creates the first line of a new log.
    pub(super) fn start() -> Self {
        Self {
            time: String::new(),
            kind: EntryKind::Start,
            agent: String::new(),
            session: None,
            project: None,
            subagent: None,
            event: String::new(),
            call: None,
            tool: None,
            digest: None,
            rewritten: None,
            command: None,
            verdict: Decision::NoOpinion,
            told: None,
            reason: None,
            hooks: Vec::new(),
            by: None,
            skipped: Vec::new(),
            us: 0,
            repeat: false,
        }
    }

    /// Returns the line of this entry, as serde would write it. The writer of JSON strings has run before in this process; the
    /// general serializer has not, and costs some page faults.
    pub(super) fn line(&self) -> String {
        let mut line = Line(String::with_capacity(512));
        line.text("time", &self.time);
        if !self.kind.is_event() {
            line.text("kind", "start");
        }
        let texts = [
            ("agent", Some(&self.agent)),
            ("session", self.session.as_ref()),
            ("project", self.project.as_ref()),
            ("subagent", self.subagent.as_ref()),
            ("event", Some(&self.event)),
            ("call", self.call.as_ref()),
            ("tool", self.tool.as_ref()),
            ("digest", self.digest.as_ref()),
            ("rewritten", self.rewritten.as_ref()),
            ("command", self.command.as_ref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                line.text(key, text);
            }
        }
        line.text("verdict", self.verdict.name());
        if let Some(told) = self.told {
            line.text("told", told.name());
        }
        if let Some(reason) = &self.reason {
            line.text("reason", reason);
        }
        line.list("hooks", &self.hooks);
        if let Some(by) = &self.by {
            line.text("by", by);
        }
        line.list("skipped", &self.skipped);
        line.key("us");
        let _ = write!(line.0, "{}", self.us);
        if self.repeat {
            line.key("repeat");
            line.0.push_str("true");
        }
        line.0.push_str("}\n");
        line.0
    }

    /// Decision that the agent got.
    pub fn answer(&self) -> Decision {
        self.told.unwrap_or(self.verdict)
    }
}

/// A line in the making.
struct Line(String);

impl Line {
    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        RawJson::push_string(&mut self.0, key);
        self.0.push(':');
    }

    fn list(&mut self, key: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.key(key);
        for (position, item) in items.iter().enumerate() {
            self.0.push(if position == 0 { '[' } else { ',' });
            RawJson::push_string(&mut self.0, item);
        }
        self.0.push(']');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        RawJson::push_string(&mut self.0, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let text = |text: &str| Some(text.to_owned());
        let full = DecisionEntry {
            time: "2026-01-31T08:00:00.123Z".to_owned(),
            kind: EntryKind::Event,
            agent: "claude".to_owned(),
            session: text("s"),
            project: text("/p \"q\"\\"),
            subagent: text("a"),
            event: "pre_tool_use".to_owned(),
            call: text("c"),
            tool: text("Bash"),
            digest: text("d"),
            rewritten: text("r"),
            command: text("ls \u{1}é\n"),
            verdict: Decision::Ask,
            told: Some(Decision::Deny),
            reason: text("no"),
            hooks: vec!["one".to_owned(), "two".to_owned()],
            by: text("one"),
            skipped: vec!["three".to_owned()],
            us: 12,
            repeat: true,
        };
        for entry in [full, DecisionEntry::start()] {
            let line = entry.line();
            assert!(line.ends_with('\n') && line.lines().count() == 1, "{line}");
            assert_eq!(serde_json::from_str::<DecisionEntry>(&line).unwrap(), entry);
            let expected: serde_json::Value = serde_json::to_value(&entry).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), expected);
        }
    }
}
