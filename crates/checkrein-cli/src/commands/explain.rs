//! `checkrein explain`: lists the hooks that would run for an event, and the reason why the others would not.
//!
//! Runs no hook.

use std::io::{self, Write};

use anyhow::Result;
use checkrein::engine::ExplainedHook;
use checkrein::event::Target;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::{self, ConfigArguments};
use super::event::EventArguments;
use super::selection::RuleState;
use super::{display_source, layout, printable, selection, shorten_paths};
use crate::exit::{self, Exit};

/// Show which hooks would run for an event, and why
///
/// Shows the reason for each hook that would not run: matcher, disabled, duplicate, not approved, broken. Runs no hook. A
/// condition on the tool input is decided only if --input, --command or --payload sets the input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein explain PreToolUse --tool Bash --command 'git push'
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
    config::print_diagnostics_for(&loaded, &event.kind());
    config::hint(dialect, &arguments.config.config, &loaded, &dir);
    let has_sample_input = arguments.event.about.has_sample_input() && event.original(Target::Input).is_some();
    let unclear = |planned: &ExplainedHook| match has_sample_input {
        true => selection::depends_on_input(planned, &event),
        false => None,
    };
    let plan = config::engine_for_event(dialect, &loaded, &dir, &event).explain(&event);
    let about = |planned: &&ExplainedHook| arguments.all || planned.hook.kinds.contains(&event.kind());
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> =
            plan.iter().filter(about).map(|planned| as_json(planned, unclear(planned).as_deref())).collect();
        let subject = event.subject().map(String::from);
        writeln!(out, "{:#}", json!({ "event": event.kind().name(), "subject": subject, "hooks": hooks }))?;
        return Ok(exit::SUCCESS);
    }
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    write!(out, "{}", name.bold())?;
    if let Some(subject) = event.subject() {
        write!(out, " {}", printable(&subject))?;
    }
    if let Some(input) = event.original(Target::Input).filter(|_| !has_sample_input) {
        write!(out, " {}", layout::one_line(input.as_str(), 120).dimmed())?;
    }
    writeln!(out)?;
    let mut hooks = plan.iter().filter(about).peekable();
    if hooks.peek().is_none() {
        writeln!(out, "  no hooks for this event")?;
    }
    // Packs have many rules, and few of them apply.
    let is_false = |planned: &ExplainedHook| {
        !has_sample_input
            && selection::rule_state(planned) == Some(RuleState::DoesNotApply)
            && selection::is_of_pack(&planned.hook)
    };
    let mut omitted = 0;
    for planned in hooks {
        if is_false(planned) && !super::is_verbose() {
            omitted += 1;
            continue;
        }
        show(&mut out, planned, unclear(planned))?;
    }
    if omitted > 0 {
        writeln!(out, "  {} of packs with a false condition (-v lists them)", super::pluralize(omitted, "rule"))?;
    }
    Ok(exit::SUCCESS)
}

/// Prints a hook, its place, and the reasons why it would run or not. The state of a hook does not replace the reasons.
fn show(out: &mut impl Write, planned: &ExplainedHook, unclear: Option<String>) -> io::Result<()> {
    let hook = &planned.hook;
    let (id, source) = (printable(&hook.info.id), display_source(&hook.info.source));
    let is_unclear = unclear.is_some();
    let (word, reason) = match (&planned.why_not, unclear) {
        (_, Some(unclear)) => ("may run".yellow().to_string(), unclear),
        (Some(why), None) => ("skip   ".dimmed().to_string(), selection::why_not(planned, why)),
        (None, None) if selection::rule_state(planned) == Some(RuleState::DoesNotApply) => {
            ("skip   ".dimmed().to_string(), selection::why(planned))
        }
        (None, None) if planned.fails.is_some() => ("not run".red().to_string(), selection::why(planned)),
        (None, None) => ("run    ".green().to_string(), selection::why(planned)),
    };
    let mut details = Vec::new();
    if !selection::is_whole_file(hook) {
        details.push(reason);
    }
    let is_selected = planned.why_not.is_none() || is_unclear;
    details.extend(planned.fails.clone().filter(|_| is_selected));
    if is_selected && hook.background {
        details.push("starts in the background (cannot block)".to_owned());
    }
    if is_selected && hook.sandbox().is_some() {
        details.push("in a sandbox".to_owned());
    }
    if is_selected && hook.info.dry_run {
        details.push("dry run: cannot block".to_owned());
    }
    let length = 12 + id.chars().count() + source.chars().count();
    let line = format!("  {word}  {} {}", id.bold(), source.dimmed());
    layout::line_with_text(out, &line, length, &shorten_paths(&printable(&details.join("; "))))?;
    if !is_unclear {
        for part in selection::rule_parts(planned) {
            writeln!(out, "             {}", printable(&part).dimmed())?;
        }
    }
    Ok(())
}

fn as_json(planned: &ExplainedHook, unclear: Option<&str>) -> Value {
    let info = &planned.hook.info;
    json!({
        "id": info.id,
        "source": { "file": info.source.file, "line": info.source.line, "scope": info.source.scope },
        "handler": planned.hook.handler.kind().name(),
        "sandbox": planned.hook.sandbox().map(ToString::to_string),
        "matcher": planned.hook.matcher.pattern(),
        "runs": match unclear {
            Some(_) => None,
            None => Some(planned.why_not.is_none()),
        },
        "dry_run": info.dry_run,
        "why_not": match (unclear, &planned.why_not) {
            (Some(_), _) | (None, None) => None,
            (None, Some(why)) => Some(selection::why_not(planned, why)),
        },
        "depends": unclear,
        "fails": planned.fails,
        "undecided": planned.undecided,
        "rule": match unclear {
            Some(_) => Value::Null,
            None => selection::rule_json(Some(planned)),
        },
    })
}
