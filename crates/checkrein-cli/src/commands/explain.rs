//! `checkrein explain`: lists the hooks that would run for an event, and the reason why the others would not.
//!
//! Runs no hook.

use std::io::{self, Write};

use anyhow::Result;
use checkrein::engine::ExplainedHook;
use checkrein::event::Target;
use checkrein::hook::SkipReason;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::{self, ConfigArguments};
use super::event::EventArguments;
use super::{display_source, layout, printable, shorten_paths};
use crate::exit::{self, Exit};

/// Show which hooks would run for an event, and why
///
/// Shows the reason for each hook that would not run: matcher, disabled, duplicate, not approved, broken. Runs no hook.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein explain PreToolUse --tool Bash
  checkrein explain Stop --as claude --json")]
pub struct Arguments {
    #[command(flatten)]
    event: EventArguments,
    #[command(flatten)]
    config: ConfigArguments,
    /// Include hooks for other events
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let dir = arguments.config.directory()?;
    let event = arguments.event.event(dialect, &dir)?;
    let mut loaded = arguments.config.load()?;
    loaded.verify_scripts();
    config::print_diagnostics(&loaded);
    config::hint(dialect, &arguments.config.config, &loaded, &dir);
    let plan = config::engine_for_event(dialect, &loaded, &dir, &event).explain(&event);
    let about = |planned: &&ExplainedHook| arguments.all || planned.hook.kinds.contains(&event.kind());
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> = plan.iter().filter(about).map(as_json).collect();
        let subject = event.subject().map(String::from);
        writeln!(out, "{:#}", json!({ "event": event.kind().name(), "subject": subject, "hooks": hooks }))?;
        return Ok(exit::SUCCESS);
    }
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    write!(out, "{}", name.bold())?;
    if let Some(subject) = event.subject() {
        write!(out, " {}", printable(&subject))?;
    }
    // Conditions of hooks depend on it.
    if let Some(input) = event.original(Target::Input) {
        write!(out, " {}", layout::one_line(input.as_str(), 120).dimmed())?;
    }
    writeln!(out)?;
    let mut hooks = plan.iter().filter(about).peekable();
    if hooks.peek().is_none() {
        writeln!(out, "  no hooks for this event")?;
    }
    for planned in hooks {
        show(&mut out, planned)?;
    }
    Ok(exit::SUCCESS)
}

fn show(out: &mut impl Write, planned: &ExplainedHook) -> io::Result<()> {
    let hook = &planned.hook;
    let (id, source) = (printable(&hook.info.id), display_source(&hook.info.source));
    let text = |text: &str| shorten_paths(&printable(text));
    let matcher = why(planned);
    let sandbox = if planned.hook.sandbox().is_some() { "; in a sandbox" } else { "" };
    let dry_run = if hook.info.dry_run { "; dry run: cannot block" } else { "" };
    match (&planned.why_not, &planned.fails) {
        (Some(why), _) => writeln!(out, "  {}  {id} ({source}): {}", "skip".dimmed(), text(&why_not(planned, why))),
        (None, Some(fails)) => writeln!(out, "  {}  {id} ({source}): {}{dry_run}", "fail".red(), text(fails)),
        (None, None) => writeln!(out, "  {}  {id} ({source}): {}{sandbox}{dry_run}", "run ".green(), text(&matcher)),
    }
}

/// Reason why a hook runs: its matcher and its condition.
pub fn why(planned: &ExplainedHook) -> String {
    let matcher = match planned.hook.matcher.pattern() {
        "" => "no matcher".to_owned(),
        pattern => format!("matcher `{pattern}` matches"),
    };
    match (&planned.hook.condition, &planned.undecided) {
        (None, _) => matcher,
        (Some(condition), None) => format!("{matcher}; condition `{}` is true", condition.text()),
        (Some(condition), Some(why)) => {
            format!("{matcher}; condition `{}` cannot be decided ({why}), so it runs", condition.text())
        }
    }
}

/// Reason why a hook does not run, with the setting that disables it.
fn why_not(planned: &ExplainedHook, why: &SkipReason) -> String {
    match (&planned.hook.disabled_by, why) {
        (Some(by), SkipReason::Disabled) => format!("disabled: {by}"),
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
        "dry_run": info.dry_run,
        "why_not": planned.why_not.as_ref().map(|why| why_not(planned, why)),
        "fails": planned.fails,
        "undecided": planned.undecided,
    })
}
