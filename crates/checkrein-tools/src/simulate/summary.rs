//! What many fires come to.

use checkrein_core::{BlockEffect, Decision, EventKind, HookOutcome, HookRecord, Record, SourceRecord};

/// What many fires come to: counts, the time that each hook took, and every warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Events that were fired.
    pub events: usize,
    /// Runs of hooks.
    pub runs: usize,
    /// Events whose verdict was a deny or a halt, but for stops.
    pub blocked: usize,
    /// Events at which something was rewritten.
    pub rewritten: usize,
    /// Events whose verdict was to ask.
    pub asked: usize,
    /// Stops that were refused, so that the agent went on.
    pub refused_stops: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Every warning, with the event that it came at.
    pub warnings: Vec<String>,
    /// Hooks and the time that they took, in the order of their first run.
    pub hooks: Vec<HookTime>,
}

/// How long a hook took, in all its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookTime {
    /// What it is called.
    pub id: String,
    /// Where it comes from.
    pub source: SourceRecord,
    /// How often it ran.
    pub runs: usize,
    /// All its runs together, in milliseconds.
    pub total_ms: u64,
    /// Its longest run, in milliseconds.
    pub longest_ms: u64,
}

impl Summary {
    /// Takes one fire into account.
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

    /// Takes a hook into account that ran in the background, at this event.
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

    /// The hooks that took the most time, the slowest first, and their share of the time of all in per cent. Those that
    /// took less than a millisecond are left out.
    pub fn slowest(&self, count: usize) -> Vec<(&HookTime, u64)> {
        let all: u64 = self.hooks.iter().map(|hook| hook.total_ms).sum();
        let mut slowest: Vec<_> = self.hooks.iter().filter(|hook| hook.total_ms > 0).collect();
        slowest.sort_by_key(|hook| std::cmp::Reverse(hook.total_ms));
        slowest.truncate(count);
        slowest.into_iter().map(|hook| (hook, (hook.total_ms * 100 + all / 2) / all.max(1))).collect()
    }
}
