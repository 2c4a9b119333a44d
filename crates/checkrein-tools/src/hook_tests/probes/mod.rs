//! Probes: inputs that every hook must handle, for hooks without test cases.
//!
//! Each probe runs the hook as a real process in a scratch directory, with a time limit. It checks the exit, the output, and
//! the meaning of the output in the hook's dialect.

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

/// Kind of misbehaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The hook was killed by a signal, exited with a code that is no answer, or could not be started.
    Crash,
    /// The hook did not finish in time.
    Hang,
    /// The hook printed text that its agent cannot read as an answer.
    Rubbish,
    /// The hook made another decision for the same event.
    Changed,
}

impl Finding {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Rubbish => "rubbish",
            Self::Changed => "changed",
        }
    }
}

/// Report of all probes of one hook.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct HookProbes {
    /// Name of the hook.
    pub id: String,
    /// File and line of the hook.
    pub source: String,
    /// Event of the probes, in the agent's spelling.
    pub event: String,
    /// Reason why the hook was not probed.
    pub not_probed: Option<String>,
    /// Reports of the probes.
    pub probes: Vec<ProbeReport>,
}

impl HookProbes {
    /// Returns `true` if a probe has a finding.
    pub fn has_findings(&self) -> bool {
        self.probes.iter().any(|probe| probe.finding.is_some())
    }
}

/// Report of one probe.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ProbeReport {
    /// Name of the probe.
    pub probe: String,
    /// Misbehaviour of the hook, if any.
    pub finding: Option<Finding>,
    /// Description of the finding.
    pub detail: Option<String>,
    /// Decision of the hook, if it made one.
    pub decision: Option<Decision>,
    /// Duration of the run.
    pub duration_ms: u64,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Names and descriptions of the probes.
pub const PROBES: &[(&str, &str)] = &[
    ("usual", "a sample event in the agent's format"),
    ("again", "the same event again, in the same directory"),
    ("eight at once", "the same event eight times in parallel, in the same directory"),
    ("empty input", "an empty stdin"),
    ("huge input", "a field of 4 MiB"),
    ("missing fields", "an object with only the event's name"),
    ("odd unicode", "control characters, quotes, emoji and right-to-left text in every field"),
    ("no environment", "no variables except PATH"),
    ("closed stdout", "a closed stdout"),
];

/// Number of parallel runs in the probe `eight at once`.
const PARALLEL_RUNS: usize = 8;

/// Runs all probes of one hook. The time limit of each is the hook's own timeout or `limit`, whichever is shorter.
pub async fn probe(runner: &TestRunner, hook: &HookSpec, limit: Duration) -> HookProbes {
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
        match probes(runner, hook, &event, limit).await {
            Ok(probes) => report.probes = probes,
            Err(error) => report.not_probed = Some(format!("cannot create the scratch directory: {error}")),
        }
    }
    report
}

/// Probes hooks, at most `jobs` at a time, and calls `done` after each. Returns the reports in the order of the hooks.
pub async fn probe_all(
    runner: &TestRunner,
    hooks: &[HookSpec],
    jobs: usize,
    limit: Duration,
    mut done: impl FnMut(&HookProbes),
) -> Vec<HookProbes> {
    let runs = hooks.iter().enumerate().map(|(at, hook)| async move { (at, probe(runner, hook, limit).await) });
    let mut running = futures_util::stream::iter(runs).buffer_unordered(jobs.max(1));
    let mut all = Vec::new();
    while let Some((at, probes)) = running.next().await {
        done(&probes);
        all.push((at, probes));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, probes)| probes).collect()
}

/// Reason why a hook is not probed. Only commands are probed: builtins read no text, and endpoints are other people's servers.
fn not_probed(hook: &HookSpec) -> Option<String> {
    use checkrein_core::HookState;
    match (&hook.state, &hook.handler) {
        (HookState::Disabled, _) => Some("it is disabled".to_owned()),
        (HookState::Untrusted, _) => Some("it is not approved".to_owned()),
        (HookState::Changed(why), _) => Some(why.clone()),
        (HookState::Broken(why), _) => Some(format!("it cannot be loaded: {why}")),
        (_, HandlerSpec::Command(_)) => None,
        (_, handler) => Some(format!("only commands are probed, and its type is `{}`", handler.kind())),
    }
}

async fn probes(
    runner: &TestRunner,
    hook: &HookSpec,
    event: &Event,
    limit: Duration,
) -> std::io::Result<Vec<ProbeReport>> {
    let limit = limit.min(hook.timeout_for(&event.kind()));
    let mut reports = Vec::new();
    // These runs share a directory, to find hooks whose answer depends on files of an earlier run.
    let shared = ProbeContext::new(runner, hook)?;
    let usual = event::with_cwd(event, shared.path());
    let first = fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit).await;
    let mut usual_report = report("usual", &[&first], None);
    if usual_report.finding == Some(Finding::Hang) {
        // The other probes would probably hang too, and each costs the full time limit.
        let detail = usual_report.detail.take().unwrap_or_default();
        usual_report.detail = Some(format!("{detail}; the other probes were skipped"));
        return Ok(vec![usual_report]);
    }
    reports.push(usual_report);
    let again = fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit).await;
    reports.push(report("again", &[&again], Some(&first)));
    let many =
        join_all((0..PARALLEL_RUNS).map(|_| fire::fire(hook, &shared, &usual, ProbeInput::Payload, limit))).await;
    reports.push(report("eight at once", &many.iter().collect::<Vec<_>>(), Some(&first)));

    for (name, change, input) in [
        ("empty input", None, ProbeInput::Nothing),
        ("huge input", Some(event::huge as fn(&Event) -> Event), ProbeInput::Payload),
        ("missing fields", None, ProbeInput::OnlyTheName),
        ("odd unicode", Some(event::odd as fn(&Event) -> Event), ProbeInput::Payload),
        ("no environment", None, ProbeInput::NoEnvironment),
        ("closed stdout", None, ProbeInput::ClosedStdout),
    ] {
        let context = ProbeContext::new(runner, hook)?;
        let event = event::with_cwd(&change.map_or_else(|| event.clone(), |change| change(event)), context.path());
        let outcome = fire::fire(hook, &context, &event, input, limit).await;
        reports.push(report(name, &[&outcome], None));
    }
    Ok(reports)
}

/// Report of one or several runs: of the first with a finding, or of the first.
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
        stdout: shown.map(|outcome| truncated(&outcome.stdout)).unwrap_or_default(),
        stderr: shown.map(|outcome| truncated(&outcome.stderr)).unwrap_or_default(),
    }
}

/// First 16 KiB of a stream.
fn truncated(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 16 * 1024;
    String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]).into_owned()
}

impl ProbeContext {
    fn path(&self) -> &Path {
        self.scratch.path()
    }
}
