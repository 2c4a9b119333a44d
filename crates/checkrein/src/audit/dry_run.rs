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
    /// Id of the hook.
    pub id: String,
    /// Source of the hook. Its line is that of the last run.
    pub source: SourceRecord,
    /// Number of runs.
    pub fires: u64,
    /// Number of runs that would have denied or halted, including failures.
    pub denied: u64,
    /// Number of runs that would have asked.
    pub asked: u64,
    /// Number of runs that would have rewritten something.
    pub rewritten: u64,
    /// Number of failed runs.
    pub failed: u64,
    /// Number of runs that would have changed the verdict.
    pub differs: u64,
    /// Total duration, in milliseconds.
    pub total_ms: u64,
    /// Longest duration, in milliseconds.
    pub max_ms: u64,
    /// Last runs that would have had an effect.
    pub examples: Vec<DryRunExample>,
}

/// One run in which a dry-run hook would have had an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DryRunExample {
    /// Number of the entry in the log.
    pub seq: u64,
    /// Time of the run, UTC.
    pub time: String,
    /// Kind of the event.
    pub event: String,
    /// The tool, or the other value that matchers are compared with.
    pub subject: Option<String>,
    /// Decision of the hook.
    pub decision: Decision,
    /// Reason of the decision.
    pub reason: Option<String>,
    /// Names of the values that it would have rewritten.
    pub rewrites: Vec<String>,
    /// `true` if the hook would have changed the verdict.
    pub differs: bool,
}

impl DryRunReport {
    /// Adds an entry, and keeps the last `examples` examples of each hook.
    pub fn take(&mut self, line: &LogLine, examples: usize) {
        let Some(record) = &line.entry.record else { return };
        for hook in record.hooks.iter().filter(|hook| hook.dry_run) {
            self.hook_mut(hook).take(line, record, hook, examples);
        }
    }

    fn hook_mut(&mut self, hook: &HookRecord) -> &mut DryRunHook {
        // Edits of a file change line numbers, so the line is not compared.
        let is_same = |known: &DryRunHook| {
            known.id == hook.id && known.source.file == hook.source.file && known.source.scope == hook.source.scope
        };
        let index = self.hooks.iter().position(is_same).unwrap_or_else(|| {
            self.hooks.push(DryRunHook::new(hook));
            self.hooks.len() - 1
        });
        &mut self.hooks[index]
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
        let decides = !matches!(would.decision, Decision::NoOpinion | Decision::Allow);
        if !(decides || would.differs || !would.rewrites.is_empty()) {
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
