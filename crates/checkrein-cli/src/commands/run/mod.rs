//! `checkrein run`: fires one event at the hooks and reports the verdict.
//!
//! `show` prints the report. The exit code depends on the verdict of the first dialect only.

mod show;

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result};
use checkrein::dialects::Dialect;
use checkrein::engine::ExplainedHook;
use checkrein::hook::SkipReason;
use checkrein::record::{HookRecord, SourceRecord};
use checkrein::{Decision, Engine, Event, FailurePolicy, Record, Trust, Verdict};

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use super::event::EventArguments;
use crate::exit::{self, Exit};
use crate::interrupt::{self, Engines};

/// Fire one event at your hooks and explain the verdict
///
/// Shows for each hook why it ran, its output and the meaning of the output. The hooks really run. Missing event data is
/// filled with sample data, and the report says so.
///
/// With several --as, the first one selects the files. The same hooks are then settled by the exact rules of each agent, to
/// compare the verdicts. The exit code is that of the first one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    allow, or no opinion
  1    an operation failed
  2    deny or halt
  3    ask or defer
  4    deny, because a hook failed
  64   usage error
  130  interrupted

Example:
  checkrein run PreToolUse --tool Bash --command 'rm -rf /'
  checkrein run --payload event.json --as claude
  checkrein run Stop --as claude --json | jq .verdict")]
pub struct Arguments {
    #[command(flatten)]
    event: EventArguments,
    /// Agent whose files and rules to use; repeat it to compare verdicts
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    dialects: Vec<DialectName>,
    /// Read this file instead of the usual locations; can be repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<std::path::PathBuf>,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: std::path::PathBuf,
    /// Agent to use, if a file contains hooks of several agents
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Run hooks of the project without approval; their authors can run any command
    #[arg(long)]
    trust_all: bool,
    /// Print the record as JSON; with several --as, a list of records
    #[arg(long)]
    json: bool,
}

/// Longest wait for hooks in the background, so that the report contains their output.
const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let first = arguments.dialects.first().context("--as needs a dialect")?.0;
    let dir = directory(&arguments.dir)?;
    let event = arguments.event.event(first, &dir)?;
    let mut sources = sources(first, &arguments.config, &dir)?;
    if let Some(name) = &arguments.agent {
        sources = sources.agent(name);
    }
    if arguments.trust_all {
        sources = sources.trust(Trust::everything());
    }
    let loaded = config::apply_skip(sources.load());
    config::print_diagnostics_for(&loaded, &event.kind());
    config::hint(first, &arguments.config, &loaded, &dir);

    let engines = Engines::default();
    let fired = interrupt::block_on(&engines, async {
        let mut fired = Vec::new();
        for (position, DialectName(dialect)) in arguments.dialects.iter().enumerate() {
            // The first dialect gives the answer. The others show the exact behaviour of their agents.
            let engine = match position {
                0 => config::engine_for_event(dialect, &loaded, &dir, &event),
                _ => config::exact_engine(dialect, &loaded, &dir),
            };
            engines.register(&engine);
            fired.push(fire(dialect, &engine, &event).await);
        }
        fired
    })?;
    let exit = fired.first().map_or(exit::SUCCESS, |fired| exit_of(&fired.verdict));
    super::finish_output(exit, show(arguments, first, &event, &fired))
}

fn show(arguments: &Arguments, dialect: &Dialect, event: &Event, fired: &[Fired]) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let records: Vec<_> = fired.iter().map(|fired| &fired.record).collect();
        match &records[..] {
            [one] => serde_json::to_writer_pretty(&mut out, one).map_err(std::io::Error::from)?,
            many => serde_json::to_writer_pretty(&mut out, many).map_err(std::io::Error::from)?,
        }
        writeln!(out)?;
    } else {
        let has_sample_input = arguments.event.about.has_sample_input();
        show::fired(&mut out, dialect, event, has_sample_input, fired)?;
    }
    Ok(())
}

/// Result of one event under the rules of one dialect.
pub struct Fired {
    dialect: &'static Dialect,
    plan: Vec<ExplainedHook>,
    verdict: Verdict,
    record: Record,
    later: Vec<checkrein::engine::Completion>,
}

async fn fire(dialect: &'static Dialect, engine: &Engine, event: &Event) -> Fired {
    let mut completions = engine.completions();
    let plan = engine.explain(event);
    let (verdict, mut record) = engine.fire_recorded(event.clone()).await;
    add_skipped(&plan, &mut record);
    engine.shutdown(BACKGROUND_WAIT).await;
    let mut later = Vec::new();
    while let Some(completion) = completions.next().await {
        later.push(completion);
    }
    Fired { dialect, plan, verdict, record, later }
}

/// Adds hooks that `CHECKREIN` or `CHECKREIN_SKIP` skips to the record, so that the report shows them.
fn add_skipped(plan: &[ExplainedHook], record: &mut Record) {
    for planned in plan {
        if let Some(SkipReason::Skipped { why }) = &planned.why_not {
            record.hooks.push(HookRecord::for_skipped(&planned.hook.info, planned.hook.handler.kind().name(), why));
        }
    }
    let place = |id: &str, source: &SourceRecord| {
        plan.iter().position(|planned| {
            let info = &planned.hook.info;
            info.id == id && info.source.line == source.line && info.source.file == source.file
        })
    };
    record.hooks.sort_by_key(|hook| place(&hook.id, &hook.source));
}

/// Exit code for a verdict.
pub fn exit_of(verdict: &Verdict) -> Exit {
    let closed = |id: &str| {
        verdict.warnings().iter().any(|warning| {
            warning.hook.id == id && warning.failure.is_some_and(|(_, effect)| effect == FailurePolicy::Closed)
        })
    };
    match verdict.decision() {
        Decision::Deny if verdict.decided_by().is_some_and(|hook| closed(&hook.id)) => exit::FAILED_CLOSED,
        Decision::Deny | Decision::Halt => exit::DENIED,
        Decision::Ask | Decision::Defer => exit::ASK,
        Decision::Allow | Decision::NoOpinion => exit::SUCCESS,
    }
}
