//! Runs cases.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use checkrein_core::{HookOutcome, HookState, Record, Source};
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec};
use futures_util::StreamExt;

use super::assert::{Observed, judge};
use super::case::Case;
use super::referenced_files;
use super::report::CaseReport;
use super::scratch::Scratch;
use crate::event_builder::EventBuilderError;
use checkrein::Trust;
use checkrein::engine::Engine;
use checkrein::hook_files::{Loaded, Locations, Sources};
use checkrein::internal::is_usual;
use checkrein::internal::script_copy;

/// How long hooks in the background are waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs cases against the hooks of a project.
///
/// Each case happens in a scratch directory of its own, which is the event's directory and the project's. Files of the
/// project that hooks name by relative paths, and what lies beside those in their directory, are copied there. Hooks find the
/// variables of the host that every native hook may have, and those of the case; what of that they get, their dialect says.
#[derive(Debug)]
pub struct TestRunner {
    dialect: &'static Dialect,
    dir: PathBuf,
    config: Vec<PathBuf>,
    agent: Option<String>,
    place: Locations,
    trust: Trust,
    vars: Vec<(OsString, OsString)>,
    /// Files are read once, however many cases they are for.
    loaded: Mutex<HashMap<Key, Arc<Loaded>>>,
}

/// Why a case cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no directory for it.
    #[error("its scratch directory cannot be made: {0}")]
    Scratch(io::Error),
    /// Its files cannot be created.
    #[error("its files cannot be created: {0}")]
    Files(io::Error),
    /// It makes no event.
    #[error(transparent)]
    Event(#[from] EventBuilderError),
}

