//! Content of an entry: the event, the refusal, or a note about the log itself.

use checkrein_core::{EventKind, Record};
use serde::{Deserialize, Serialize};

/// An entry of the log, without its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditEntry {
    /// Time of the entry, UTC.
    pub time: String,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Version of checkrein that wrote the entry.
    pub checkrein: String,
    /// Process that wrote the entry.
    pub pid: u32,
    /// Dialect name of the agent, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Directory of the project, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// `fire`: the event, its hooks and the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// `refusal` and approvals: the kind of the event, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// `refusal` and `broken`: the reason. Approvals: the id, the call and the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `cut`: number of bytes that remain of the cut line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `cut`: SHA-256 of these bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// An event for which hooks ran, or which was denied.
    Fire,
    /// checkrein itself denied the event: it failed, or the agent tried to confirm its own call.
    Refusal,
    /// A call waits for the user's approval.
    ApprovalRequest,
    /// The user approved a call.
    Grant,
    /// A call passed because the user had approved it.
    GrantUse,
    /// The user denied a call that waited.
    ApprovalDeny,
    /// An approval expired or was cancelled.
    ApprovalEnd,
    /// The previous line is incomplete: its writer was killed.
    Cut,
    /// The log did not end as the last writer left it.
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

    /// Creates an entry for an event with hooks or a denied event.
    pub fn fire(record: &Record) -> Self {
        Self { record: Some(record.clone()), ..Self::new(EntryKind::Fire) }
    }

    /// Creates an entry for an event that was denied because checkrein itself failed.
    pub fn refusal(kind: Option<&EventKind>, reason: impl Into<String>) -> Self {
        let event = kind.map(|kind| kind.name().to_owned());
        Self { event, reason: Some(reason.into()), ..Self::new(EntryKind::Refusal) }
    }

    /// Creates an entry for a change of an approval.
    pub fn confirmation(entry: EntryKind, kind: &EventKind, call: impl Into<String>) -> Self {
        Self { event: Some(kind.name().to_owned()), reason: Some(call.into()), ..Self::new(entry) }
    }

    /// Sets the agent that sent the event, and its project directory.
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
