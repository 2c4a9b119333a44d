//! Sources of the facts in dialect tables. `docs/support.md` and `checkrein events --as AGENT` show them.

use super::{Dialect, EventRow};

/// Kind of source of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Provenance {
    /// Observed with the agent.
    Observed,
    /// Source code or documentation of the agent.
    #[default]
    Documented,
    /// Other sources, or sources that differ.
    Uncertain,
}

impl Provenance {
    /// Returns the word for it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Documented => "documented",
            Self::Uncertain => "uncertain",
        }
    }
}

/// Source of facts about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// Kind of source.
    pub known: Provenance,
    /// The source: runs, a repository with a commit, a document.
    pub source: &'static str,
    /// Version of the agent or of the source.
    pub version: &'static str,
    /// Date of the source, or of the runs: `2026-11-15`, or `2026-08` if the day is not known.
    pub date: &'static str,
}

impl Evidence {
    /// Runs of the agent with a scripted model.
    pub const fn observed(version: &'static str, date: &'static str) -> Self {
        Self { known: Provenance::Observed, source: "runs of the agent with a scripted model", version, date }
    }

    /// Source code or documentation of the agent.
    pub const fn documented(source: &'static str, version: &'static str, date: &'static str) -> Self {
        Self { known: Provenance::Documented, source, version, date }
    }

    /// Other sources, or sources that differ.
    pub const fn uncertain(source: &'static str, version: &'static str, date: &'static str) -> Self {
        Self { known: Provenance::Uncertain, source, version, date }
    }
}

impl Dialect {
    /// Returns the source of the facts about an event. `None`: the table lacks it.
    pub fn evidence_of(&self, row: &EventRow) -> Option<Evidence> {
        row.evidence.or_else(|| self.evidence.iter().find(|evidence| evidence.known == row.known).copied())
    }
}
