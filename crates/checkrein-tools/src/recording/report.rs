//! What came of a replay.

use std::collections::BTreeMap;

use checkrein_core::Decision;
use serde::Serialize;

use super::compare::Difference;
use super::read::BadLine;

/// What came of one event that was fired again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Replayed {
    /// The line of the recording.
    pub line: u64,
    /// When it was recorded, UTC.
    pub time: Option<String>,
    /// The agent that had sent it.
    pub agent: Option<String>,
    /// The kind of the event.
    pub event: String,
    /// What matchers are compared with.
    pub subject: Option<String>,
    /// What the tool was to be called with, or what the user said.
    pub about: Option<String>,
    /// What was decided then.
    pub then: Decision,
    /// What is decided now. The same as then if nothing was run.
    pub now: Decision,
    /// Where they differ. Empty: nowhere.
    pub differences: Vec<Difference>,
    /// The hooks that say something else than then.
    pub changed_hooks: Vec<String>,
    /// The hooks that were chosen then.
    pub hooks_then: Vec<String>,
    /// The hooks that are chosen now.
    pub hooks_now: Vec<String>,
    /// Whether secrets were taken out when it was recorded, so that hooks see less now.
    pub lacks_secrets: bool,
    /// Whether parts of the event are made up.
    pub made_up: bool,
}

impl Replayed {
    /// Whether anything is otherwise than then.
    pub fn is_changed(&self) -> bool {
        !self.differences.is_empty()
    }
}

/// What came of all events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Whether nothing was run.
    pub dry_run: bool,
    /// How many events were fired, or would be.
    pub events: usize,
    /// How many of them are otherwise than then.
    pub changed: usize,
    /// How many of those lacked secrets that had been taken out.
    pub changed_without_secrets: usize,
    /// How many were left out, since they were recorded in other projects.
    pub other_projects: usize,
    /// Decisions that differ, with how often; the most frequent first.
    pub decisions: Vec<Transition>,
    /// Hooks that say something else in events that changed, with how often; the most frequent first.
    pub hooks: Vec<HookCount>,
    /// Lines that are no events.
    pub broken: Vec<BadLine>,
    /// The events, in the order of the recording.
    pub replayed: Vec<Replayed>,
}

/// A decision that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Transition {
    /// What it was then.
    pub then: Decision,
    /// What it is now.
    pub now: Decision,
    /// How often.
    pub count: usize,
}

/// How often a hook says something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct HookCount {
    /// The hook.
    pub id: String,
    /// How often.
    pub count: usize,
}

/// Counts while events are fired, and keeps what shall be kept of them.
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

    pub(super) fn left_out(&mut self) {
        self.report.other_projects += 1;
    }

    pub(super) fn broken(&mut self, bad: BadLine) {
        self.report.broken.push(bad);
    }

    pub(super) fn count(&mut self, replayed: Replayed, keep: bool) {
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
