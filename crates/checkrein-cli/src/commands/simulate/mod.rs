//! `checkrein simulate`: a whole agent session, played against hooks.

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

/// Plays a whole agent session against the hooks that an agent here would have, and shows what each of them does.
///
/// The hooks run for real; what the user, the model and the tools do is in a script, and no tool runs. Verdicts are acted
/// on: a tool that is denied leaves no result, a refused stop comes again. Where there are no hooks at all, a starter set
/// runs in a scratch directory.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein simulate\n  checkrein simulate --as claude\n  checkrein simulate --print-script > session.yaml\n  checkrein simulate session.yaml --json | head -n 1"
)]
pub struct Arguments {
    /// The session: a file in YAML, or - for standard input; if absent, one that comes with the program
    script: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints one record per event as a line of JSON, instead of text for people
    #[arg(long)]
    json: bool,
    /// Prints the script and plays nothing
    #[arg(long)]
    print_script: bool,
}

/// How long hooks in the background are waited for: somebody wants to see what they do.
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
    config::tell(&loaded);

    let mut show = Show::new(dialect, arguments.json);
    let scratch = if nothing_in_sight(arguments, &loaded) {
        let scratch = tempfile::tempdir().context("cannot make a scratch directory")?;
        let heading = format!("No hooks of {} here: a starter set runs in a scratch directory.", dialect.name);
        show.heading(&heading)?;
        loaded = config::skipped(starter_hooks());
        dir = config::directory(scratch.path())?;
        Some(scratch)
    } else {
        None
    };
    let engines = Engines::default();
    let summary = interrupt::block_on(&engines, async {
        let live = if arguments.json { None } else { Live::start() };
        let mut builder = Engine::builder().settle_as(dialect).cwd(&dir).hooks(loaded.hooks.iter().cloned());
        if let Some(live) = &live {
            builder = builder.observer(live.observer());
        }
        let engine = config::built(builder, &loaded);
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
    let told = |moment: SimEvent<'_>| {
        if let SimEvent::Fired(fired) = moment {
            summary.add(fired.record);
        }
        if let Some(live) = live {
            live.clear();
        }
        show.moment(moment)
    };
    player.play(script, told).await?;
    engine.shutdown(PATIENCE).await;
    let mut later = Vec::new();
    while let Some(completion) = completions.next().await {
        if let Some(record) = completion.record {
            later.push((completion.event.kind(), record));
        }
    }
    // Who finishes first differs from run to run.
    later.sort_by_key(|(kind, hook)| (hook.source.line, hook.id.clone(), kind.name().to_owned()));
    let told_already = summary.warnings.len();
    for (kind, hook) in &later {
        summary.add_background(kind, hook);
    }
    show.background(&later, summary.warnings.get(told_already..).unwrap_or_default())?;
    Ok(summary)
}

/// The script's name and text.
fn script_text(path: Option<&Path>) -> Result<(String, String)> {
    let Some(path) = path else {
        return Ok(("default.yaml".to_owned(), Script::DEFAULT.to_owned()));
    };
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display())).usage_error()?;
    Ok((path.display().to_string(), text))
}

/// Whether nobody has set up any hooks. Files that cannot be read are not nothing.
fn nothing_in_sight(arguments: &Arguments, loaded: &Loaded) -> bool {
    let broken = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    loaded.hooks.is_empty() && arguments.config.config.is_empty() && !broken
}

fn starter_hooks() -> Loaded {
    let decoded = native::DIALECT.decode(starter::NAME, Scope::User, &starter::text(), Format::Yaml);
    let mut loaded = Loaded::default();
    loaded.hooks = decoded.hooks;
    loaded
}
