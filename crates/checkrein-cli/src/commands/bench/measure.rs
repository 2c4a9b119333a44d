//! Measurement: fires events repeatedly, in turns with an empty process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use checkrein::dialects::Dialect;
use checkrein::engine::ExplainedHook;
use checkrein::hook::HookInfo;
use checkrein::hook_files::Loaded;
use checkrein::observer::HookRun;
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::{Engine, Event, EventKind, HookSpec, Observer};
use checkrein_tools::samples;

use super::super::event::About;
use super::super::progress::Progress;
use super::times::Times;
use crate::exit::UsageErrorExt;

/// Observer that collects the time of every run.
#[derive(Clone, Default)]
pub struct Stopwatch(Arc<Mutex<Vec<Sample>>>);

struct Sample {
    hook: Arc<HookInfo>,
    took: Duration,
    failed: bool,
}

impl Observer for Stopwatch {
    fn finished(&self, run: &HookRun, record: &HookRecord, took: Duration) {
        let failed = record.outcome == HookOutcome::Failure;
        self.samples().push(Sample { hook: Arc::clone(&run.hook), took, failed });
    }
}

impl Stopwatch {
    /// Takes the time of the last run, and removes all times.
    #[cfg(target_os = "linux")]
    pub fn take(&self) -> Option<Duration> {
        self.samples().drain(..).next_back().map(|sample| sample.took)
    }

