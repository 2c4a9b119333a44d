//! `checkrein test`: runs test cases for hooks, and probes hooks without test cases.
//!
//! `show` prints text, `junit` writes XML, `live` shows progress, `watch` repeats the run after changes.

mod junit;
mod live;
mod show;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use checkrein::HookSpec;
use checkrein::dialects::config::{Diagnostic, Severity};
use checkrein::dialects::packs::{self, Pack};
use checkrein::dialects::{HandlerSpec, RuleTest};
use checkrein::hook::HookState;
use checkrein_tools::hook_tests::{self, Case, CaseReport, HookProbes, TestReport, TestRunner};
use checkrein_tools::lint::load_errors;
use checkrein_tools::rule_tests::{self, RuleCoverage};
use serde_json::json;

use super::config::ConfigArguments;
use super::{layout, output_file};
use crate::exit::{self, Exit, UsageErrorExt};
use crate::interrupt::{self, Engines};

/// Run test cases for hooks, or probe untested hooks
///
/// Test cases are in YAML files in `.checkrein/tests/`, and in files `*.test.yaml` next to hook files. Each case runs in its
/// own scratch directory. Hooks of the project need approval, or --trust-all. Rules have their tests in `tests:`.
///
/// With --contract, hooks without test cases are probed instead: with empty, huge and unusual input, missing fields, an empty
/// environment, a closed output, and eight runs at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    all cases pass
  1    a case fails, a probe has a finding, a hook is not approved, or a hook or a file is invalid
  64   usage error
  130  interrupted

Example:
  checkrein test
  checkrein test .checkrein/tests/guard.yaml --filter force --watch
  checkrein test new-rules.yaml --mutate
  checkrein test --contract --timeout 2

  # .checkrein/tests/guard.yaml
  cases:
    - name: force pushes are denied
      event: PreToolUse
      tool: Bash
      input: {command: git push --force}
      expect: {decision: deny, reason: lease}")]
pub struct Arguments {
    /// Files with test cases or rules, or directories of test cases
    paths: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
    /// Run only cases whose name contains this text; can be repeated
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Number of parallel cases; default: number of processors
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Stop after the first failure
    #[arg(long)]
    fail_fast: bool,
    /// List the cases, and run none
    #[arg(long, conflicts_with_all = ["contract", "watch", "junit"])]
    list: bool,
    /// Run again after each change of cases, hooks or scripts
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Probe the hooks without test cases
    #[arg(long)]
    contract: bool,
    /// Probe every hook
    #[arg(long, requires = "contract")]
    all: bool,
    /// Run the tests of the packs that come with checkrein
    #[arg(long, conflicts_with = "contract")]
    packs: bool,
    /// Change the conditions of rules, and report changes that no test notices
    #[arg(long, conflicts_with = "contract")]
    mutate: bool,
    /// Timeout of a probe in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", requires = "contract", value_parser = seconds)]
    timeout: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "must be a number of seconds greater than 0".to_owned())
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.list {
        return list(arguments);
    }
    // Dropping the future ends the hooks that are running.
    interrupt::block_on(&Engines::default(), async {
        if arguments.watch { watch::run(arguments).await } else { once(arguments, &Known::read(arguments)?).await }
    })?
}

/// Hooks and cases as read from their files, before anything runs.
struct Known {
    runner: TestRunner,
    files: Vec<PathBuf>,
    cases: Vec<Case>,
    /// Rules with tests.
    rules: Vec<HookSpec>,
    /// All rules with the kinds of their cases.
    coverage: Vec<RuleCoverage>,
    /// Errors of hooks that cannot be loaded.
    broken: Vec<String>,
    /// `true` if the command line names the hook files. Their rules need no approval for a test.
    has_named_files: bool,
    /// Diagnostics of the case files.
    wrong: Vec<Diagnostic>,
    /// Number of cases before --filter.
    all_cases: usize,
}

impl Known {
    fn read(arguments: &Arguments) -> Result<Self> {
        let config = &arguments.config;
        // Fails if a file of --config does not exist.
        config.sources()?;
        let (hook_files, paths): (Vec<_>, Vec<_>) =
            arguments.paths.iter().cloned().partition(|path| hook_tests::is_hook_file(path));
        let named = config.config.iter().chain(&hook_files);
        let files = named.map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
        let has_named_files = !files.is_empty();
        let dir = config.directory()?;
        let runner =
            TestRunner::new(config.dialect.0, &dir).config(files).agent(config.agent.clone()).trust(config.trust());
        let files = match paths.is_empty() && !hook_files.is_empty() {
            true => Vec::new(),
            false => hook_tests::find(&paths, &dir, &runner.config_files()).usage_error()?,
        };
        let read = hook_tests::read_files(&files, config.dialect.0);
        let all_cases = read.cases.len();
        let cases: Vec<_> = read.cases.into_iter().filter(|case| is_wanted(arguments, &case.name)).collect();
        // Loads the config files of each case, so that their diagnostics are known.
        for case in &cases {
            runner.loaded_for(case);
        }
        let mut rules: Vec<HookSpec> = match arguments.packs {
            true => packs::ALL.iter().flat_map(Pack::rules).collect(),
            false => runner.loaded().hooks.iter().filter(|hook| is_rule_of_file(hook)).cloned().collect(),
        };
        let mut coverage: Vec<_> = rules.iter().filter_map(RuleCoverage::new).collect();
        // One entry for several events may be several hooks.
        coverage.dedup();
        if !arguments.filter.is_empty() {
            coverage.clear();
        }
        rules.retain(has_tests);
        let mut broken = Vec::new();
        if !arguments.packs {
            // A hook that does not load is not tested.
            let loaded = runner.loaded();
            let unloaded = load_errors(config.dialect.0, &loaded.hooks, &dir, &loaded.diagnostics);
            let diagnostics = runner.diagnostics();
            let errors = diagnostics.iter().chain(&unloaded).filter(|found| found.severity == Severity::Error);
            broken.extend(errors.map(ToString::to_string));
        }
        let all_cases = all_cases + rules.iter().map(test_names).map(|names| names.len()).sum::<usize>();
        rules.retain(|rule| test_names(rule).iter().any(|name| is_wanted(arguments, name)));
        Ok(Self { runner, files, cases, rules, coverage, broken, has_named_files, wrong: read.diagnostics, all_cases })
    }

