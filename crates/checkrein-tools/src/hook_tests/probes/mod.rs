//! What every hook must stand, whatever it is for: probes for hooks that have no cases.
//!
//! Each probe runs the hook as a real process in a scratch directory, under a limit, and looks at how it ends, at what it
//! prints and at what that means in the hook's dialect.

mod event;
mod fire;
mod judge;

use std::path::Path;
use std::time::Duration;

use checkrein_core::{Decision, Event};
use checkrein_dialects::{HandlerSpec, HookSpec};
use futures_util::StreamExt;
use futures_util::future::join_all;
use serde::Serialize;

use super::run::TestRunner;
use super::text;
use fire::{ProbeContext, ProbeInput, ProbeResult};

/// What is wrong with a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// It ended by a signal, with an exit code that is no answer, or could not be started.
    Crash,
    /// It did not end in time.
    Hang,
    /// It printed what its agent cannot read as an answer.
    Rubbish,
    /// It decided otherwise about the same event.
    Changed,
}

impl Finding {
    /// The name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Rubbish => "rubbish",
            Self::Changed => "changed",
        }
    }
}

/// What came of all probes of one hook.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct HookProbes {
    /// What the hook is called.
    pub id: String,
    /// Where it stands: a file and a line.
    pub source: String,
    /// The event that it was probed with, as its agent calls it.
    pub event: String,
    /// Why it was not probed.
    pub not_probed: Option<String>,
    /// What came of each probe.
    pub probes: Vec<ProbeReport>,
}

impl HookProbes {
    /// Whether anything is wrong with it.
    pub fn has_findings(&self) -> bool {
        self.probes.iter().any(|probe| probe.finding.is_some())
    }
}

/// What came of one probe.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ProbeReport {
    /// Which one.
    pub probe: String,
    /// What is wrong. `None`: nothing.
    pub finding: Option<Finding>,
    /// The same in words.
    pub detail: Option<String>,
    /// What the hook decided, if it came to that.
    pub decision: Option<Decision>,
    /// How long it took.
    pub duration_ms: u64,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// The probes: their names, and what each does.
pub const PROBES: &[(&str, &str)] = &[
    ("usual", "an event as its agent fires it"),
    ("again", "the same event once more, in the same directory"),
    ("eight at once", "the same event eight times at once, in the same directory"),
    ("empty input", "nothing on standard input"),
    ("huge input", "a field of 4 MiB"),
    ("missing fields", "an object that has only the event's name"),
    ("odd unicode", "control characters, quotes, emoji and text from right to left in every field"),
    ("no environment", "no variables but PATH"),
    ("closed stdout", "nobody reads what it prints"),
];

/// How many run at once in the probe that is about that.
const AT_ONCE: usize = 8;

/// Runs all probes of one hook, each for no longer than the hook's own time or `limit`, whichever is shorter.
pub async fn probe(trials: &TestRunner, hook: &HookSpec, limit: Duration) -> HookProbes {
    let event = event::for_hook(hook);
    let kind = event.kind();
    let mut report = HookProbes {
        id: hook.info.id.clone(),
        source: hook.info.source.to_string(),
        event: hook.dialect.name_of(&kind).unwrap_or(kind.name()).to_owned(),
        not_probed: not_probed(hook),
        probes: Vec::new(),
    };
    if report.not_probed.is_none() {
        match probes(trials, hook, &event, limit).await {
            Ok(probes) => report.probes = probes,
            Err(error) => report.not_probed = Some(format!("its scratch directory cannot be made: {error}")),
        }
    }
    report
}

/// Probes hooks, so many at once, and tells of each when it is done. What comes back is in the order of the hooks.
pub async fn probe_all(
    trials: &TestRunner,
    hooks: &[HookSpec],
    jobs: usize,
    limit: Duration,
    mut done: impl FnMut(&HookProbes),
) -> Vec<HookProbes> {
    let runs = hooks.iter().enumerate().map(|(at, hook)| async move { (at, probe(trials, hook, limit).await) });
    let mut running = futures_util::stream::iter(runs).buffer_unordered(jobs.max(1));
    let mut all = Vec::new();
    while let Some((at, probes)) = running.next().await {
        done(&probes);
        all.push((at, probes));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, probes)| probes).collect()
}

