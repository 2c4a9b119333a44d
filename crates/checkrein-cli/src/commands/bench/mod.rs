//! `checkrein bench`: measures the duration of hooks.

mod measure;
mod show;
mod times;
#[cfg(target_os = "linux")]
mod warm;

use std::io::Write;
#[cfg(target_os = "linux")]
use std::sync::Arc;

use anyhow::Result;
#[cfg(target_os = "linux")]
use checkrein::HookSpec;
use checkrein::hook::HookState;

use super::config::{self, ConfigArguments};
use super::event::About;
use crate::exit::{self, Exit};
use crate::interrupt::{self, Engines};

/// Measure how long hooks make the agent wait
///
/// Fires each event repeatedly and shows the percentiles of each hook, its share of the total, and the ratio to an empty
/// process. The hooks really run. Without an event, all events with hooks are fired, for tools that each hook matches.
/// Background hooks are left out. -v adds a histogram per hook.
///
/// While `checkrein serve` runs, Python and Node hooks are measured a second time in its warm interpreters.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    measured
  1    an operation failed
  64   usage error
  130  interrupted

Example:
  checkrein bench
  checkrein bench PreToolUse --tool Bash --as claude --runs 500
  checkrein bench --json | jq '.events[].hooks[] | {id, p95: .time.p95_us}'")]
pub struct Arguments {
    /// Fire only this event, by the agent's name or checkrein's
    event: Option<String>,
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    config: ConfigArguments,
    /// Number of measured runs of each event
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Number of unmeasured runs before
    #[arg(long, value_name = "N", default_value = "3")]
    warmup: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let dir = arguments.config.directory()?;
    let mut loaded = arguments.config.load()?;
    config::print_diagnostics(&loaded);
    loaded.hooks.retain(|hook| !hook.background && !matches!(hook.state, HookState::Disabled | HookState::Skipped(_)));
    let stopwatch = measure::Stopwatch::default();
    let builder = || checkrein_tools::own_program::engine_builder().settle_as(dialect).cwd(&dir);
    let all = builder().hooks(loaded.hooks.iter().cloned()).observer(stopwatch.clone());
    let engine = config::build(all, &loaded);
    let event = arguments.event.as_deref();
    let (cases, left_out) = measure::cases(&engine, &loaded, event, &arguments.about, dialect, &dir)?;
    // With --tool or other event data, hooks that do not match are expected.
    if arguments.about.is_empty() {
        for one in &left_out {
            super::print_note(&format!("{} is not measured: {}", one.hook, one.why));
        }
    }
    let mut out = anstream::stdout().lock();
    if cases.is_empty() && !arguments.json {
        writeln!(out, "no hooks to measure; `checkrein list` shows all hooks")?;
        return Ok(exit::SUCCESS);
    }
    let (warmup, runs) = (arguments.warmup as usize, arguments.runs as usize);
    let engines = Engines::default();
    engines.register(&engine);
    let measuring = async {
        let measured = measure::measure(&engine, &stopwatch, cases, warmup, runs).await?;
        #[cfg(target_os = "linux")]
        let measured = {
            let (floor, mut outcomes) = measured;
            let one = |hook: &Arc<HookSpec>, stopwatch| builder().hooks([HookSpec::clone(hook)]).observer(stopwatch);
            warm::measure(&mut outcomes, runs, &dir, &engines, one).await;
            (floor, outcomes)
        };
        anyhow::Ok(measured)
    };
    let (floor, outcomes) = interrupt::block_on(&engines, measuring)??;
    if arguments.json {
        writeln!(out, "{:#}", show::json(dialect, floor.as_ref(), &outcomes, &left_out))?;
    } else {
        show::text(&mut out, dialect, floor.as_ref(), &outcomes)?;
    }
    Ok(exit::SUCCESS)
}
