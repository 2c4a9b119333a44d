//! Statistics per hook.

use std::collections::{BTreeMap, VecDeque};

use checkrein_core::{Decision, FailureKind, HookOutcome, RawJson, Record};
use checkrein_tools::recording::RecordedEvent;
use serde::Serialize;

use super::row::Row;

/// Maximum number of hooks. The project of an untrusted repository must not fill the memory.
const MAX_HOOKS: usize = 1000;

/// Number of durations that percentiles are computed from: the last ones.
const MAX_DURATIONS: usize = 1000;

/// Maximum length of an error, in characters.
const MAX_ERROR: usize = 500;

/// Statistics of one hook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookStats {
    /// Id.
    pub id: String,
    /// Type of the handler. Empty: no full record is known.
    pub handler: String,
    /// Place in its file, such as `hooks.yaml:12`. Empty: unknown.
    pub source: String,
    /// Number of runs, of which full records are known.
    pub runs: u64,
    /// Number of events that only the decision log has. The hook was selected for them; times and results are unknown.
    pub only_logged: u64,
    /// Median of the last durations, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95th percentile of the last durations, in milliseconds.
    pub p95_ms: Option<u64>,
    /// Number of failures: failed runs, and events for which the hook did not run because it is not approved.
    pub failures: u64,
    /// Number of runs that were denials.
    pub denials: u64,
    /// Number of runs that were questions.
    pub asks: u64,
    /// Number of skipped runs.
    pub skipped: u64,
    /// Last failure.
    pub last_error: Option<String>,
    /// Time of the last failure, UTC.
    pub last_error_time: Option<String>,
    /// Time of the last run, UTC.
    pub last_run: Option<String>,
}

#[derive(Debug, Default)]
struct Entry {
    stats: HookStats,
    durations: VecDeque<u64>,
}

/// Statistics of all hooks.
#[derive(Debug, Default)]
pub(super) struct Hooks(BTreeMap<String, Entry>);

impl Hooks {
    fn entry(&mut self, id: &str) -> Option<&mut Entry> {
        if self.0.len() >= MAX_HOOKS && !self.0.contains_key(id) {
            return None;
        }
        let entry = self.0.entry(id.to_owned()).or_default();
        if entry.stats.id.is_empty() {
            id.clone_into(&mut entry.stats.id);
        }
        Some(entry)
    }

    /// Adds an event without a full record. `sign` is -1 if the record has arrived later.
    pub(super) fn add_line(&mut self, row: &Row, sign: i8) {
        for hook in &row.hooks {
            let Some(entry) = self.entry(hook.as_str()) else { continue };
            let count = &mut entry.stats.only_logged;
            *count = if sign < 0 { count.saturating_sub(1) } else { *count + 1 };
        }
    }

    /// Adds a full record.
    pub(super) fn add_record(&mut self, time: &str, record: &Record) {
        for hook in &record.hooks {
            let Some(Entry { stats, durations }) = self.entry(&hook.id) else { continue };
            stats.handler.clone_from(&hook.handler);
            stats.source = match (&hook.source.file, hook.source.line) {
                (Some(file), Some(line)) => format!("{file}:{line}"),
                (Some(file), None) => file.clone(),
                (None, _) => String::new(),
            };
            if hook.outcome == HookOutcome::Skipped {
                stats.skipped += 1;
                continue;
            }
            let has_run = hook.failure != Some(FailureKind::Untrusted);
            stats.runs += u64::from(has_run);
            if has_run && stats.last_run.as_deref().is_none_or(|last| last < time) {
                stats.last_run = Some(time.to_owned());
            }
            match hook.decision {
                Some(Decision::Deny | Decision::Halt) => stats.denials += 1,
                Some(Decision::Ask) => stats.asks += 1,
                _ => {}
            }
            if let (true, Some(duration)) = (has_run, hook.duration_ms) {
                if durations.len() == MAX_DURATIONS {
                    durations.pop_front();
                }
                durations.push_back(duration);
            }
            if hook.outcome == HookOutcome::Failure {
                stats.failures += 1;
                let kind = hook.failure.map(|kind| kind.to_string()).unwrap_or_default();
                let detail = hook.detail.as_deref().unwrap_or_default();
                stats.last_error = Some(format!("{kind}: {detail}").chars().take(MAX_ERROR).collect());
                stats.last_error_time = Some(time.to_owned());
            }
        }
    }

    pub(super) fn all(&self) -> Vec<HookStats> {
        let stats = self.0.values().map(|Entry { stats, durations }| {
            let mut sorted: Vec<_> = durations.iter().copied().collect();
            sorted.sort_unstable();
            let percentile = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1));
            HookStats { p50_ms: percentile(50).copied(), p95_ms: percentile(95).copied(), ..stats.clone() }
        });
        stats.collect()
    }
}

/// Returns the time and the record in a stored record.
pub(super) fn record_of(json: &RawJson) -> Option<(String, Record)> {
    let recorded: RecordedEvent = json.read().ok()?;
    Some((recorded.time, recorded.record))
}
