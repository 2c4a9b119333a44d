//! Summary of many events: counts, times and warnings.

use checkrein_core::{BlockEffect, Decision, EventKind, HookOutcome, HookRecord, Record, SourceRecord};

/// Counts, the time of each hook, and all warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of events.
    pub events: usize,
    /// Number of hook runs.
    pub runs: usize,
    /// Number of events with the verdict deny or halt, without stops.
    pub blocked: usize,
    /// Number of events with a rewrite.
    pub rewritten: usize,
    /// Number of events with the verdict ask or defer.
    pub asked: usize,
    /// Number of denied stops, after which the agent continued.
    pub refused_stops: usize,
    /// Number of failed runs.
    pub failed: usize,
    /// Warnings, each with its event.
    pub warnings: Vec<String>,
    /// Hooks and their times, in the order of their first run.
    pub hooks: Vec<HookTime>,
}

/// Times of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookTime {
    /// Name of the hook.
    pub id: String,
    /// Source of the hook.
    pub source: SourceRecord,
    /// Number of runs.
    pub runs: usize,
    /// Total time of all runs, in milliseconds.
    pub total_ms: u64,
    /// Longest run, in milliseconds.
    pub longest_ms: u64,
}

impl Summary {
    /// Adds the record of one event.
    pub fn add(&mut self, record: &Record) {
        self.events += 1;
        let verdict = &record.verdict;
        let stop = record.event.parse::<EventKind>().is_ok_and(|kind| kind.contract().block == BlockEffect::Continue);
        match verdict.decision {
            Decision::Deny if stop => self.refused_stops += 1,
            Decision::Deny | Decision::Halt => self.blocked += 1,
            Decision::Ask | Decision::Defer => self.asked += 1,
            Decision::Allow | Decision::NoOpinion => {}
        }
        let rewritten = verdict.original_input != verdict.effective_input
            || verdict.original_prompt != verdict.effective_prompt
            || verdict.original_output != verdict.effective_output
            || verdict.effective_messages.is_some()
            || verdict.summary.is_some();
        self.rewritten += usize::from(rewritten);
        self.warnings.extend(verdict.warnings.iter().map(|warning| format!("{}: {warning}", record.event)));
        for hook in &record.hooks {
            self.add_run(hook);
        }
    }

    /// Adds the run of a background hook.
    pub fn add_background(&mut self, event: &EventKind, hook: &HookRecord) {
        self.add_run(hook);
        if let Some(failure) = hook.failure {
            let detail = hook.detail.as_deref().unwrap_or_default();
            let text = format!("{event}: hook `{}` failed in the background ({failure}): {detail}", hook.id);
            self.warnings.push(text);
        }
    }

    fn add_run(&mut self, hook: &HookRecord) {
        if hook.outcome == HookOutcome::Skipped {
            return;
        }
        self.runs += 1;
        self.failed += usize::from(hook.outcome == HookOutcome::Failure);
        let took = hook.duration_ms.unwrap_or_default();
        let known = self.hooks.iter_mut().find(|known| known.id == hook.id && known.source == hook.source);
        match known {
            Some(known) => {
                known.runs += 1;
                known.total_ms += took;
                known.longest_ms = known.longest_ms.max(took);
            }
            None => self.hooks.push(HookTime {
                id: hook.id.clone(),
                source: hook.source.clone(),
                runs: 1,
                total_ms: took,
                longest_ms: took,
            }),
        }
    }

    /// Slowest hooks first, each with its share of the total time in percent. Hooks below one millisecond are omitted.
    pub fn slowest(&self, count: usize) -> Vec<(&HookTime, u64)> {
        let all: u64 = self.hooks.iter().map(|hook| hook.total_ms).sum();
        let mut slowest: Vec<_> = self.hooks.iter().filter(|hook| hook.total_ms > 0).collect();
        slowest.sort_by_key(|hook| std::cmp::Reverse(hook.total_ms));
        slowest.truncate(count);
        slowest.into_iter().map(|hook| (hook, (hook.total_ms * 100 + all / 2) / all.max(1))).collect()
    }
}
