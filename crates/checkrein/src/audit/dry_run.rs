//! Summary of dry runs in an audit log, by hook.

use checkrein_core::{Decision, HookRecord, Record, SourceRecord};
use serde::Serialize;

use super::files::LogLine;

/// Dry runs in an audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DryRunReport {
    /// Dry-run hooks, in the order of their first run.
    pub hooks: Vec<DryRunHook>,
}

/// Runs of one dry-run hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DryRunHook {
    /// What it is called.
    pub id: String,
    /// Where it comes from. Its line is that of its last run.
    pub source: SourceRecord,
    /// How often it ran.
    pub fires: u64,
    /// How often it would have denied or halted, also by failing.
    pub denied: u64,
    /// How often it would have had somebody asked.
    pub asked: u64,
    /// How often it would have rewritten something.
    pub rewritten: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often the verdict would have been another.
    pub differs: u64,
    /// How long it took in all, in milliseconds.
    pub total_ms: u64,
    /// How long it took at most.
    pub max_ms: u64,
    /// The last times that it would have done something.
    pub examples: Vec<DryRunExample>,
}

/// One run in which a dry-run hook would have had an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DryRunExample {
    /// The line of the log.
    pub seq: u64,
    /// When, UTC.
    pub time: String,
    /// The kind of the event.
    pub event: String,
    /// The tool, or what else matchers were compared with.
    pub subject: Option<String>,
    /// What it would have decided.
    pub decision: Decision,
    /// Why.
    pub reason: Option<String>,
    /// What it would have rewritten, by name.
    pub rewrites: Vec<String>,
    /// Whether the verdict would have been another.
    pub differs: bool,
}

impl DryRunReport {
    /// Takes a line, and keeps so many examples of each hook.
    pub fn take(&mut self, line: &LogLine, examples: usize) {
        let Some(record) = &line.entry.record else { return };
        for hook in record.hooks.iter().filter(|hook| hook.dry_run) {
            self.of(hook).take(line, record, hook, examples);
        }
    }

    fn of(&mut self, hook: &HookRecord) -> &mut DryRunHook {
        // Lines move when files are edited; names do not.
        let is_it = |have: &DryRunHook| {
            have.id == hook.id && have.source.file == hook.source.file && have.source.scope == hook.source.scope
        };
        let at = self.hooks.iter().position(is_it).unwrap_or_else(|| {
            self.hooks.push(DryRunHook::new(hook));
            self.hooks.len() - 1
        });
        &mut self.hooks[at]
    }
}

impl DryRunHook {
    fn new(hook: &HookRecord) -> Self {
        Self {
            id: hook.id.clone(),
            source: hook.source.clone(),
            fires: 0,
            denied: 0,
            asked: 0,
            rewritten: 0,
            failed: 0,
            differs: 0,
            total_ms: 0,
            max_ms: 0,
            examples: Vec::new(),
        }
    }

    fn take(&mut self, line: &LogLine, record: &Record, hook: &HookRecord, examples: usize) {
        self.source.line = hook.source.line;
        self.fires += 1;
        self.failed += u64::from(hook.failure.is_some());
        let took = hook.duration_ms.unwrap_or(0);
        self.total_ms = self.total_ms.saturating_add(took);
        self.max_ms = self.max_ms.max(took);
        let Some(would) = &hook.would else { return };
        self.denied += u64::from(would.decision.is_block());
        self.asked += u64::from(matches!(would.decision, Decision::Ask | Decision::Defer));
        self.rewritten += u64::from(!would.rewrites.is_empty());
        self.differs += u64::from(would.differs);
        let does = !matches!(would.decision, Decision::NoOpinion | Decision::Allow);
        if !(does || would.differs || !would.rewrites.is_empty()) {
            return;
        }
        self.examples.push(DryRunExample {
            seq: line.head.seq,
            time: line.entry.time.clone(),
            event: record.event.clone(),
            subject: record.subject.clone(),
            decision: would.decision,
            reason: would.reason.clone(),
            rewrites: would.rewrites.clone(),
            differs: would.differs,
        });
        let too_many = self.examples.len().saturating_sub(examples);
        self.examples.drain(..too_many);
    }
}