    /// Prints diagnostics of all files on standard error.
    fn tell(&self) {
        let diagnostics = self.runner.diagnostics();
        let of_files = diagnostics.iter().filter(|found| found.severity != Severity::Error || self.broken.is_empty());
        for text in of_files.chain(&self.wrong).map(ToString::to_string).chain(self.broken.iter().cloned()) {
            super::print_failure(&text);
        }
    }

    /// Text about rules that have no effect, because they are not approved.
    fn unapproved_rules(&self) -> Option<String> {
        let is_unapproved = |hook: &&HookSpec| matches!(hook.state, HookState::Untrusted | HookState::Changed(_));
        let rules = self.rules.iter().filter(is_unapproved).map(|hook| &*hook.info);
        let remedy = "approve with `checkrein trust approve --all`, or pass --trust-all in CI";
        match if self.has_named_files { 0 } else { layout::count_hooks(rules) } {
            0 => None,
            1 => Some(format!("1 rule is not approved, so it has no effect: {remedy}")),
            count => Some(format!("{count} rules are not approved, so they have no effect: {remedy}")),
        }
    }

    /// Text about hooks that were not tested, because they are not approved.
    fn unapproved(&self, arguments: &Arguments) -> Option<String> {
        let mut all: Vec<_> = self.cases.iter().map(|case| self.runner.loaded_for(case)).collect();
        if arguments.contract {
            all.push(self.runner.loaded());
        }
        let is_unapproved = |hook: &&HookSpec| matches!(hook.state, HookState::Untrusted | HookState::Changed(_));
        // The tests of rules run without an approval.
        let is_rule = |hook: &&HookSpec| matches!(hook.handler, HandlerSpec::Rule(_));
        let hooks = all.iter().flat_map(|loaded| &loaded.hooks).filter(is_unapproved).filter(|hook| !is_rule(hook));
        let remedy = "approve with `checkrein trust approve --all`, or pass --trust-all in CI";
        match layout::count_hooks(hooks.map(|hook| &*hook.info)) {
            0 => None,
            1 => Some(format!("1 hook is not approved, so it was not tested: {remedy}")),
            count => Some(format!("{count} hooks are not approved, so they were not tested: {remedy}")),
        }
    }

    /// Fails if there is nothing to run.
    fn check(&self, arguments: &Arguments) -> Result<()> {
        let is_any = !self.cases.is_empty() || !self.rules.is_empty();
        if arguments.contract || is_any || !self.wrong.is_empty() || !self.broken.is_empty() {
            return Ok(());
        }
        if self.all_cases > 0 {
            bail!(
                "--filter matches none of the {} cases: no name contains `{}`",
                self.all_cases,
                arguments.filter.join("` or `")
            );
        }
        let places = hook_tests::places(self.runner.dir(), &self.runner.config_files());
        let places: Vec<_> = places.iter().map(|place| show::relative(place)).collect();
        bail!(
            "no test cases in {}\n  write one (see `checkrein test --help`), or probe the hooks without cases: checkrein test --contract",
            places.join(", ")
        );
    }
}

