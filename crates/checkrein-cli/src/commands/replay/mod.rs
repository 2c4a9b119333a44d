//! `checkrein replay`: fires recorded events again and compares the verdicts.

mod show;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use checkrein::HookSpec;
use checkrein::dialects::HandlerSpec;
use checkrein::dialects::agents::native;
use checkrein::hook::HookState;
use checkrein::internal::repository;
use checkrein_tools::recording::{self, Replay, ReplayReport, RuleReplay};

use super::config::{self, ConfigArguments};
use super::progress::Progress;
use crate::exit::{self, Exit, UsageErrorExt};
use crate::interrupt::{self, Engines};

/// Fire recorded events again and compare the verdicts
///
/// Shows what a changed hook would have done to last week. The hooks really run, with all their side effects; --dry-run only
/// shows which ones would. The tools of the recorded events do not run. Output of `checkrein run --json` can be replayed too;
/// missing event data is filled with sample data.
///
/// With --rule, nothing runs: the rules of a file are added to the recorded verdicts, and the events that change are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    no verdict differs
  1    a verdict differs, or no event can be fired
  64   usage error
  130  interrupted

Example:
  checkrein replay week.jsonl --only-changed
  checkrein replay week.jsonl --rule new-rule.yaml
  checkrein replay week.jsonl --config new-rules.yaml --dry-run
  checkrein replay week.jsonl --json | jq .decisions")]
pub struct Arguments {
    /// Recording of `checkrein record`
    file: PathBuf,
    #[command(flatten)]
    config: ConfigArguments,
    /// Add the rules and packs of this file to the recorded verdicts, and run nothing; can be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "dry_run"])]
    rule: Vec<PathBuf>,
    /// Show only events whose verdict differs
    #[arg(long)]
    only_changed: bool,
    /// Run nothing; compare the hooks that ran with those that would run
    #[arg(long)]
    dry_run: bool,
    /// Include events that were recorded in other projects
    #[arg(long)]
    all_projects: bool,
    /// Number of parallel events; use 1 for hooks that keep state
    #[arg(long, short, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if !arguments.rule.is_empty() {
        return run_rules(arguments);
    }
    let config = &arguments.config;
    let dir = config.directory()?;
    let loaded = config.load()?;
    config::print_diagnostics(&loaded);
    // Building an engine reports broken hooks. The replay builds engines without reports.
    drop(config::engine(config.dialect.0, &loaded, &dir));
    let lines = open(arguments)?;
    // Explicit config files apply to all events.
    let only_here = config.config.is_empty() && !arguments.all_projects;
    let replay = Replay::new(config.dialect.0, dir, loaded)
        .jobs(usize::from(arguments.jobs))
        .dry_run(arguments.dry_run)
        .only_this_project(only_here);
    let report = interrupt::block_on(&Engines::default(), fire(arguments, &replay, lines))??;
    finish(arguments, &report)
}

/// Evaluates new rules for all events.
fn run_rules(arguments: &Arguments) -> Result<Exit> {
    let dir = arguments.config.directory()?;
    let loaded = config::sources(&native::DIALECT, &arguments.rule, &dir)?.without_managed().load();
    config::print_diagnostics(&loaded);
    let is_broken = |hook: &&HookSpec| matches!(hook.state, HookState::Broken(_));
    if let Some(hook) = loaded.hooks.iter().find(is_broken) {
        bail!("`{}` is not valid, so nothing was evaluated; fix it, see `checkrein check`", hook.info.id);
    }
    let mut replay = RuleReplay::new(loaded.hooks.iter().cloned())
        .map_err(|(info, error)| anyhow!("{}: the rule `{}` is not valid: {error}", info.source, info.id))?;
    let others = loaded.hooks.iter().filter(|hook| !matches!(hook.handler, HandlerSpec::Rule(_))).count();
    if others > 0 {
        let text = match others {
            1 => "1 hook is not a rule and was left out; `--config` runs it".to_owned(),
            several => format!("{several} hooks are not rules and were left out; `--config` runs them"),
        };
        super::print_note(&text);
    }
    if replay.rules() == 0 {
        bail!("there is no rule to evaluate: a rule is a hook with `when`, or comes from a pack");
    }
    if !arguments.all_projects {
        replay = replay.only_project(repository(&dir).unwrap_or(&dir));
    }
    let mut shown = Ok(());
    let report = replay.run(open(arguments)?, |one| {
        match one {
            Ok(one) if one.is_changed() && !arguments.json && shown.is_ok() => {
                shown = show::one(&mut anstream::stdout().lock(), one);
            }
            Ok(_) => {}
            Err(bad) => super::print_note(&format!("skipped {bad}")),
        }
        arguments.json && one.is_ok_and(recording::Replayed::is_changed)
    });
    shown?;
    finish(arguments, &report)
}

fn open(arguments: &Arguments) -> Result<recording::Lines> {
    recording::read(&arguments.file).with_context(|| format!("cannot read {}", arguments.file.display())).usage_error()
}

/// Prints the report, and returns its exit code.
fn finish(arguments: &Arguments, report: &ReplayReport) -> Result<Exit> {
    let mut out = anstream::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        show::summary(&mut out, report)?;
    }
    if report.events == 0 && !report.broken.is_empty() {
        bail!("no event in {} can be fired", arguments.file.display());
    }
    Ok(if report.changed == 0 { exit::SUCCESS } else { exit::FAILURE })
}

/// Fires all events, and shows each one after its verdict.
async fn fire(arguments: &Arguments, replay: &Replay, lines: recording::Lines) -> std::io::Result<ReplayReport> {
    let mut progress = Some(Progress::new());
    let (mut done, mut changed) = (0_usize, 0_usize);
    let mut failed = Ok(());
    let report = replay
        .run(lines, |one| {
            let one = match one {
                Ok(one) => one,
                Err(bad) => {
                    // The progress line must be erased before a note is printed.
                    drop(progress.take());
                    super::print_note(&format!("skipped {bad}"));
                    progress = Some(Progress::new());
                    return false;
                }
            };
            done += 1;
            changed += usize::from(one.is_changed());
            let shown = one.is_changed() || !arguments.only_changed;
            if shown && !arguments.json && failed.is_ok() {
                progress = None;
                failed = show::one(&mut anstream::stdout().lock(), one);
            }
            let progress = progress.get_or_insert_with(Progress::new);
            progress.show(|| format!("{done} fired, {changed} changed"));
            // Only JSON output needs the event later.
            shown && arguments.json
        })
        .await;
    drop(progress);
    failed.map(|()| report)
}