/// Only processes are probed: a function of the registry gets no text, and an endpoint is somebody else's.
fn not_probed(hook: &HookSpec) -> Option<String> {
    use checkrein_core::HookState;
    match (&hook.state, &hook.handler) {
        (HookState::Disabled, _) => Some("it is disabled".to_owned()),
        (HookState::Untrusted, _) => Some("its user has not approved it".to_owned()),
        (HookState::Changed(why), _) => Some(why.clone()),
        (HookState::Broken(why), _) => Some(format!("it cannot be loaded: {why}")),
        (_, HandlerSpec::Command(_)) => None,
        (_, handler) => Some(format!("it is no process but of the kind `{}`", handler.kind())),
    }
}

async fn probes(
    trials: &TestRunner,
    hook: &HookSpec,
    event: &Event,
    limit: Duration,
) -> std::io::Result<Vec<ProbeReport>> {
    let limit = limit.min(hook.timeout_for(&event.kind()));
    let mut reports = Vec::new();
    // What changes its answer because of what it left behind must find that again.
    let shared = ProbeContext::new(trials, hook)?;
    let usual = event::at(event, shared.path());
    let first = fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit).await;
    let mut usual_report = report("usual", &[&first], None);
    if usual_report.finding == Some(Finding::Hang) {
        // It would hang at all others as well, and somebody waits.
        let detail = usual_report.detail.take().unwrap_or_default();
        usual_report.detail = Some(format!("{detail}; the other probes are left out"));
        return Ok(vec![usual_report]);
    }
    reports.push(usual_report);
    let again = fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit).await;
    reports.push(report("again", &[&again], Some(&first)));
    let many = join_all((0..AT_ONCE).map(|_| fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit))).await;
    reports.push(report("eight at once", &many.iter().collect::<Vec<_>>(), Some(&first)));

    for (name, change, given) in [
        ("empty input", None, ProbeInput::Nothing),
        ("huge input", Some(event::huge as fn(&Event) -> Event), ProbeInput::Payload),
        ("missing fields", None, ProbeInput::OnlyTheName),
        ("odd unicode", Some(event::odd as fn(&Event) -> Event), ProbeInput::Payload),
        ("no environment", None, ProbeInput::NoEnvironment),
        ("closed stdout", None, ProbeInput::NoReader),
    ] {
        let place = ProbeContext::new(trials, hook)?;
        let event = event::at(&change.map_or_else(|| event.clone(), |change| change(event)), place.path());
        let outcome = fire::fire(hook, &place, &event, given, limit).await;
        reports.push(report(name, &[&outcome], None));
    }
    Ok(reports)
}

/// Of one or several runs, the first with which something is wrong.
fn report(probe: &str, outcomes: &[&ProbeResult], before: Option<&ProbeResult>) -> ProbeReport {
    let judged = outcomes.iter().find_map(|outcome| Some((*outcome, judge::judge(outcome, before)?)));
    let shown = judged.as_ref().map(|(outcome, _)| *outcome).or(outcomes.first().copied());
    let took = outcomes.iter().map(|outcome| outcome.took).max().unwrap_or_default();
    ProbeReport {
        probe: probe.to_owned(),
        finding: judged.as_ref().map(|(_, (finding, _))| *finding),
        detail: judged.map(|(_, (_, detail))| detail),
        decision: shown.and_then(ProbeResult::decision),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        stdout: shown.map(|outcome| kept(&outcome.stdout)).unwrap_or_default(),
        stderr: shown.map(|outcome| kept(&outcome.stderr)).unwrap_or_default(),
    }
}

/// As much of a stream as a report keeps.
fn kept(bytes: &[u8]) -> String {
    const KEPT: usize = 16 * 1024;
    String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT)]).into_owned()
}

/// In words, how long something may take.
fn within(limit: Duration) -> String {
    text::duration(limit)
}

impl ProbeContext {
    fn path(&self) -> &Path {
        self.scratch.path()
    }
}