    fn samples(&self) -> std::sync::MutexGuard<'_, Vec<Sample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event that is fired repeatedly.
pub struct Case {
    pub event: Event,
    hooks: Vec<Measured>,
    fires: Vec<Duration>,
}

struct Measured {
    hook: Arc<HookSpec>,
    times: Vec<Duration>,
    failures: usize,
}

/// A hook of a measured event that did not run.
pub struct SkippedHook {
    pub hook: Arc<HookInfo>,
    pub why: String,
}

/// Result of one event.
pub struct BenchResult {
    pub event: Event,
    /// Time that the agent waits.
    pub fires: Option<Times>,
    pub hooks: Vec<HookOutcomes>,
}

/// Result of one hook.
pub struct HookOutcomes {
    pub hook: Arc<HookSpec>,
    pub times: Option<Times>,
    pub failures: usize,
    /// Share of the time of all hooks of the event.
    pub share: f64,
    /// Times in warm interpreters of the resident process, without other hooks.
    pub warm: Option<Times>,
    /// Times in new processes, without other hooks and in turns with the warm runs.
    pub cold: Option<Times>,
}

/// The events to fire: the named one, or all events with hooks. If the sample event does not match all hooks, further events
/// with other tools follow.
pub fn cases(
    engine: &Engine,
    loaded: &Loaded,
    name: Option<&str>,
    about: &About,
    dialect: &'static Dialect,
    dir: &Path,
) -> Result<(Vec<Case>, Vec<SkippedHook>)> {
    let kinds = match name {
        Some(name) => vec![dialect.kind_named(name).usage_error()?],
        None if !about.is_empty() => {
            return Err(anyhow!("event data without an event; add one, for example `PreToolUse`")).usage_error();
        }
        None => kinds(loaded),
    };
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for kind in kinds {
        let name = name.or_else(|| dialect.name_of(&kind)).unwrap_or(kind.name());
        let mut missing: Vec<ExplainedHook> = Vec::new();
        let mut add = |event: Event, missing: &mut Vec<ExplainedHook>, first: bool| {
            let plan = engine.explain(&event);
            let own = plan.into_iter().filter(|planned| planned.hook.kinds.contains(&kind));
            let (runs, out): (Vec<_>, Vec<_>) = own.partition(|planned| planned.why_not.is_none());
            let new = first || missing.iter().any(|one| runs.iter().any(|run| Arc::ptr_eq(&run.hook, &one.hook)));
            if first {
                *missing = out;
            } else {
                missing.retain(|one| !runs.iter().any(|run| Arc::ptr_eq(&run.hook, &one.hook)));
            }
            if new && !runs.is_empty() {
                let measured = |run: ExplainedHook| Measured { hook: run.hook, times: Vec::new(), failures: 0 };
                cases.push(Case { event, hooks: runs.into_iter().map(measured).collect(), fires: Vec::new() });
            }
        };
        add(about.event(name, dialect, dir)?, &mut missing, true);
        if about.is_empty() && kind.contract().matched_on.as_deref() == Some("tool_name") {
            for tool in tools(dialect, &missing) {
                if missing.iter().any(|one| one.hook.matcher.matches(&tool)) {
                    let about = About { tool: Some(tool), ..About::default() };
                    add(about.event(name, dialect, dir)?, &mut missing, false);
                }
            }
        }
        left_out.extend(missing.into_iter().map(|one| SkippedHook {
            hook: Arc::clone(&one.hook.info),
            why: one.why_not.map(|why| why.to_string()).unwrap_or_default(),
        }));
    }
    Ok((cases, left_out))
}

/// Known tools of the agent, and names in matchers.
fn tools(dialect: &Dialect, hooks: &[ExplainedHook]) -> Vec<String> {
    let known = dialect.tools.iter().map(|tool| tool.name).chain(samples::tools()).map(str::to_owned);
    let named = hooks.iter().flat_map(|one| one.hook.matcher.pattern().split('|'));
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    known.chain(named.filter(is_name).map(str::to_owned)).collect()
}

/// The kinds of all hooks, in the order of [`EventKind::ALL`].
fn kinds(loaded: &Loaded) -> Vec<EventKind> {
    let mut kinds: Vec<EventKind> = Vec::new();
    for kind in loaded.hooks.iter().flat_map(|hook| &hook.kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    kinds.sort_by_key(|kind| EventKind::ALL.iter().position(|own| own == kind).unwrap_or(usize::MAX));
    kinds
}

/// Fires each event `warmup` and then `runs` times, in turns with an empty process, so that the load of the machine affects
/// both. Returns the times of the empty process and the results of the events.
pub async fn measure(
    engine: &Engine,
    stopwatch: &Stopwatch,
    mut cases: Vec<Case>,
    warmup: usize,
    runs: usize,
) -> Result<(Option<Times>, Vec<BenchResult>)> {
    let mut floor = Vec::new();
    let mut progress = Progress::new();
    let all = warmup + runs;
    for round in 0..all {
        let is_measured = round >= warmup;
        progress.show(|| match is_measured {
            true => format!("round {} of {runs}", round - warmup + 1),
            false => format!("warming up, {} of {warmup}", round + 1),
        });
        let took = empty_process()?;
        if is_measured {
            floor.push(took);
        }
        for case in &mut cases {
            stopwatch.samples().clear();
            let begun = Instant::now();
            engine.fire_recorded(case.event.clone()).await;
            let took = begun.elapsed();
            if is_measured {
                case.fires.push(took);
                case.add(&stopwatch.samples());
            }
        }
    }
    Ok((Times::new(floor), cases.into_iter().map(Case::outcome).collect()))
}

impl Case {
    fn add(&mut self, samples: &[Sample]) {
        for sample in samples {
            let own = self.hooks.iter_mut().find(|one| Arc::ptr_eq(&one.hook.info, &sample.hook));
            if let Some(measured) = own {
                measured.times.push(sample.took);
                measured.failures += usize::from(sample.failed);
            }
        }
    }

    fn outcome(self) -> BenchResult {
        let sum: Duration = self.hooks.iter().flat_map(|one| &one.times).sum();
        let hooks = self.hooks.into_iter().map(|one| {
            let own: Duration = one.times.iter().sum();
            let share = if sum.is_zero() { 0.0 } else { own.as_secs_f64() / sum.as_secs_f64() };
            HookOutcomes {
                hook: one.hook,
                times: Times::new(one.times),
                failures: one.failures,
                share,
                warm: None,
                cold: None,
            }
        });
        BenchResult { hooks: hooks.collect(), event: self.event, fires: Times::new(self.fires) }
    }
}

/// Commands that do nothing, in order of preference.
const EMPTY: &[&[&str]] = if cfg!(windows) {
    &[&["cmd", "/c", "rem"]]
} else {
    // Absolute paths, so that the time includes no search in PATH.
    &[&["/bin/true"], &["/usr/bin/true"], &["true"]]
};

/// Runs a process that does nothing, with pipes for its output, and returns its duration.
fn empty_process() -> Result<Duration> {
    let [program, args @ ..] = EMPTY
        .iter()
        .find(|command| command.first().is_some_and(|program| Path::new(program).exists()))
        .or(EMPTY.last())
        .copied()
        .unwrap_or_default()
    else {
        bail!("no empty program to compare with")
    };
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).output().with_context(|| format!("cannot run `{program}`"))?;
    Ok(begun.elapsed())
}
