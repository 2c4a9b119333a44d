//! `checkrein run`: fires one event and shows what came of it.

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

/// Fires one event and shows the verdict, and for each hook why it ran, what it printed and what that was taken for.
///
/// What is not said about the event is made up. With --as more than once the first names the language of the files, and the
/// same hooks are settled by the rules of each, to show where the verdicts differ: by the others' rules exactly, also where
/// they let a later allow cancel a deny. The exit code is that of the first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  go on    2  denied or halted    3  ask    4  a hook failed and that closed the gate\n\nExample:\n  checkrein run PreToolUse --tool Bash --input '{\"command\": \"rm -rf /\"}'\n  checkrein run Stop --as claude --json | jq .verdict"
)]
pub struct Arguments {
    #[command(flatten)]
    event: EventArguments,
    /// Whose files, formats and rules apply; more than one: whose rules to compare
    #[arg(long = "as", value_name = "DIALECT", default_value = "native")]
    dialects: Vec<DialectName>,
    /// Reads this file instead of what would be found; may be given several times
    #[arg(long, value_name = "FILE")]
    config: Vec<std::path::PathBuf>,
    /// Where the agent would be started
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: std::path::PathBuf,
    /// Whose hooks are meant, where a file has those of several agents
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Runs hooks of the project also if you have not approved them: accepts that whoever wrote them runs commands here
    #[arg(long)]
    trust_all: bool,
    /// Prints one record as JSON; with --as more than once a list of them
    #[arg(long)]
    json: bool,
}

/// How long hooks in the background are waited for: somebody wants to see what they do.
const PATIENCE: Duration = Duration::from_secs(600);

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
    let loaded = config::skipped(sources.load());
    config::tell(&loaded);
    config::hint(first, &arguments.config, &loaded, &dir);

    let engines = Engines::default();
    let fired = interrupt::block_on(&engines, async {
        let mut fired = Vec::new();
        for (at, DialectName(dialect)) in arguments.dialects.iter().enumerate() {
            // What the first comes to is the answer; of the others, what those agents really would do is wanted.
            let engine = match at {
                0 => config::engine(dialect, &loaded, &dir),
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
        show::fired(&mut out, dialect, event, fired)?;
    }
    Ok(())
}

/// What came of one fire.
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
    show_skipped(&plan, &mut record);
    engine.shutdown(PATIENCE).await;
    let mut later = Vec::new();
    while let Some(completion) = completions.next().await {
        later.push(completion);
    }
    Fired { dialect, plan, verdict, record, later }
}

/// Puts hooks into the record that somebody has told the program to leave out: that is never silent.
fn show_skipped(plan: &[ExplainedHook], record: &mut Record) {
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

/// What the program ends with after this verdict.
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
