//! `checkrein simulate`: plays a scripted agent session against hooks.

mod line;
mod live;
mod show;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use checkrein::dialects::agents::native;
use checkrein::dialects::config::Severity;
use checkrein::document::Format;
use checkrein::hook_files::Loaded;
use checkrein::{Engine, Scope};
use checkrein_tools::simulate::{Script, SimEvent, Simulator, Summary};

use self::live::Live;
use self::show::Show;
use super::config::{self, ConfigArguments};
use crate::exit::{self, Exit, UsageErrorExt};
use crate::interrupt::{self, Engines};
use crate::starter;

/// Play a whole agent session against your hooks
///
/// The hooks really run. The script contains the actions of the user, the model and the tools; no tool runs. The session
/// follows the verdicts: a denied tool has no result, and a blocked stop continues the turn. Without any hooks, example
/// hooks run in a scratch directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    the session was played, independent of the verdicts
  1    the script is invalid
  64   usage error
  130  interrupted

Example:
  checkrein simulate
  checkrein simulate --as claude
  checkrein simulate --print-script > session.yaml
  checkrein simulate session.yaml --json | head -n 1")]
pub struct Arguments {
    /// Script in YAML, or - for standard input; default: a built-in script
    script: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
    /// Print one line of JSON per event
    #[arg(long)]
    json: bool,
    /// Print the script and play nothing
    #[arg(long)]
    print_script: bool,
}

/// Time that background hooks get to finish, so that the output shows their results.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let (name, text) = script_text(arguments.script.as_deref())?;
    let script = Script::parse(&name, &text)?;
    if arguments.print_script {
        anstream::stdout().write_all(text.as_bytes())?;
        return Ok(exit::SUCCESS);
    }
    let dialect = arguments.config.dialect.0;
    let mut dir = arguments.config.directory()?;
    let mut loaded = arguments.config.load()?;
    config::print_diagnostics(&loaded);

    let mut show = Show::new(dialect, arguments.json);
    let scratch = if has_no_hooks(arguments, &loaded) {
        let scratch = tempfile::tempdir().context("cannot create a scratch directory")?;
        let heading = format!("No {} hooks here; playing example hooks in a scratch directory.", dialect.title());
        show.heading(&heading)?;
        loaded = config::apply_skip(example_hooks());
        dir = config::directory(scratch.path())?;
        Some(scratch)
    } else {
        None
    };
    let engines = Engines::default();
    let summary = interrupt::block_on(&engines, async {
        let live = if arguments.json || super::is_quiet() { None } else { Live::start() };
        let mut builder = checkrein_tools::own_program::engine_builder()
            .settle_as(dialect)
            .cwd(&dir)
            .hooks(loaded.hooks.iter().cloned());
        if let Some(live) = &live {
            builder = builder.observer(live.observer());
        }
        let engine = config::build(builder, &loaded);
        engines.register(&engine);
        let player = Simulator::new(engine.clone()).host(dialect).cwd(dir.to_string_lossy());
        play(&engine, &player, &script, live.as_ref(), &mut show).await
    })??;
    drop(scratch);
    show.summary(&summary)?;
    Ok(exit::SUCCESS)
}

async fn play(
    engine: &Engine,
    player: &Simulator,
    script: &Script,
    live: Option<&Live>,
    show: &mut Show,
) -> Result<Summary> {
    let mut summary = Summary::default();
    let mut completions = engine.completions();
    let on_event = |event: SimEvent<'_>| {
        if let SimEvent::Fired(fired) = event {
            summary.add(fired.record);
        }
        if let Some(live) = live {
            live.clear();
        }
        show.event(event)
    };
    player.play(script, on_event).await?;
    engine.shutdown(PATIENCE).await;
    let mut later = Vec::new();
    while let Some(completion) = completions.next().await {
        if let Some(record) = completion.record {
            later.push((completion.event.kind(), record));
        }
    }
    // The order in which hooks finish differs from run to run.
    later.sort_by_key(|(kind, hook)| (hook.source.line, hook.id.clone(), kind.name().to_owned()));
    let shown_warnings = summary.warnings.len();
    for (kind, hook) in &later {
        summary.add_background(kind, hook);
    }
    show.background(&later, summary.warnings.get(shown_warnings..).unwrap_or_default())?;
    Ok(summary)
}

/// Name and text of the script.
fn script_text(path: Option<&Path>) -> Result<(String, String)> {
    let Some(path) = path else {
        return Ok(("default.yaml".to_owned(), Script::DEFAULT.to_owned()));
    };
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let text = super::read_text(path).usage_error()?;
    Ok((path.display().to_string(), text))
}

/// Returns `true` if there are neither hooks nor files that cannot be read.
fn has_no_hooks(arguments: &Arguments, loaded: &Loaded) -> bool {
    let broken = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    loaded.hooks.is_empty() && arguments.config.config.is_empty() && !broken
}

fn example_hooks() -> Loaded {
    let decoded = native::DIALECT.decode(starter::EXAMPLES_NAME, Scope::User, &starter::examples(), Format::Yaml);
    let mut loaded = Loaded::default();
    loaded.hooks = decoded.hooks;
    loaded
}
