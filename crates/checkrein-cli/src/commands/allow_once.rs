//! `checkrein allow-once`: the user confirms a call that hooks ask about, under an agent that cannot ask.
//!
//! Only a person at a terminal may confirm. Everything that is shown comes from a model, so it must pass [`printable`].

use std::io::{IsTerminal, Write};

use anyhow::{Result, anyhow};
use checkrein::audit::{AuditEntry, AuditLog, EntryKind};
use checkrein::dialects::agents::native;
use checkrein::hook_files::Locations;
use checkrein::{EventKind, FailurePolicy, RawJson, Sources};
use checkrein_tools::allow_once::{Call, Code, WaitingCall, WaitingCalls};
use owo_colors::OwoColorize;

use super::ask::confirm;
use super::{pluralize, print_failure, print_note, printable};
use crate::exit::{self, Exit, UsageErrorExt};

/// Allow one call that hooks ask about, if the agent cannot ask
///
/// Hooks can ask before a call, but some agents cannot pass the question on. They get a denial with a code. This command
/// shows the call and asks you. If you agree, the agent may repeat exactly this call once, within 15 minutes of the
/// denial. It needs a terminal. Agents may not run it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the call is allowed once
  1   the call is not allowed
  64  usage error

Example:
  checkrein allow-once 7KQ2M-9XDTR")]
pub struct Arguments {
    /// Code of the denial
    code: String,
    /// Do not ask for confirmation; needs a terminal too
    #[arg(long, short)]
    yes: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let code: Code = arguments.code.parse().usage_error()?;
    let state = checkrein::internal::state::directory()
        .ok_or_else(|| anyhow!("nothing was allowed: you have no home directory, so no call can wait"))?;
    let waiting_calls = WaitingCalls::in_state_directory(&state);
    let waiting = match waiting_calls.find(&code) {
        Ok(waiting) => waiting,
        Err(error) => {
            print_failure(&format!("nothing was allowed: {error}"));
            return Ok(exit::FAILURE);
        }
    };
    let log = audit_log(&waiting.call);
    let kind = event_kind(&waiting.call);
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let why = "`checkrein allow-once` needs a terminal, because only the user may confirm a call";
        let entry = AuditEntry::refusal(Some(&kind), format!("{why} ({code}: {})", waiting.call));
        append(log.as_ref(), entry)?;
        print_failure(&format!("nothing was allowed: {why}; run it in a terminal, not from an agent or a script"));
        return Ok(exit::FAILURE);
    }
    let mut out = anstream::stdout().lock();
    show(&mut out, &waiting)?;
    out.flush()?;
    if !arguments.yes && !confirm("allow this call once")? {
        print_note("nothing was allowed");
        return Ok(exit::FAILURE);
    }
    // A log that must be complete has the confirmation before it has an effect.
    append(log.as_ref(), AuditEntry::confirmation(EntryKind::Grant, &kind, format!("{code}: {}", waiting.call)))?;
    waiting_calls.grant(&code, &waiting).map_err(|error| anyhow!("nothing was allowed: {error}"))?;
    print_note("allowed once; tell the agent to repeat the call");
    Ok(exit::SUCCESS)
}

/// Prints everything that the confirmation allows.
fn show(out: &mut impl Write, waiting: &WaitingCall) -> Result<()> {
    let WaitingCall { call, left, .. } = waiting;
    let agent = match checkrein::dialects::find(&call.agent) {
        Some(dialect) => dialect.title(),
        None => call.agent.as_str(),
    };
    let mut row = |label: &str, text: &str| {
        let text = printable(text).replace('\n', "\n           ");
        writeln!(out, "  {} {text}", format!("{label:8}").bold())
    };
    row("agent", agent)?;
    row("project", &call.project.to_string_lossy())?;
    if let Some(cwd) = call.cwd.as_deref().filter(|cwd| std::path::Path::new(cwd) != call.project) {
        row("in", cwd)?;
    }
    row("tool", &call.tool)?;
    for (label, text) in fields(&call.input) {
        row(&label, &text)?;
    }
    if let Some(rewritten) = &call.rewritten {
        row("changed", "a hook changes the input to:")?;
        for (label, text) in fields(rewritten) {
            row(&label, &text)?;
        }
    }
    for ask in &call.asks {
        let reason = if ask.reason.is_empty() { "no reason given" } else { &ask.reason };
        row("asked by", &format!("{} ({}): {reason}", ask.hook, super::shorten_paths(&ask.source)))?;
    }
    let minutes = usize::try_from(left.as_secs().div_ceil(60)).unwrap_or_default();
    row("expires", &format!("in {}", pluralize(minutes, "minute")))?;
    Ok(())
}

/// The fields of a tool input, with text as it is.
fn fields(input: &RawJson) -> Vec<(String, String)> {
    let text = |value: &RawJson| value.as_text().map_or_else(|| value.to_string(), std::borrow::Cow::into_owned);
    match input.entries() {
        Some(entries) => entries.map(|entry| (entry.key().into_owned(), text(&entry.to_json()))).collect(),
        None => vec![("input".to_owned(), text(input))],
    }
}

/// The audit log of the project's agent, if the user's or the administrator's files configure one.
fn audit_log(call: &Call) -> Option<AuditLog> {
    let loaded = Sources::discover_in(&native::DIALECT, &call.project, Locations::default()).load();
    Some(AuditLog::from_settings(loaded.audit.as_ref()?).on_behalf_of(&call.agent, &call.project))
}

/// Appends an entry.
///
/// # Errors
/// The log cannot be written, and its policy is to block then.
fn append(log: Option<&AuditLog>, entry: AuditEntry) -> Result<()> {
    let Some(log) = log else { return Ok(()) };
    match log.append(entry) {
        Err(error) if log.failure_policy() == FailurePolicy::Closed => {
            Err(anyhow!("nothing was allowed: cannot write to the audit log: {error}"))
        }
        Err(error) => {
            print_note(&format!("cannot write to the audit log: {error}"));
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

fn event_kind(call: &Call) -> EventKind {
    let kind = checkrein::dialects::find(&call.agent).and_then(|dialect| dialect.kind_named(&call.event).ok());
    kind.unwrap_or(EventKind::PreToolUse)
}
