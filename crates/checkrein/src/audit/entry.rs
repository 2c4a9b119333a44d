//! What a line says.

use checkrein_core::{EventKind, Record};
use serde::{Deserialize, Serialize};

/// What a line of the log says, besides its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditEntry {
    /// When it was written, UTC.
    pub time: String,
    /// What it is about.
    pub kind: EntryKind,
    /// The version of checkrein that wrote it.
    pub checkrein: String,
    /// The process that wrote it.
    pub pid: u32,
    /// The agent, if it is known, by the name of its dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory of the project, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of a fire: what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// Of a refusal: the kind of the event, if it could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Of a refusal, or of a log that is not as it was left: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of a cut: how many bytes there are of the line that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of a cut: their SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// An event for which hooks ran, or which was refused.
    Fire,
    /// checkrein itself failed, and refused what it was asked about.
    Refusal,
    /// The line before was cut: whoever wrote it was ended meanwhile.
    Cut,
    /// The log is not as it was left.
    Broken,
}

impl AuditEntry {
    fn new(kind: EntryKind) -> Self {
        Self {
            time: String::new(),
            kind,
            checkrein: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            agent: None,
            project: None,
            record: None,
            event: None,
            reason: None,
            bytes: None,
            sha256: None,
        }
    }

    /// An event, and what came of it.
    pub fn fire(record: &Record) -> Self {
        Self { record: Some(record.clone()), ..Self::new(EntryKind::Fire) }
    }

    /// Something was refused because checkrein itself failed.
    pub fn refusal(kind: Option<&EventKind>, reason: impl Into<String>) -> Self {
        let event = kind.map(|kind| kind.name().to_owned());
        Self { event, reason: Some(reason.into()), ..Self::new(EntryKind::Refusal) }
    }

    /// The same with who sent the event, and from where.
    #[must_use]
    pub fn from_agent(mut self, agent: Option<&str>, project: Option<&str>) -> Self {
        self.agent = agent.map(str::to_owned);
        self.project = project.map(str::to_owned);
        self
    }

    pub(super) fn cut(bytes: u64, sha256: String) -> Self {
        Self { bytes: Some(bytes), sha256: Some(sha256), ..Self::new(EntryKind::Cut) }
    }

    pub(super) fn broken(reason: String) -> Self {
        Self { reason: Some(reason), ..Self::new(EntryKind::Broken) }
    }
}