type Key = (&'static str, Vec<PathBuf>, Option<String>);

impl TestRunner {
    /// Against the hooks that an agent of this dialect would find in this directory.
    pub fn new(dialect: &'static Dialect, dir: impl Into<PathBuf>) -> Self {
        Self {
            dialect,
            dir: dir.into(),
            config: Vec::new(),
            agent: None,
            place: Locations::default(),
            trust: Trust::usual(),
            vars: std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_usual)).collect(),
            loaded: Mutex::default(),
        }
    }

    /// Against the hooks of these files, for cases that name none themselves.
    #[must_use]
    pub fn config(mut self, files: Vec<PathBuf>) -> Self {
        self.config = files;
        self
    }

    /// Against the hooks of this agent, where files have those of several.
    #[must_use]
    pub fn agent(mut self, name: Option<String>) -> Self {
        self.agent = name;
        self
    }

    /// With other places for the user's and the administrator's files.
    #[must_use]
    pub fn place(mut self, place: Locations) -> Self {
        self.place = place;
        self
    }

    /// Runs those hooks of the project's files that are approved there. If nothing is said: [`Trust::usual`].
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// The directory of the project.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The hooks that cases without files of their own run against.
    pub fn loaded(&self) -> Arc<Loaded> {
        self.of(self.dialect, &self.config, self.agent.as_ref())
    }

    /// The hooks that a case runs against.
    pub fn loaded_for(&self, case: &Case) -> Arc<Loaded> {
        let config = if case.config.is_empty() { &self.config } else { &case.config };
        self.of(case.dialect, config, case.agent.as_ref().or(self.agent.as_ref()))
    }

    fn of(&self, dialect: &'static Dialect, config: &[PathBuf], agent: Option<&String>) -> Arc<Loaded> {
        let key = (dialect.name, config.to_vec(), agent.cloned());
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || {
            let sources = match config {
                [] => Sources::discover_in(dialect, &self.dir, self.place.clone()),
                files => Sources::of_files_in(dialect, files, &self.dir, self.place.clone()),
            };
            // A case comes with the project, so it vouches for nothing.
            let is_of_case = !config.is_empty() && config != self.config;
            let sources = if is_of_case { sources.as_of_project() } else { sources };
            let sources = sources.trust(self.trust.clone());
            Arc::new(match agent {
                Some(name) => sources.agent(name).load(),
                None => sources.load(),
            })
        };
        Arc::clone(loaded.entry(key).or_insert_with(load))
    }

    /// The files that hooks come from, those that are there.
    pub fn config_files(&self) -> Vec<PathBuf> {
        let found = |file: &&checkrein::hook_files::FileState| file.status == checkrein::hook_files::FileStatus::Found;
        self.loaded().files.iter().filter(found).map(|file| file.path.clone()).collect()
    }

    /// What is wrong with the files with hooks that have been read so far.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Diagnostic> = Vec::new();
        for diagnostic in loaded.values().flat_map(|loaded| &loaded.diagnostics) {
            if !all.contains(diagnostic) {
                all.push(diagnostic.clone());
            }
        }
        all.sort_by(|one, other| {
            let place = |it: &Diagnostic| (it.file.clone(), it.at.as_ref().map(|at| at.span.start));
            place(one).cmp(&place(other))
        });
        all
    }

    /// All paths at which a change may matter for what has been read so far: files with hooks, and the scripts that they
    /// name. A last part `*` stands for every file of a directory.
    pub fn followed(&self) -> Vec<PathBuf> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let scripts = |hook: &HookSpec| {
            let named = referenced_files::files(hook, &self.dir).into_iter();
            named.flat_map(|relative| {
                let path = self.dir.join(relative);
                // What lies beside a script comes along with it.
                let beside = path.parent().filter(|parent| *parent != self.dir).map(|parent| parent.join("*"));
                std::iter::once(path).chain(beside)
            })
        };
        loaded
            .values()
            .flat_map(|loaded| loaded.followed.iter().cloned().chain(loaded.hooks.iter().flat_map(scripts)))
            .collect()
    }

    /// The names of hooks that a case fires, with where they stand. Runs nothing.
    ///
    /// # Errors
    /// The case makes no event.
    pub fn would_run(&self, case: &Case) -> Result<Vec<(String, Source)>, SetupError> {
        let scratch = Scratch::new().map_err(SetupError::Scratch)?;
        let loaded = self.loaded_for(case);
        let event = case.draft(&scratch).event(case.dialect, scratch.path())?;
        let plan = self.engine(case.dialect, &loaded, &scratch, case.environment.as_slice()).explain(&event);
        let chosen = plan.iter().filter(|planned| planned.why_not.is_none());
        Ok(chosen
            .map(|planned| {
                let info = &planned.hook.info;
                (info.id.clone(), info.source.clone())
            })
            .collect())
    }

    /// Runs one case. Dropping the future ends all that it has started.
    pub async fn run(&self, case: &Case) -> CaseReport {
        match self.fired(case).await {
            Ok(report) => report,
            Err(why) => CaseReport::error(case, why.to_string()),
        }
    }

    /// Runs cases, so many at once, and tells of each when it is done. With `fail_fast`, those that have not ended when one
    /// fails are given up. What comes back is in the order of the cases.
    pub async fn run_all(
        &self,
        cases: &[Case],
        jobs: usize,
        fail_fast: bool,
        mut done: impl FnMut(&CaseReport),
    ) -> Vec<CaseReport> {
        let mut reports: Vec<Option<CaseReport>> = cases.iter().map(|_| None).collect();
        let runs = cases.iter().enumerate().map(|(at, case)| async move { (at, self.run(case).await) });
        let mut running = futures_util::stream::iter(runs).buffer_unordered(jobs.max(1));
        while let Some((at, report)) = running.next().await {
            done(&report);
            let stop = fail_fast && !report.is_passed();
            if let Some(slot) = reports.get_mut(at) {
                *slot = Some(report);
            }
            if stop {
                break;
            }
        }
        drop(running);
        let all = reports.into_iter().zip(cases);
        all.map(|(report, case)| report.unwrap_or_else(|| CaseReport::skipped(case))).collect()
    }

    async fn fired(&self, case: &Case) -> Result<CaseReport, SetupError> {
        let loaded = self.loaded_for(case);
        let scratch = self.scratch(&loaded.hooks).map_err(SetupError::Scratch)?;
        scratch.create(&case.files).map_err(SetupError::Files)?;
        let event = case.draft(&scratch).event(case.dialect, scratch.path())?;
        let engine = self.engine(case.dialect, &loaded, &scratch, &case.environment);
        let mut completions = engine.completions();
        let begun = Instant::now();
        let (_, mut record) = engine.fire_recorded(event).await;
        engine.shutdown(PATIENCE).await;
        let took = begun.elapsed();
        while let Some(completion) = completions.next().await {
            take_later(&mut record, &completion);
        }
        let known: Vec<_> = loaded.hooks.iter().map(|hook| hook.info.id.clone()).collect();
        let mismatches = judge(&case.expect, &Observed { record: &record, took, known: &known, scratch: &scratch });
        Ok(CaseReport::ran(case, took, record, mismatches))
    }

    /// A directory with what hooks name.
    pub(super) fn scratch(&self, hooks: &[HookSpec]) -> io::Result<Scratch> {
        let scratch = Scratch::new()?;
        for hook in hooks {
            scratch.bring(&self.dir, &referenced_files::files(hook, &self.dir))?;
            if let Some(cwd) = referenced_files::directory(hook).filter(|cwd| self.dir.join(cwd).is_dir()) {
                std::fs::create_dir_all(scratch.path().join(cwd))?;
            }
        }
        Ok(scratch)
    }

    /// The hook as it runs in a scratch directory: with the scripts that were copied there, if they are what was approved. A
    /// case may have put others in their place.
    pub(super) fn in_scratch(&self, hook: &HookSpec, scratch: &Scratch) -> HookSpec {
        let mut hook = hook.clone();
        let HandlerSpec::Command(command) = &mut hook.handler else { return hook };
        let Some(pins) = &mut command.verified_scripts else { return hook };
        let project = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let mut changed = None;
        pins.scripts.retain(|script| {
            let copy = script.path.strip_prefix(&project).ok().map(|relative| scratch.path().join(relative));
            let Some(copy) = copy.filter(|copy| copy.exists()) else { return true };
            if !script_copy::is_as_approved(script, &copy) {
                let what = script.path.display();
                changed = Some(format!("{what} is not what was approved; see `checkrein trust`"));
            }
            false
        });
        if pins.scripts.is_empty() {
            command.verified_scripts = None;
        }
        if let Some(changed) = changed {
            hook.state = HookState::Changed(changed);
        }
        hook
    }

    fn engine(
        &self,
        dialect: &'static Dialect,
        loaded: &Loaded,
        scratch: &Scratch,
        environment: &[(String, Option<String>)],
    ) -> Engine {
        let builder = Engine::builder()
            .settle_as(dialect)
            .cwd(scratch.path())
            .vars(self.variables(environment, scratch))
            .hooks(loaded.hooks.iter().map(|hook| self.in_scratch(hook, scratch)));
        match loaded.compat {
            Some(compat) => builder.compat(compat).build(),
            None => builder.build(),
        }
    }

    pub(super) fn variables(
        &self,
        environment: &[(String, Option<String>)],
        scratch: &Scratch,
    ) -> Vec<(OsString, OsString)> {
        let is_own = |name: &OsString| environment.iter().any(|(own, _)| name == own.as_str());
        let usual = self.vars.iter().filter(|(name, _)| !is_own(name)).cloned();
        let own = environment.iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some((name.into(), scratch.filled(value).into()))
        });
        usual.chain(own).collect()
    }
}

/// Puts what a hook in the background came to in the place of the note that it runs there.
fn take_later(record: &mut Record, completion: &checkrein::engine::Completion) {
    let Some(later) = &completion.record else { return };
    let noted = |hook: &&mut checkrein_core::HookRecord| {
        hook.id == later.id && hook.source == later.source && hook.outcome == HookOutcome::Skipped
    };
    if let Some(hook) = record.hooks.iter_mut().find(noted) {
        *hook = later.clone();
    }
}
