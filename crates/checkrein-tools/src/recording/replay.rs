//! Fires recorded events again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::{Event, RawJson, Record, Target};
use checkrein_dialects::Dialect;
use futures_util::StreamExt as _;

use super::compare::{Difference, differences, other_hooks};
use super::entry::Entry;
use super::read::BadLine;
use super::report::{ReplayReport, Replayed, Tally};
use checkrein::engine::Engine;
use checkrein::hook_files::Loaded;
use checkrein::internal::redacted_json;
use checkrein::internal::repository;

/// How long hooks in the background are waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// Fires recorded events at hooks as they are now. The hooks really run.
///
/// Each event gets an engine of its own, as [`AgentAdapter`](crate::front::Front) gives it one. Events whose directory is not in the
/// project any more happen in the project's: a recording that somebody sends must not say where commands are run.
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
    /// Against these hooks, settled as this dialect does, in this directory.
    pub fn new(dialect: &'static Dialect, dir: impl Into<PathBuf>, loaded: Loaded) -> Self {
        Self { dialect, dir: dir.into(), loaded, jobs: 1, dry_run: false, only_here: false }
    }

    /// Fires so many events at once. If nothing is said: one, so that hooks which remember something see them in order.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Runs nothing: only compares which hooks ran then and would run now.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Leaves out events that were recorded in other projects, where other hooks had their say.
    #[must_use]
    pub fn only_this_project(mut self, only_here: bool) -> Self {
        self.only_here = only_here;
        self
    }

    /// Fires all of them and tells of each in the order of the recording. The function says whether to keep it in the report.
    /// Dropping the future ends all that it has started.
    pub async fn run(
        &self,
        entries: impl IntoIterator<Item = Result<Entry, BadLine>>,
        mut done: impl FnMut(Result<&Replayed, &BadLine>) -> bool,
    ) -> ReplayReport {
        let fired = entries.into_iter().map(|entry| async move {
            match entry {
                Ok(entry) if self.leaves_out(&entry) => Ok(None),
                Ok(entry) => Ok(Some(self.fire(&entry).await)),
                Err(bad) => Err(bad),
            }
        });
        let mut fired = futures_util::stream::iter(fired).buffered(self.jobs);
        let mut tally = Tally::new(self.dry_run);
        while let Some(fired) = fired.next().await {
            match fired {
                Ok(None) => tally.left_out(),
                Ok(Some(replayed)) => {
                    let keep = done(Ok(&replayed));
                    tally.count(replayed, keep);
                }
                Err(bad) => {
                    done(Err(&bad));
                    tally.broken(bad);
                }
            }
        }
        tally.finish()
    }

    fn leaves_out(&self, entry: &Entry) -> bool {
        let elsewhere = |project: &String| !Path::new(project).starts_with(self.root());
        self.only_here && entry.project.as_ref().is_some_and(elsewhere)
    }

    /// The project: the repository that the directory is in, or else itself.
    fn root(&self) -> &Path {
        repository(&self.dir).unwrap_or(&self.dir)
    }

    /// Fires one event, unless this is a dry run.
    pub async fn fire(&self, entry: &Entry) -> Replayed {
        let event = self.placed(entry.event.clone());
        let engine = self.engine();
        if self.dry_run {
            let plan = engine.explain(&event);
            let would_run = plan.iter().filter(|planned| planned.why_not.is_none());
            let now = would_run.map(|planned| planned.hook.info.id.clone()).collect();
            return self.planned(entry, now);
        }
        let (_, record) = engine.fire_recorded(event).await;
        engine.shutdown(PATIENCE).await;
        // What was taken out then must not look like a change now.
        let record = if entry.redaction { clean(record) } else { record };
        let differences = differences(&entry.record.verdict, &record.verdict);
        Replayed {
            now: record.verdict.decision,
            changed_hooks: other_hooks(&entry.record, &record, &differences),
            differences,
            hooks_now: chosen(&record),
            ..base(entry)
        }
    }

    fn planned(&self, entry: &Entry, now: Vec<String>) -> Replayed {
        let then = chosen(&entry.record);
        let only_in = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter().filter(|id| !other.contains(id)).cloned().collect()
        };
        let hooks = [only_in(&now, &then), only_in(&then, &now)].concat();
        let listed = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(", "));
        let difference = Difference { field: "hooks", then: listed(&then), now: listed(&now) };
        let differences = if hooks.is_empty() { Vec::new() } else { vec![difference] };
        Replayed { differences, changed_hooks: hooks, hooks_now: now, ..base(entry) }
    }

    /// The event in a directory of this project.
    fn placed(&self, mut event: Event) -> Event {
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
        let builder = Engine::builder().settle_as(self.dialect).cwd(&self.dir).hooks(self.loaded.hooks.iter().cloned());
        match self.loaded.compat {
            Some(compat) => builder.compat(compat).build(),
            None => builder.build(),
        }
    }
}

/// What is known of an event before it is fired.
fn base(entry: &Entry) -> Replayed {
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
        hooks_then: chosen(&entry.record),
        hooks_now: Vec::new(),
        lacks_secrets: entry.lacks_secrets(),
        made_up: entry.made_up,
    }
}

/// The hooks that were chosen, in the background or not.
fn chosen(record: &Record) -> Vec<String> {
    record.hooks.iter().map(|hook| hook.id.clone()).collect()
}

/// The record without secrets. One that has none comes back as it is.
fn clean(record: Record) -> Record {
    let json = RawJson::from_serialize(&record).ok();
    json.and_then(|json| redacted_json(&json)?.read().ok()).unwrap_or(record)
}
