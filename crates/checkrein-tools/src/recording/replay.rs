//! Replay of recorded events with the current hooks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::{Event, RawJson, Record, Target};
use checkrein_dialects::{AnswerExtras, Dialect};
use futures_util::StreamExt as _;

use super::compare::{Difference, changed_hooks, differences};
use super::entry::Entry;
use super::read::BadLine;
use super::report::{ReplayReport, Replayed, Tally};
use checkrein::engine::Engine;
use checkrein::hook_files::Loaded;
use checkrein::internal::repository;
use checkrein::internal::{has_secret, redacted_json};

/// Longest wait for background hooks.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(600);

/// Fires recorded events at the current hooks, which really run.
///
/// Each event has its own engine, as in [`AgentAdapter`](crate::agent_adapter::AgentAdapter). An event with a working directory
/// outside of the project gets the project's: a recording from another person must not choose where commands run.
#[derive(Debug)]
pub struct Replay {
    dialect: &'static Dialect,
    dir: PathBuf,
    loaded: Loaded,
    jobs: usize,
    dry_run: bool,
    only_here: bool,
}

impl Replay {
    /// Replay with these hooks, by the decision rules of this dialect, in this directory.
    pub fn new(dialect: &'static Dialect, dir: impl Into<PathBuf>, loaded: Loaded) -> Self {
        Self { dialect, dir: dir.into(), loaded, jobs: 1, dry_run: false, only_here: false }
    }

    /// Number of events that are fired in parallel. Default: 1, so that hooks with state see the events in order.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Runs no hooks: only compares the hooks that ran in the recording with those that would run now.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Skips events that were recorded in other projects, which have other hooks.
    #[must_use]
    pub fn only_this_project(mut self, only_here: bool) -> Self {
        self.only_here = only_here;
        self
    }

    /// Fires all events, and calls `done` for each in the order of the recording. `done` returns `true` to keep the event in the
    /// report. Dropping the future kills the processes of hooks.
    pub async fn run(
        &self,
        entries: impl IntoIterator<Item = Result<Entry, BadLine>>,
        mut done: impl FnMut(Result<&Replayed, &BadLine>) -> bool,
    ) -> ReplayReport {
        // Hooks did not run at repeated deliveries.
        let entries = entries.into_iter().filter(|entry| !entry.as_ref().is_ok_and(|entry| entry.record.repeat));
        let fired = entries.map(|entry| async move {
            match entry {
                Ok(entry) if self.is_skipped(&entry) => Ok(None),
                Ok(entry) => Ok(Some(self.fire(&entry).await)),
                Err(bad) => Err(bad),
            }
        });
        let mut fired = futures_util::stream::iter(fired).buffered(self.jobs);
        let mut tally = Tally::new(self.dry_run);
        while let Some(fired) = fired.next().await {
            match fired {
                Ok(None) => tally.add_other_project(),
                Ok(Some(replayed)) => {
                    let keep = done(Ok(&replayed));
                    tally.add(replayed, keep);
                }
                Err(bad) => {
                    done(Err(&bad));
                    tally.add_bad_line(bad);
                }
            }
        }
        tally.finish()
    }

    fn is_skipped(&self, entry: &Entry) -> bool {
        let elsewhere = |project: &String| !Path::new(project).starts_with(self.root());
        self.only_here && entry.project.as_ref().is_some_and(elsewhere)
    }

    /// Root of the project: the enclosing repository, or the directory itself.
    fn root(&self) -> &Path {
        repository(&self.dir).unwrap_or(&self.dir)
    }

    /// Fires one event, unless this is a dry run.
    pub async fn fire(&self, entry: &Entry) -> Replayed {
        let event = self.with_cwd_in_project(entry.event.clone());
        let engine = self.engine();
        if self.dry_run {
            let plan = engine.explain(&event);
            let would_run = plan.iter().filter(|planned| planned.why_not.is_none());
            let now = would_run.map(|planned| planned.hook.info.id.clone()).collect();
            return self.compare_selection(entry, now);
        }
        let (verdict, mut record) = engine.fire_recorded(event.clone()).await;
        engine.shutdown(BACKGROUND_TIMEOUT).await;
        // Old recordings have only the verdict.
        if entry.record.told.is_some()
            && let Some(agent) = entry.agent.as_deref().and_then(checkrein_dialects::find)
        {
            let extras = AnswerExtras {
                has_secret: Some(has_secret),
                speaks_by_command: self.loaded.deny_by_command,
                ..AnswerExtras::default()
            };
            record = record.with_told(agent.render_verdict_with(&event, &verdict, extras).told());
        }
        // The recorded values are redacted, so the new ones must be too.
        let record = if entry.redaction { redacted(record) } else { record };
        let differences = differences(&entry.record, &record);
        Replayed {
            now: record.verdict.decision,
            changed_hooks: changed_hooks(&entry.record, &record, &differences),
            differences,
            hooks_now: hook_ids(&record),
            ..base(entry)
        }
    }

    fn compare_selection(&self, entry: &Entry, now: Vec<String>) -> Replayed {
        let then = hook_ids(&entry.record);
        let only_in = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter().filter(|id| !other.contains(id)).cloned().collect()
        };
        let hooks = [only_in(&now, &then), only_in(&then, &now)].concat();
        let listed = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(", "));
        let difference = Difference { field: "hooks", then: listed(&then), now: listed(&now) };
        let differences = if hooks.is_empty() { Vec::new() } else { vec![difference] };
        Replayed { differences, changed_hooks: hooks, hooks_now: now, ..base(entry) }
    }

    /// The event with a working directory in this project.
    fn with_cwd_in_project(&self, mut event: Event) -> Event {
        let is_here = |cwd: &String| {
            let real = Path::new(cwd).canonicalize();
            real.is_ok_and(|cwd| cwd.is_dir() && cwd.starts_with(self.root()))
        };
        if !event.envelope.cwd.as_ref().is_some_and(is_here) {
            event.envelope.cwd = Some(self.dir.to_string_lossy().into_owned());
        }
        event
    }

    fn engine(&self) -> Engine {
        let builder = crate::own_program::engine_builder()
            .settle_as(self.dialect)
            .cwd(&self.dir)
            .hooks(self.loaded.hooks.iter().cloned());
        match self.loaded.compat {
            Some(compat) => builder.compat(compat).build(),
            None => builder.build(),
        }
    }
}

/// Result without the new verdict.
pub(super) fn base(entry: &Entry) -> Replayed {
    let event = &entry.event;
    let about = event.original(Target::Input).or_else(|| event.original(Target::Prompt));
    Replayed {
        line: entry.line,
        time: entry.time.clone(),
        agent: entry.agent.clone(),
        event: event.kind().name().to_owned(),
        subject: event.subject().map(std::borrow::Cow::into_owned),
        about: about.map(|about| about.to_string()),
        then: entry.record.verdict.decision,
        now: entry.record.verdict.decision,
        differences: Vec::new(),
        changed_hooks: Vec::new(),
        hooks_then: hook_ids(&entry.record),
        hooks_now: Vec::new(),
        lacks_secrets: entry.lacks_secrets(),
        made_up: entry.made_up,
    }
}

/// Names of the selected hooks, including background hooks.
fn hook_ids(record: &Record) -> Vec<String> {
    record.hooks.iter().map(|hook| hook.id.clone()).collect()
}

/// Redacts secrets in a record.
fn redacted(record: Record) -> Record {
    let json = RawJson::from_serialize(&record).ok();
    json.and_then(|json| redacted_json(&json)?.read().ok()).unwrap_or(record)
}
