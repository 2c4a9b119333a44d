//! Runner of test cases.

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

use super::assert::{Observed, compare};
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

/// Longest wait for background hooks.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(600);

/// Runs cases against the hooks of a project.
///
/// Each case has its own scratch directory, which is both the event's working directory and the project directory. Project
/// files that hooks refer to by relative paths are copied there, with the other files of their directory. The environment has
/// the variables that every native hook gets, and those of the case. The hook's dialect filters them.
#[derive(Debug)]
pub struct TestRunner {
    dialect: &'static Dialect,
    dir: PathBuf,
    config: Vec<PathBuf>,
    agent: Option<String>,
    place: Locations,
    trust: Trust,
    vars: Vec<(OsString, OsString)>,
    /// Loaded files, shared by all cases.
    loaded: Mutex<HashMap<Key, Arc<Loaded>>>,
}

/// Error that prevents the run of a case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The scratch directory cannot be created.
    #[error("cannot create the scratch directory: {0}")]
    Scratch(io::Error),
    /// The files of the case cannot be created.
    #[error("cannot create the files of the case: {0}")]
    Files(io::Error),
    /// The case has no valid event.
    #[error(transparent)]
    Event(#[from] EventBuilderError),
}

type Key = (&'static str, Vec<PathBuf>, Option<String>);

impl TestRunner {
    /// Runner for the hooks that an agent of this dialect finds in this directory.
    pub fn new(dialect: &'static Dialect, dir: impl Into<PathBuf>) -> Self {
        Self {
            dialect,
            dir: dir.into(),
            config: Vec::new(),
            agent: None,
            place: Locations::default(),
            trust: Trust::default(),
            vars: std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_usual)).collect(),
            loaded: Mutex::default(),
        }
    }

    /// Uses the hooks of these files, for cases that name no files.
    #[must_use]
    pub fn config(mut self, files: Vec<PathBuf>) -> Self {
        self.config = files;
        self
    }

    /// Uses the hooks of this agent, for files with hooks of several agents.
    #[must_use]
    pub fn agent(mut self, name: Option<String>) -> Self {
        self.agent = name;
        self
    }

    /// Sets the locations of the user's and the managed files.
    #[must_use]
    pub fn place(mut self, place: Locations) -> Self {
        self.place = place;
        self
    }

    /// Approvals for hooks of the project's files. Default: [`Trust::default`].
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Project directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Hooks for cases that name no files.
    pub fn loaded(&self) -> Arc<Loaded> {
        self.load(self.dialect, &self.config, self.agent.as_ref())
    }

    /// Hooks for a case.
    pub fn loaded_for(&self, case: &Case) -> Arc<Loaded> {
        let config = if case.config.is_empty() { &self.config } else { &case.config };
        self.load(case.dialect, config, case.agent.as_ref().or(self.agent.as_ref()))
    }

    fn load(&self, dialect: &'static Dialect, config: &[PathBuf], agent: Option<&String>) -> Arc<Loaded> {
        let key = (dialect.name, config.to_vec(), agent.cloned());
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || {
            let sources = match config {
                [] => Sources::discover_in(dialect, &self.dir, self.place.clone()),
                files => Sources::of_files_in(dialect, files, &self.dir, self.place.clone()),
            };
            // A test file belongs to the project, so files that it names get no more trust than the project.
            let is_from_case = !config.is_empty() && config != self.config;
            let sources = if is_from_case { sources.as_of_project() } else { sources };
            let sources = sources.trust(self.trust.clone());
            Arc::new(match agent {
                Some(name) => sources.agent(name).load(),
                None => sources.load(),
            })
        };
        Arc::clone(loaded.entry(key).or_insert_with(load))
    }

    /// Existing hook files.
    pub fn config_files(&self) -> Vec<PathBuf> {
        let found = |file: &&checkrein::hook_files::FileState| file.status == checkrein::hook_files::FileStatus::Found;
        self.loaded().files.iter().filter(found).map(|file| file.path.clone()).collect()
    }

    /// Diagnostics of all hook files that were loaded so far, sorted by location.
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

    /// Paths whose change can affect the results: hook files and the scripts that they refer to. A last component `*` stands for
    /// every file of a directory.
    pub fn followed(&self) -> Vec<PathBuf> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let scripts = |hook: &HookSpec| {
            let project = referenced_files::project(hook, &self.dir).to_owned();
            let referenced = referenced_files::files(hook, &project).into_iter();
            referenced.flat_map(move |relative| {
                let path = project.join(relative);
                // The other files of a script's directory are copied too.
                let siblings = path.parent().filter(|parent| *parent != project).map(|parent| parent.join("*"));
                std::iter::once(path).chain(siblings)
            })
        };
        loaded
            .values()
            .flat_map(|loaded| loaded.followed.iter().cloned().chain(loaded.hooks.iter().flat_map(scripts)))
            .collect()
    }

    /// Names and sources of the hooks that a case would run. Runs nothing.
    ///
    /// # Errors
    /// The case has no valid event, or the scratch directory cannot be created.
    pub fn would_run(&self, case: &Case) -> Result<Vec<(String, Source)>, SetupError> {
        let scratch = Scratch::new().map_err(SetupError::Scratch)?;
        let loaded = self.loaded_for(case);
        let event = case.event_builder(&scratch).event(case.dialect, scratch.path())?;
        let plan = self.engine(case.dialect, &loaded, &scratch, case.environment.as_slice()).explain(&event);
        let chosen = plan.iter().filter(|planned| planned.why_not.is_none());
        Ok(chosen
            .map(|planned| {
                let info = &planned.hook.info;
                (info.id.clone(), info.source.clone())
            })
            .collect())
    }

    /// Runs one case. Dropping the future kills its processes.
    pub async fn run(&self, case: &Case) -> CaseReport {
        match self.try_run(case).await {
            Ok(report) => report,
            Err(why) => CaseReport::error(case, why.to_string()),
        }
    }

    /// Runs cases, at most `jobs` at a time, and calls `done` after each. With `fail_fast`, the first failure cancels all cases
    /// that have not finished. Returns the reports in the order of the cases.
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

    async fn try_run(&self, case: &Case) -> Result<CaseReport, SetupError> {
        let loaded = self.loaded_for(case);
        let scratch = self.scratch(&loaded.hooks).map_err(SetupError::Scratch)?;
        scratch.create(&case.files).map_err(SetupError::Files)?;
        let event = case.event_builder(&scratch).event(case.dialect, scratch.path())?;
        let engine = self.engine(case.dialect, &loaded, &scratch, &case.environment);
        let mut completions = engine.completions();
        let start = Instant::now();
        let (_, mut record) = engine.fire_recorded(event).await;
        engine.shutdown(BACKGROUND_TIMEOUT).await;
        let took = start.elapsed();
        while let Some(completion) = completions.next().await {
            add_background_result(&mut record, &completion);
        }
        let known: Vec<_> = loaded.hooks.iter().map(|hook| hook.info.id.clone()).collect();
        let mismatches = compare(&case.expect, &Observed { record: &record, took, known: &known, scratch: &scratch });
        match super::proof::why_not(case, &record) {
            Some(why) if mismatches.is_empty() => Ok(CaseReport::proves_nothing(case, took, record, why)),
            _ => Ok(CaseReport::ran(case, took, record, mismatches)),
        }
    }

    /// Creates a scratch directory with the files that hooks refer to.
    pub(super) fn scratch(&self, hooks: &[HookSpec]) -> io::Result<Scratch> {
        let scratch = Scratch::new()?;
        for hook in hooks {
            let project = referenced_files::project(hook, &self.dir);
            scratch.copy_referenced(project, &referenced_files::files(hook, project))?;
            if let Some(cwd) = referenced_files::directory(hook).filter(|cwd| project.join(cwd).is_dir()) {
                std::fs::create_dir_all(scratch.path().join(cwd))?;
            }
        }
        Ok(scratch)
    }

    /// The hook for a run in a scratch directory, with the copies of its scripts. A copy that differs from the approved script
    /// makes the hook untrusted: a case can replace scripts.
    pub(super) fn in_scratch(&self, hook: &HookSpec, scratch: &Scratch) -> HookSpec {
        let mut hook = hook.clone();
        let project = referenced_files::project(&hook, &self.dir);
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let HandlerSpec::Command(command) = &mut hook.handler else { return hook };
        if let Some(dir) = &mut command.script_dir {
            *dir = scratch.path().to_owned();
        }
        let Some(verified) = &mut command.verified_scripts else { return hook };
        let mut changed = None;
        verified.scripts.retain(|script| {
            let copy = script.path.strip_prefix(&project).ok().map(|relative| scratch.path().join(relative));
            let Some(copy) = copy.filter(|copy| copy.exists()) else { return true };
            if !script_copy::is_as_approved(script, &copy) {
                changed = Some(format!("{} differs from the approved script", script.path.display()));
            }
            false
        });
        if verified.scripts.is_empty() {
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
        let builder = crate::own_program::engine_builder()
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

/// Replaces the `Skipped` entry of a background hook with its result.
fn add_background_result(record: &mut Record, completion: &checkrein::engine::Completion) {
    let Some(result) = &completion.record else { return };
    let is_placeholder = |hook: &&mut checkrein_core::HookRecord| {
        hook.id == result.id && hook.source == result.source && hook.outcome == HookOutcome::Skipped
    };
    if let Some(hook) = record.hooks.iter_mut().find(is_placeholder) {
        *hook = result.clone();
    }
}
