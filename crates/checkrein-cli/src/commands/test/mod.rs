//! `checkrein test`: cases for hooks, and probes for hooks that have none.

mod junit;
mod live;
mod show;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use checkrein::HookSpec;
use checkrein::dialects::config::Diagnostic;
use checkrein_tools::hook_tests::{self, Case, HookProbes, TestReport, TestRunner};
use serde_json::json;

use super::config::ConfigArguments;
use crate::exit::{self, Exit, UsageErrorExt};
use crate::interrupt::{self, Engines};

/// Runs cases for hooks, each in a scratch directory of its own, and shows where what came of them differs from what they
/// expect.
///
/// Cases are YAML files in `.checkrein/tests/`, and files that end in `.test.yaml` beside those with hooks. With
/// --contract, hooks that no case fires are probed instead: with empty, huge and odd input, missing fields, no environment,
/// nobody who reads what they print, and eight at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  all is as expected    1  something is not, or cannot be read    64  a wrong call    130  interrupted

Example:
  checkrein test
  checkrein test .checkrein/tests/guard.yaml --filter force --watch
  checkrein test --contract --timeout 2

  # .checkrein/tests/guard.yaml
  cases:
    - name: force pushes are refused
      event: PreToolUse
      tool: Bash
      input: {command: git push --force}
      expect: {decision: deny, reason: lease}")]
pub struct Arguments {
    /// Files with cases, or directories that have them
    paths: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
    /// Runs only cases whose name has this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// How many run at once; as many as there are processors if nothing is said
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Gives up when the first one fails
    #[arg(long)]
    fail_fast: bool,
    /// Shows the cases and runs none
    #[arg(long, conflicts_with_all = ["contract", "watch", "junit"])]
    list: bool,
    /// Runs again whenever cases, hooks or their scripts change
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Probes the hooks that no case fires
    #[arg(long)]
    contract: bool,
    /// Probes every hook
    #[arg(long, requires = "contract")]
    all: bool,
    /// How long a hook may take at a probe, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", requires = "contract", value_parser = seconds)]
    timeout: Duration,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Writes what came of it as JUnit XML as well
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "it should be a number of seconds above 0".to_owned())
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.list {
        return list(arguments);
    }
    // What runs is ended when its future is dropped.
    interrupt::block_on(&Engines::default(), async {
        if arguments.watch { watch::run(arguments).await } else { once(arguments, &Known::read(arguments)?).await }
    })?
}

/// What is known before anything runs.
struct Known {
    trials: TestRunner,
    files: Vec<PathBuf>,
    cases: Vec<Case>,
    /// What is wrong with files of cases.
    wrong: Vec<Diagnostic>,
    /// How many cases there are, whatever they are called.
    all_cases: usize,
}

impl Known {
    fn read(arguments: &Arguments) -> Result<Self> {
        let config = &arguments.config;
        // One that the caller names must be there.
        config.sources()?;
        let files = config.config.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
        let dir = config.directory()?;
        let trials =
            TestRunner::new(config.dialect.0, &dir).config(files).agent(config.agent.clone()).trust(config.trust());
        let files = hook_tests::find(&arguments.paths, &dir, &trials.config_files()).usage_error()?;
        let read = hook_tests::read_files(&files, config.dialect.0);
        let all_cases = read.cases.len();
        let wanted = |case: &Case| {
            arguments.filter.is_empty() || arguments.filter.iter().any(|text| case.name.contains(text.as_str()))
        };
        let cases: Vec<_> = read.cases.into_iter().filter(wanted).collect();
        // So that what is wrong with their files is known as well.
        for case in &cases {
            trials.loaded_for(case);
        }
        Ok(Self { trials, files, cases, wrong: read.diagnostics, all_cases })
    }

    /// Tells on standard error what is wrong with files.
    fn tell(&self) {
        for diagnostic in self.trials.diagnostics().iter().chain(&self.wrong) {
            super::print_note(&diagnostic.to_string());
        }
    }

