//! `checkrein bench`: how long hooks keep the agent waiting.

mod measure;
mod show;
mod times;

use std::io::Write;

use anyhow::Result;
use checkrein::Engine;
use checkrein::hook::HookState;

use super::config::{self, ConfigArguments};
use super::event::About;
use crate::exit::{self, Exit};
use crate::interrupt::{self, Engines};

/// Fires events again and again and shows how long each hook takes: the median, the slowest of a hundred, its share of all
/// hooks' time, and how that compares with a process that does nothing.
///
/// Hooks really run, so often. Without an event all events that have hooks are fired, for tools with which each hook is
/// sure to run. Hooks that nobody waits for are left out. The empty process is started in turns with the hooks, so that
/// whatever else the machine does befalls both alike.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein bench\n  checkrein bench PreToolUse --tool Bash --as claude --runs 500\n  checkrein bench --json | jq '.events[].hooks[] | {id, p95: .time.p95_us}'"
)]
pub struct Arguments {
    /// Only this event, in the dialect's spelling or checkrein's
    event: Option<String>,
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    config: ConfigArguments,
    /// How often each event is fired
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How often before that, without counting
    #[arg(long, value_name = "N", default_value = "3")]
    warmup: u32,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let dir = arguments.config.directory()?;
    let mut loaded = arguments.config.load()?;
    config::tell(&loaded);
    loaded.hooks.retain(|hook| !hook.background && !matches!(hook.state, HookState::Disabled | HookState::Skipped(_)));
    let stopwatch = measure::Stopwatch::default();
    let builder = Engine::builder().settle_as(dialect).cwd(&dir).hooks(loaded.hooks.iter().cloned());
    let engine = config::built(builder.observer(stopwatch.clone()), &loaded);
    let event = arguments.event.as_deref();
    let (cases, left_out) = measure::cases(&engine, &loaded, event, &arguments.about, dialect, &dir)?;
    // Who names a tool knows that hooks for others do not run.
    for one in left_out.iter().filter(|_| arguments.about.is_empty()) {
        super::print_note(&format!("{} is not measured: {}", one.hook, one.why));
    }
    let mut out = anstream::stdout().lock();
    if cases.is_empty() && !arguments.json {
        writeln!(out, "no hook that the agent waits for would run")?;
        return Ok(exit::SUCCESS);
    }
    let (warmup, runs) = (arguments.warmup as usize, arguments.runs as usize);
    let engines = Engines::default();
    engines.register(&engine);
    let measuring = measure::measure(&engine, &stopwatch, cases, warmup, runs);
    let (floor, outcomes) = interrupt::block_on(&engines, measuring)??;
    if arguments.json {
        writeln!(out, "{:#}", show::json(dialect, floor.as_ref(), &outcomes, &left_out))?;
    } else {
        show::text(&mut out, dialect, floor.as_ref(), &outcomes)?;
    }
    Ok(exit::SUCCESS)
}
