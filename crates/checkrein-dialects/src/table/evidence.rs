//! Sources of the facts in dialect tables. `docs/support.md` and `checkrein events --as AGENT` show them.

use super::{Dialect, EventRow, ToolRow};

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

    /// Runs of the agent with checkrein as its hook and a scripted model.
    pub const fn scenarios(version: &'static str, date: &'static str) -> Self {
        let source = "runs of the agent with installed checkrein and a scripted model";
        Self { known: Provenance::Observed, source, version, date }
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

/// Group of facts in a dialect table, besides its events. The fields of an event have the source of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactGroup {
    /// Fields that payloads of all events have.
    Fields,
    /// Tools that were not observed.
    Tools,
    /// Hook files: places, keys, matchers, timeouts.
    Files,
    /// Answers that decide, rewrite the input or add context.
    Verdicts,
    /// All other keys of answers.
    Answers,
    /// Behaviour of the agent if a hook fails.
    Failures,
    /// Places of installed entries.
    Install,
}

impl FactGroup {
    /// All groups.
    pub const ALL: [Self; 7] =
        [Self::Fields, Self::Tools, Self::Files, Self::Verdicts, Self::Answers, Self::Failures, Self::Install];

    /// Name in texts.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Fields => "common fields",
            Self::Tools => "tools",
            Self::Files => "hook files",
            Self::Verdicts => "decisions, rewrites and context",
            Self::Answers => "other keys of answers",
            Self::Failures => "failures of hooks",
            Self::Install => "places of entries",
        }
    }
}

/// Sources of the groups of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactSources {
    groups: [Evidence; FactGroup::ALL.len()],
}

impl FactSources {
    /// One source for all groups.
    pub const fn all(source: Evidence) -> Self {
        Self { groups: [source; FactGroup::ALL.len()] }
    }

    /// Sets the source of a group.
    #[must_use]
    pub const fn with(mut self, group: FactGroup, source: Evidence) -> Self {
        self.groups[group as usize] = source;
        self
    }

    /// Returns the source of a group.
    pub const fn of(&self, group: FactGroup) -> Evidence {
        self.groups[group as usize]
    }
}

impl Dialect {
    /// Returns the source of a group of facts. `None`: the table lacks it, or has no such facts.
    pub fn evidence_of_group(&self, group: FactGroup) -> Option<Evidence> {
        if group == FactGroup::Install && self.install.is_none() {
            return None;
        }
        self.facts.map(|facts| facts.of(group)).or_else(|| self.evidence.first().copied())
    }

    /// Returns the source of the facts about a tool of the agent. `None`: the table lacks it.
    pub fn evidence_of_tool(&self, tool: &ToolRow) -> Option<Evidence> {
        // Agents that were not run use rows of others.
        let observed = self.evidence.iter().find(|evidence| evidence.known == Provenance::Observed).copied();
        observed.filter(|_| tool.is_observed).or_else(|| self.evidence_of_group(FactGroup::Tools))
    }

    /// Returns all sources of this table, each once. Rows name them by their position.
    pub fn sources(&self) -> Vec<Evidence> {
        let mut sources = self.evidence.to_vec();
        let of_events = self.events.iter().filter_map(|row| self.evidence_of(row));
        for evidence in of_events.chain(FactGroup::ALL.into_iter().filter_map(|group| self.evidence_of_group(group))) {
            if !sources.contains(&evidence) {
                sources.push(evidence);
            }
        }
        sources
    }

    /// Returns the source of the facts about an event. `None`: the table lacks it.
    pub fn evidence_of(&self, row: &EventRow) -> Option<Evidence> {
        row.evidence.or_else(|| self.evidence.iter().find(|evidence| evidence.known == row.known).copied())
    }
}
