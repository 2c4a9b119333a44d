//! Report of a replay.

use std::collections::BTreeMap;

use checkrein_core::Decision;
use serde::Serialize;

use super::compare::Difference;
use super::read::BadLine;

/// Result of one replayed event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Replayed {
    /// Line in the recording.
    pub line: u64,
    /// Time of the recorded event, UTC.
    pub time: Option<String>,
    /// Agent that sent the recorded event.
    pub agent: Option<String>,
    /// Kind of the event.
    pub event: String,
    /// Subject for matchers, such as the tool name.
    pub subject: Option<String>,
    /// Tool input or prompt.
    pub about: Option<String>,
    /// Recorded decision.
    pub then: Decision,
    /// New decision. In a dry run, the recorded one.
    pub now: Decision,
    /// Differences between the verdicts.
    pub differences: Vec<Difference>,
    /// Hooks with another reply than in the recording.
    pub changed_hooks: Vec<String>,
    /// Hooks that were selected in the recording.
    pub hooks_then: Vec<String>,
    /// Hooks that are selected now.
    pub hooks_now: Vec<String>,
    /// `true` if the recorded event has redacted secrets, so that hooks see less now.
    pub lacks_secrets: bool,
    /// `true` if parts of the event have sample values.
    pub made_up: bool,
}

impl Replayed {
    /// Returns `true` if the verdicts differ.
    pub fn is_changed(&self) -> bool {
        !self.differences.is_empty()
    }
}

/// Result of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ReplayReport {
    /// `true` if no hooks were run.
    pub dry_run: bool,
    /// Number of events that were fired, or would be in a dry run.
    pub events: usize,
    /// Number of events with differences.
    pub changed: usize,
    /// Number of events with differences that have redacted secrets.
    pub changed_without_secrets: usize,
    /// Number of skipped events of other projects.
    pub other_projects: usize,
    /// Changed decisions and their counts, the most frequent first.
    pub decisions: Vec<Transition>,
    /// Hooks with another reply in changed events and their counts, the most frequent first.
    pub hooks: Vec<HookCount>,
    /// Invalid lines.
    pub broken: Vec<BadLine>,
    /// Events, in the order of the recording.
    pub replayed: Vec<Replayed>,
}

/// Changed decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Transition {
    /// Recorded decision.
    pub then: Decision,
    /// New decision.
    pub now: Decision,
    /// Number of events.
    pub count: usize,
}

/// Number of changed replies of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct HookCount {
    /// Name of the hook.
    pub id: String,
    /// Number of events.
    pub count: usize,
}

/// Builder of a [`ReplayReport`].
#[derive(Debug, Default)]
pub(super) struct Tally {
    report: ReplayReport,
    decisions: BTreeMap<(Decision, Decision), usize>,
    hooks: BTreeMap<String, usize>,
}

impl Tally {
    pub(super) fn new(dry_run: bool) -> Self {
        Self { report: ReplayReport { dry_run, ..ReplayReport::default() }, ..Self::default() }
    }

    pub(super) fn add_other_project(&mut self) {
        self.report.other_projects += 1;
    }

    pub(super) fn add_bad_line(&mut self, bad: BadLine) {
        self.report.broken.push(bad);
    }

    pub(super) fn add(&mut self, replayed: Replayed, keep: bool) {
        self.report.events += 1;
        if replayed.is_changed() {
            self.report.changed += 1;
            self.report.changed_without_secrets += usize::from(replayed.lacks_secrets);
            if replayed.then != replayed.now {
                *self.decisions.entry((replayed.then, replayed.now)).or_default() += 1;
            }
            for hook in &replayed.changed_hooks {
                *self.hooks.entry(hook.clone()).or_default() += 1;
            }
        }
        if keep {
            self.report.replayed.push(replayed);
        }
    }

    pub(super) fn finish(self) -> ReplayReport {
        let Self { mut report, decisions, hooks } = self;
        report.decisions = decisions.into_iter().map(|((then, now), count)| Transition { then, now, count }).collect();
        report.decisions.sort_by_key(|transition| std::cmp::Reverse(transition.count));
        report.hooks = hooks.into_iter().map(|(id, count)| HookCount { id, count }).collect();
        report.hooks.sort_by_key(|hook| std::cmp::Reverse(hook.count));
        report
    }
}
