//! [`Row`]: the light form of an event that stays in memory.

use std::collections::HashSet;
use std::sync::Arc;

use checkrein::internal::sha256_hex;
use checkrein_core::Decision;
use checkrein_tools::decision_log::DecisionEntry;
use serde::{Serialize, Serializer};

/// Shared text. Rows of one session share most of their texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<str>);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Id of an event: the start of the SHA-256 of its line. The same in all runs of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub(super) u64);

impl EventId {
    /// Returns the id of an entry of the decision log.
    pub fn of(entry: &DecisionEntry) -> Self {
        // The text of serde, so that the spelling of the line does not matter.
        let text = serde_json::to_string(entry).unwrap_or_default();
        let hash = sha256_hex(text.as_bytes());
        Self(u64::from_str_radix(hash.get(..16).unwrap_or_default(), 16).unwrap_or_default())
    }
}

impl std::str::FromStr for EventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Only the form that `Display` writes.
        let text = if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) { text } else { "" };
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One event, in short.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// Position in the order of arrival, from 1. Another one in each run of the process.
    pub position: u64,
    /// Id.
    pub id: EventId,
    /// Time of the answer, UTC.
    pub time: Text,
    /// Agent.
    pub agent: Text,
    /// Session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Text>,
    /// Directory of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Text>,
    /// Sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Text>,
    /// Kind of the event.
    pub event: Text,
    /// Tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Text>,
    /// Start of the command or path, with secrets redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Box<str>>,
    /// Decision of all hooks.
    pub verdict: Decision,
    /// Decision that the agent got, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<Decision>,
    /// Start of the reason that the agent got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
    /// Hooks that were selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Text>,
    /// Hook that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Text>,
    /// Time from the arrival of the event to its answer, in microseconds.
    pub us: u64,
    /// `true` if the agent delivered the event before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    /// `true` if the tool got another input than the agent wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
}

impl Row {
    pub(super) fn new(position: u64, id: EventId, entry: &DecisionEntry, texts: &mut Texts) -> Self {
        Self {
            position,
            id,
            time: entry.time.as_str().into(),
            agent: texts.get(&entry.agent),
            session: texts.optional(entry.session.as_deref()),
            project: texts.optional(entry.project.as_deref()),
            subagent: texts.optional(entry.subagent.as_deref()),
            event: texts.get(&entry.event),
            tool: texts.optional(entry.tool.as_deref()),
            command: entry.command.as_deref().map(Into::into),
            verdict: entry.verdict,
            told: entry.told,
            reason: entry.reason.as_deref().map(Into::into),
            hooks: entry.hooks.iter().map(|hook| texts.get(hook)).collect(),
            by: texts.optional(entry.by.as_deref()),
            us: entry.us,
            repeat: entry.repeat,
            rewritten: entry.rewritten.is_some(),
        }
    }

    /// Decision that the agent got.
    pub fn answer(&self) -> Decision {
        self.told.unwrap_or(self.verdict)
    }
}

/// Shared texts. Texts that no row uses are dropped now and then.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: HashSet<Text>,
    /// Number of texts at which unused ones are dropped.
    full: usize,
}

impl Texts {
    pub(super) fn get(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        if self.known.len() >= self.full {
            self.known.retain(|Text(text)| Arc::strong_count(text) > 1);
            self.full = (self.known.len() * 2).max(1024);
        }
        let new = Text::from(text);
        self.known.insert(new.clone());
        new
    }

    fn optional(&mut self, text: Option<&str>) -> Option<Text> {
        text.map(|text| self.get(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_texts_are_dropped() {
        let mut texts = Texts::default();
        let kept: Vec<_> = (0..100).map(|number| texts.get(&format!("kept {number}"))).collect();
        for number in 0..100_000 {
            texts.get(&format!("session {number}"));
        }
        assert!(texts.known.len() <= 2048, "{}", texts.known.len());
        assert!(kept.iter().all(|text| texts.known.contains(text)));
    }

    #[test]
    fn ids_have_one_form() {
        let id: EventId = "00000000000000ff".parse().unwrap();
        assert_eq!(id.to_string(), "00000000000000ff");
        for text in ["", "ff", "+0000000000000ff", "00000000000000f/", "../../etc/passwd", "00000000000000fff"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
