//! `checkrein approve` and `checkrein deny`. Only a person at a terminal may answer.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use checkrein::audit::AuditEntry;
use checkrein::hook_files::Locations;
use checkrein::{EventKind, FailurePolicy};
use checkrein_tools::approvals::{
    self, Answer, Approval, ApprovalError, ApprovalId, ApprovalState, ApprovalStore, Call, Scope, Via,
};

use super::super::ask::confirm;
use super::super::{print_failure, print_note};
use super::{edit, show, store};
use crate::exit::{self, Exit, UsageErrorExt};

/// Longest wait for the result of an edited call.
const OUTCOME_PATIENCE: Duration = Duration::from_secs(2);

/// Approve a call that waits
///
/// Shows the call and asks you. If you agree, an agent that still waits continues. Otherwise the agent may repeat exactly this call
/// once, within 15 minutes of the request. It needs a terminal. Agents may not run it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the call is approved
  1   the call is not approved
  64  usage error

Example:
  checkrein approve 7KQ2M-9XDTR
  checkrein approve 7KQ2M-9XDTR --edit
  checkrein approve 7KQ2M-9XDTR --for-session")]
pub struct ApproveArguments {
    /// Id of the approval
    id: String,
    /// Change the input in $VISUAL or $EDITOR; hooks judge it again
    #[arg(long, short)]
    edit: bool,
    /// Approve each identical call of this session, for 12 hours
    #[arg(long)]
    for_session: bool,
    /// Do not ask for confirmation; needs a terminal too
    #[arg(long, short)]
    yes: bool,
}

/// Deny a call that waits
///
/// An agent that still waits gets the denial at once. Identical calls are denied until the approval expires. It needs a terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the call is denied
  1   the call is not denied by this command
  64  usage error

Example:
  checkrein deny 7KQ2M-9XDTR --reason 'use the staging branch'")]
pub struct DenyArguments {
    /// Id of the approval
    id: String,
    /// Reason, which the model reads
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,
}

/// Runs `checkrein approve`.
pub fn approve(arguments: &ApproveArguments) -> Result<Exit> {
    let id: ApprovalId = arguments.id.parse().usage_error()?;
    let Some(waiting) = waiting(&id, "approve")? else { return Ok(exit::FAILURE) };
    let Waiting { store, locations, approval, call } = &waiting;
    let mut out = anstream::stdout().lock();
    show::whole(&mut out, approval, call)?;
    out.flush()?;
    let mut answer = Answer::approve(Via::Terminal, user());
    if arguments.edit {
        answer.edited_input = edit::edited(&call.input)?;
        match &answer.edited_input {
            Some(input) => {
                writeln!(out, "  the changes of the input, which the hooks judge again:")?;
                show::changes(&mut out, &call.input, input)?;
                out.flush()?;
            }
            None => print_note("the input is unchanged"),
        }
    }
    let question = if arguments.for_session {
        answer.scope = Scope::Session;
        "allow this call, and identical calls of this session,"
    } else {
        "allow this call once"
    };
    if !arguments.yes && !confirm(question.trim_end_matches(','))? {
        print_note("nothing was approved");
        return Ok(exit::FAILURE);
    }
    let is_edited = answer.edited_input.is_some();
    match approvals::decide(store, locations, &id, answer) {
        Ok(_) if is_edited => {
            print_note(&after_edit(store, &id, approval.waits().is_some()));
            Ok(exit::SUCCESS)
        }
        Ok(_) => {
            print_note("approved; if the agent no longer waits, tell it to repeat the call");
            Ok(exit::SUCCESS)
        }
        Err(error) => Ok(failed("approved", &error)),
    }
}

/// Returns the note about an edited call. If the agent waits, its hooks judge the call at once.
fn after_edit(store: &ApprovalStore, id: &ApprovalId, is_awaited: bool) -> String {
    let start = Instant::now();
    loop {
        let found = store.find(id).ok();
        if let Some(outcome) = found.as_ref().and_then(|approval| approval.edited_outcome.as_ref()) {
            return format!("edited; {}", outcome.text);
        }
        let is_used = found.is_some_and(|approval| approval.state == ApprovalState::Consumed);
        if !(is_awaited || is_used) || start.elapsed() >= OUTCOME_PATIENCE {
            let when = if is_used { "now" } else { "when the agent repeats it" };
            return format!("edited; the hooks judge the edited call {when}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs `checkrein deny`.
pub fn deny(arguments: &DenyArguments) -> Result<Exit> {
    let id: ApprovalId = arguments.id.parse().usage_error()?;
    let Some(waiting) = waiting(&id, "deny")? else { return Ok(exit::FAILURE) };
    let Waiting { store, locations, approval, .. } = &waiting;
    show::row(&mut anstream::stdout().lock(), approval)?;
    match approvals::decide(store, locations, &id, Answer::deny(Via::Terminal, user(), arguments.reason.clone())) {
        Ok(_) => {
            print_note("denied");
            Ok(exit::SUCCESS)
        }
        Err(error) => Ok(failed("denied", &error)),
    }
}

/// An approval that can be answered.
struct Waiting {
    store: ApprovalStore,
    locations: Locations,
    approval: Approval,
    call: Call,
}

/// Returns the approval, if it waits and the user is at a terminal. `None`: the failure was printed.
fn waiting(id: &ApprovalId, verb: &str) -> Result<Option<Waiting>> {
    let done = if verb == "approve" { "approved" } else { "denied" };
    let (store, locations) = store().map_err(|error| anyhow!("nothing was {done}: {error}"))?;
    approvals::expire(&store, &locations).map_err(|error| anyhow!("nothing was {done}: {error}"))?;
    let found = store.find(id).and_then(|approval| match approval.state {
        ApprovalState::Pending => Ok((store.call(id)?, approval)),
        ApprovalState::Expired => Err(ApprovalError::Expired(Box::new(approval))),
        _ => Err(ApprovalError::Answered(Box::new(approval))),
    });
    let (call, approval) = match found {
        Ok(found) => found,
        Err(error) => {
            failed(done, &error);
            return Ok(None);
        }
    };
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let why = format!("`checkrein {verb}` needs a terminal, because only the user may answer");
        record_refusal(&approval, &locations, &format!("{why} ({id}: {call})"))?;
        print_failure(&format!("nothing was {done}: {why}; run it in a terminal, not from an agent or a script"));
        return Ok(None);
    }
    Ok(Some(Waiting { store, locations, approval, call }))
}

/// Prints the reason why nothing changed.
fn failed(done: &str, error: &ApprovalError) -> Exit {
    print_failure(&format!("nothing was {done}: {error}"));
    exit::FAILURE
}

/// Records an attempt without a terminal.
///
/// # Errors
/// The log cannot be written, and its policy is to block then.
fn record_refusal(approval: &Approval, locations: &Locations, why: &str) -> Result<()> {
    let Some(log) = approvals::audit_log(&approval.agent, Path::new(&approval.project), locations) else {
        return Ok(());
    };
    let kind = checkrein::dialects::find(&approval.agent).and_then(|dialect| dialect.kind_named(&approval.event).ok());
    match log.append(AuditEntry::refusal(Some(&kind.unwrap_or(EventKind::PreToolUse)), why)) {
        Err(error) if log.failure_policy() == FailurePolicy::Closed => {
            Err(anyhow!("cannot write to the audit log: {error}"))
        }
        Err(error) => {
            print_note(&format!("cannot write to the audit log: {error}"));
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Name of the user.
pub fn user() -> String {
    checkrein_process::user_name().map_or_else(|| "user".to_owned(), |name| name.to_string_lossy().into_owned())
}
