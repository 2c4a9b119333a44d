//! `checkrein replay`: fires recorded events again.

mod show;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use checkrein_tools::recording::{self, Replay, ReplayReport};

use super::config::{self, ConfigArguments};
use super::progress::Progress;
use crate::exit::{self, Exit, UsageErrorExt};
use crate::interrupt::{self, Engines};

/// Fires the events of a recording at your hooks as they are now, and shows where the verdicts differ: what a new rule would
/// have done to last week.
///
/// The hooks really run, with all that they do besides deciding; --dry-run shows which ones would. The tools of the recorded
/// events do not run. What `checkrein run --json` has printed can be replayed as well: what it lacks of the event is made up.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  nothing differs    1  something does    64  a wrong call    130  interrupted

Example:
  checkrein replay week.jsonl --only-changed
  checkrein replay week.jsonl --config new-rules.yaml --dry-run
  checkrein replay week.jsonl --json | jq .decisions")]
pub struct Arguments {
    /// The recording
    file: PathBuf,
    #[command(flatten)]
    config: ConfigArguments,
    /// Shows only events whose verdict differs
    #[arg(long)]
    only_changed: bool,
    /// Runs nothing, and shows which hooks ran then and would run now
    #[arg(long)]
    dry_run: bool,
    /// Fires events as well that were recorded in other projects
    #[arg(long)]
    all_projects: bool,
    /// How many events are fired at once; hooks that remember something should see them one by one
    #[arg(long, short, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let config = &arguments.config;
    let dir = config.directory()?;
    let loaded = config.load()?;
    config::tell(&loaded);
    // Broken hooks are told once, not for each event.
    drop(config::engine(config.dialect.0, &loaded, &dir));
    let lines = recording::read(&arguments.file)
        .with_context(|| format!("cannot read {}", arguments.file.display()))
        .usage_error()?;
    // Files that somebody names are for all events.
    let only_here = config.config.is_empty() && !arguments.all_projects;
    let replay = Replay::new(config.dialect.0, dir, loaded)
        .jobs(usize::from(arguments.jobs))
        .dry_run(arguments.dry_run)
        .only_this_project(only_here);
    let report = interrupt::block_on(&Engines::default(), fire(arguments, &replay, lines))??;

    let mut out = anstream::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        show::summary(&mut out, &report)?;
    }
    if report.events == 0 && !report.broken.is_empty() {
        bail!("{} has no event that can be fired", arguments.file.display());
    }
    Ok(if report.changed == 0 { exit::SUCCESS } else { exit::FAILURE })
}

/// Fires all of them, and shows each when it is done.
async fn fire(arguments: &Arguments, replay: &Replay, lines: recording::Lines) -> std::io::Result<ReplayReport> {
    let mut progress = Some(Progress::new());
    let (mut done, mut changed) = (0_usize, 0_usize);
    let mut failed = Ok(());
    let report = replay
        .run(lines, |one| {
            let one = match one {
                Ok(one) => one,
                Err(bad) => {
                    // The line must be gone before others are written.
                    progress = None;
                    super::print_note(&format!("{bad}: skipped"));
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
            // What has been shown need not be kept.
            shown && arguments.json
        })
        .await;
    drop(progress);
    failed.map(|()| report)
}