    /// There must be something to do.
    fn check(&self, arguments: &Arguments) -> Result<()> {
        if arguments.contract || !self.cases.is_empty() || !self.wrong.is_empty() {
            return Ok(());
        }
        if self.all_cases > 0 {
            bail!("none of {} cases has `{}` in its name", self.all_cases, arguments.filter.join("` or `"));
        }
        let places = hook_tests::places(self.trials.dir(), &self.trials.config_files());
        let places: Vec<_> = places.iter().map(|place| show::relative(place)).collect();
        bail!(
            "there are no cases; looked in {}\n  write some (`checkrein test --help` shows one), or probe hooks without any: --contract",
            places.join(", ")
        );
    }
}

/// Runs all there is, once.
async fn once(arguments: &Arguments, known: &Known) -> Result<Exit> {
    known.tell();
    known.check(arguments)?;
    let begun = Instant::now();
    let jobs = arguments
        .jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from);
    let report = if arguments.contract {
        let (hooks, with_cases) = to_probe(arguments, known);
        let probes = probe_all(&known.trials, &hooks, jobs, arguments.timeout).await;
        let report = TestReport::new(Vec::new(), probes, begun.elapsed());
        (report, with_cases)
    } else {
        let mut live = live::Line::new(known.cases.len());
        let reports = known.trials.run_all(&known.cases, jobs, arguments.fail_fast, |report| live.done(report)).await;
        drop(live);
        (TestReport::new(reports, Vec::new(), begun.elapsed()), 0)
    };
    let (report, with_cases) = report;
    let report = report.with_problems(known.wrong.iter().map(ToString::to_string).collect());
    if let Some(path) = &arguments.junit {
        std::fs::write(path, junit::write(&report)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let exit = if report.is_fine() { exit::SUCCESS } else { exit::FAILURE };
    super::finish_output(exit, show(arguments, &report, with_cases))
}

fn show(arguments: &Arguments, report: &TestReport, with_cases: usize) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if arguments.contract {
        show::contract(&mut out, report, with_cases)?;
    } else {
        show::cases(&mut out, report)?;
    }
    Ok(())
}

/// The hooks to probe, and how many are left out because cases fire them.
fn to_probe(arguments: &Arguments, known: &Known) -> (Vec<HookSpec>, usize) {
    let loaded = known.trials.loaded();
    let mut fired = std::collections::HashSet::new();
    if !arguments.all {
        // A case that makes no event fires nothing.
        fired.extend(known.cases.iter().flat_map(|case| known.trials.would_run(case).unwrap_or_default()));
    }
    let has_case = |hook: &HookSpec| {
        let info = &hook.info;
        fired.contains(&(info.id.clone(), info.source.clone()))
    };
    let (with_cases, without): (Vec<_>, Vec<_>) = loaded.hooks.iter().cloned().partition(has_case);
    (without, with_cases.len())
}

/// Probes hooks, so many at once. In their order.
async fn probe_all(trials: &TestRunner, hooks: &[HookSpec], jobs: usize, limit: Duration) -> Vec<HookProbes> {
    let mut live = live::Line::new(hooks.len());
    let probes = hook_tests::probe_all(trials, hooks, jobs, limit, |probes| live.probed(probes)).await;
    drop(live);
    probes
}

fn list(arguments: &Arguments) -> Result<Exit> {
    let known = Known::read(arguments)?;
    known.tell();
    known.check(arguments)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<_> = known
            .cases
            .iter()
            .map(|case| json!({ "name": case.name, "file": case.file, "line": case.line, "event": case.event }))
            .collect();
        writeln!(out, "{:#}", json!(all))?;
    } else {
        for case in &known.cases {
            writeln!(out, "{}:{}: {}", show::relative(&case.file), case.line, super::printable(&case.name))?;
        }
    }
    Ok(if known.wrong.is_empty() { exit::SUCCESS } else { exit::FAILURE })
}