/// Runs all cases or probes once, and prints the report.
async fn once(arguments: &Arguments, known: &Known) -> Result<Exit> {
    known.tell();
    known.check(arguments)?;
    let begun = Instant::now();
    let jobs = arguments
        .jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from);
    let report = if arguments.contract {
        let (hooks, with_cases) = to_probe(arguments, known);
        let probes = probe_all(&known.runner, &hooks, jobs, arguments.timeout).await;
        let report = TestReport::new(Vec::new(), probes, begun.elapsed());
        (report, with_cases)
    } else {
        let (mut reports, mutants) = rule_cases(arguments, known);
        if arguments.fail_fast && !reports.iter().all(CaseReport::is_passed) {
            reports.extend(known.cases.iter().map(CaseReport::skipped));
        } else {
            let mut live = live::Line::new(known.cases.len());
            let fail_fast = arguments.fail_fast;
            reports.extend(known.runner.run_all(&known.cases, jobs, fail_fast, |report| live.done(report)).await);
        }
        let report = TestReport::new(reports, Vec::new(), begun.elapsed()).with_mutants(mutants);
        (report.with_rules(known.coverage.clone()), 0)
    };
    let (report, with_cases) = report;
    let mut problems: Vec<_> = known.wrong.iter().map(ToString::to_string).collect();
    problems.extend(known.broken.iter().cloned());
    problems.extend(known.unapproved(arguments));
    problems.extend(known.unapproved_rules());
    let report = report.with_problems(problems);
    if let Some(path) = &arguments.junit {
        output_file::check_inside(path, &std::env::current_dir()?)?;
        output_file::write(path, &junit::write(&report), true, false)?;
    }
    let exit = if report.is_fine() { exit::SUCCESS } else { exit::FAILURE };
    super::finish_output(exit, show(arguments, &report, with_cases))
}

/// `true` for a rule that a file has.
fn is_rule_of_file(hook: &HookSpec) -> bool {
    matches!(&hook.handler, HandlerSpec::Rule(rule) if rule.pack_rule.is_none())
}

/// `true` for a rule with tests.
fn has_tests(hook: &HookSpec) -> bool {
    matches!(&hook.handler, HandlerSpec::Rule(rule) if !rule.tests.is_empty())
}

/// `true` if a case has this name or no name is given.
fn is_wanted(arguments: &Arguments, name: &str) -> bool {
    arguments.filter.is_empty() || arguments.filter.iter().any(|text| name.contains(text.as_str()))
}

/// Returns the names of the tests of a rule, as reports have them.
fn test_names(hook: &HookSpec) -> Vec<String> {
    let HandlerSpec::Rule(rule) = &hook.handler else { return Vec::new() };
    let name = |test: &RuleTest| format!("{}: {}", hook.info.id, rule_tests::describe(test));
    rule.tests.iter().map(name).collect()
}

/// Runs the tests of rules. Returns their reports, and the number of changed conditions.
fn rule_cases(arguments: &Arguments, known: &Known) -> (Vec<CaseReport>, usize) {
    let (mut cases, mut mutants) = (Vec::new(), 0);
    for rule in &known.rules {
        let Some(report) = rule_tests::run(rule, arguments.mutate) else { continue };
        mutants += report.mutants;
        for case in report.cases().into_iter().filter(|case| is_wanted(arguments, &case.name)) {
            let is_failed = !case.is_passed();
            cases.push(case);
            if is_failed && arguments.fail_fast {
                return (cases, mutants);
            }
        }
    }
    (cases, mutants)
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

/// Returns the hooks to probe, and the number of hooks that are not probed because cases run them.
fn to_probe(arguments: &Arguments, known: &Known) -> (Vec<HookSpec>, usize) {
    let loaded = known.runner.loaded();
    let mut fired = std::collections::HashSet::new();
    if !arguments.all {
        // A case without a valid event runs no hook.
        fired.extend(known.cases.iter().flat_map(|case| known.runner.would_run(case).unwrap_or_default()));
    }
    let has_case = |hook: &HookSpec| {
        let info = &hook.info;
        fired.contains(&(info.id.clone(), info.source.clone()))
    };
    let (with_cases, without): (Vec<_>, Vec<_>) = loaded.hooks.iter().cloned().partition(has_case);
    (without, with_cases.len())
}

/// Probes hooks, at most `jobs` at a time, and returns the reports in config order.
async fn probe_all(runner: &TestRunner, hooks: &[HookSpec], jobs: usize, limit: Duration) -> Vec<HookProbes> {
    let mut live = live::Line::new(hooks.len());
    let probes = hook_tests::probe_all(runner, hooks, jobs, limit, |probes| live.probed(probes)).await;
    drop(live);
    probes
}

fn list(arguments: &Arguments) -> Result<Exit> {
    let known = Known::read(arguments)?;
    known.tell();
    known.check(arguments)?;
    let mut out = anstream::stdout().lock();
    let rules = known.rules.iter().filter_map(|rule| rule_tests::run(rule, false)).flat_map(|report| report.cases());
    let rules: Vec<_> = rules.collect();
    if arguments.json {
        let all: Vec<_> = known
            .cases
            .iter()
            .map(|case| json!({ "name": case.name, "file": case.file, "line": case.line, "event": case.event }))
            .chain(
                rules
                    .iter()
                    .map(|case| json!({ "name": case.name, "file": case.file, "line": case.line, "event": null })),
            )
            .collect();
        writeln!(out, "{:#}", json!(all))?;
    } else {
        for case in &known.cases {
            writeln!(out, "{}:{}: {}", show::relative(&case.file), case.line, super::printable(&case.name))?;
        }
        for case in &rules {
            let file = show::relative(std::path::Path::new(&case.file));
            writeln!(out, "{file}:{}: {}", case.line, super::printable(&case.name))?;
        }
    }
    Ok(if known.wrong.is_empty() { exit::SUCCESS } else { exit::FAILURE })
}
