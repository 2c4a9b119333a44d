//! `checkrein explain`: what would run for an event, and why, without running it.

use std::io::{self, Write};

use anyhow::Result;
use checkrein::engine::ExplainedHook;
use checkrein::hook::SkipReason;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::{self, ConfigArguments};
use super::event::EventArguments;
use super::printable;
use crate::exit::{self, Exit};

/// Shows for each hook whether it would run for an event, and why not: the matcher and what it was compared with, disabled,
/// the same as another, not approved, broken. Runs nothing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein explain PreToolUse --tool Bash\n  checkrein explain Stop --as claude --json"
)]
pub struct Arguments {
    #[command(flatten)]
    event: EventArguments,
    #[command(flatten)]
    config: ConfigArguments,
    /// Shows hooks for other events as well
    #[arg(long)]
    all: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let dir = arguments.config.directory()?;
    let event = arguments.event.event(dialect, &dir)?;
    let mut loaded = arguments.config.load()?;
    loaded.look_at_scripts();
    config::tell(&loaded);
    config::hint(dialect, &arguments.config.config, &loaded, &dir);
    let plan = config::engine(dialect, &loaded, &dir).explain(&event);
    let about = |planned: &&ExplainedHook| arguments.all || planned.hook.kinds.contains(&event.kind());
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> = plan.iter().filter(about).map(as_json).collect();
        let subject = event.subject().map(String::from);
        writeln!(out, "{:#}", json!({ "event": event.kind().name(), "subject": subject, "hooks": hooks }))?;
        return Ok(exit::SUCCESS);
    }
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    match event.subject() {
        Some(subject) => writeln!(out, "{} {}", name.bold(), printable(&subject))?,
        None => writeln!(out, "{}", name.bold())?,
    }
    let mut hooks = plan.iter().filter(about).peekable();
    if hooks.peek().is_none() {
        writeln!(out, "  no hook is for this event")?;
    }
    for planned in hooks {
        show(&mut out, planned)?;
    }
    Ok(exit::SUCCESS)
}

fn show(out: &mut impl Write, planned: &ExplainedHook) -> io::Result<()> {
    let hook = &planned.hook;
    let (id, source) = (printable(&hook.info.id), printable(&hook.info.source.to_string()));
    let matcher = match hook.matcher.pattern() {
        "" => "no matcher".to_owned(),
        pattern => format!("its matcher `{pattern}` fits"),
    };
    let sandbox = if planned.hook.sandbox().is_some() { ", in a sandbox" } else { "" };
    let shadow = if hook.info.dry_run { ", in the shadow: it decides nothing" } else { "" };
    let green = "in ".green();
    match (&planned.why_not, &planned.fails) {
        (Some(why), _) => writeln!(out, "  {}  {id} ({source}): {}", "out".dimmed(), printable(&why_not(planned, why))),
        (None, Some(fails)) => writeln!(out, "  {}  {id} ({source}): fails, {}{shadow}", "in ".red(), printable(fails)),
        (None, None) => writeln!(out, "  {green}  {id} ({source}): {}{sandbox}{shadow}", printable(&matcher)),
    }
}

/// Why a hook does not run, and who says so.
fn why_not(planned: &ExplainedHook, why: &SkipReason) -> String {
    match (&planned.hook.disabled_by, why) {
        (Some(by), SkipReason::Disabled) => format!("it is off: {by}"),
        _ => why.to_string(),
    }
}

fn as_json(planned: &ExplainedHook) -> Value {
    let info = &planned.hook.info;
    json!({
        "id": info.id,
        "source": { "file": info.source.file, "line": info.source.line, "scope": info.source.scope },
        "handler": planned.hook.handler.kind().name(),
        "sandbox": planned.hook.sandbox().map(ToString::to_string),
        "matcher": planned.hook.matcher.pattern(),
        "runs": planned.why_not.is_none(),
        "shadow": info.dry_run,
        "why_not": planned.why_not.as_ref().map(|why| why_not(planned, why)),
        "fails": planned.fails,
    })
}
