//! Changes of approvals with their audit records. Everything that requests, answers, uses or ends an approval calls these.

use std::path::Path;

use checkrein::audit::{AuditEntry, AuditLog, EntryKind};
use checkrein::hook_files::Locations;
use checkrein::{EventKind, FailurePolicy, Sources};
use checkrein_dialects::agents::native;

use super::approval::{Answer, Approval, ApprovalState, Decision};
use super::call::Call;
use super::id::ApprovalId;
use super::store::{ApprovalError, ApprovalStore, Grant, NewApproval};

/// Answers an approval and writes the audit log of its project. The first answer wins.
///
/// # Errors
/// See [`ApprovalStore::answer`]. The audit log cannot be written, and its policy requires it. Nothing is answered then.
pub fn decide(
    store: &ApprovalStore,
    locations: &Locations,
    id: &ApprovalId,
    answer: Answer,
) -> Result<Approval, ApprovalError> {
    let kind = match answer.decision {
        Decision::Approve => EntryKind::Grant,
        Decision::Deny => EntryKind::ApprovalDeny,
    };
    let found = store.find(id)?;
    let log = log_of(&found, locations);
    store.answer_recorded(id, answer, &mut |approval| write(log.as_ref(), kind, approval))
}

/// Requests an approval for a call and records it.
///
/// # Errors
/// See [`ApprovalStore::request`], or the audit log must be complete and cannot be written.
pub fn request(store: &ApprovalStore, log: Option<&AuditLog>, new: NewApproval) -> Result<Approval, ApprovalError> {
    store.request_recorded(new, &mut |approval| write(log, EntryKind::ApprovalRequest, approval))
}

/// Uses the grant of a call and records it. See [`ApprovalStore::take`].
///
/// # Errors
/// See [`ApprovalStore::take`], or the audit log must be complete and cannot be written. The call does not pass then.
pub fn take(store: &ApprovalStore, log: Option<&AuditLog>, call: &Call) -> Result<Option<Grant>, ApprovalError> {
    store.take_recorded(call, &mut |approval| write(log, EntryKind::GrantUse, approval))
}

/// Cancels an approval that waits, and records it.
///
/// # Errors
/// See [`ApprovalStore::cancel`].
pub fn cancel(store: &ApprovalStore, locations: &Locations, id: &ApprovalId) -> Result<Approval, ApprovalError> {
    let log = log_of(&store.find(id)?, locations);
    store.cancel_recorded(id, &mut |approval| write(log.as_ref(), EntryKind::ApprovalEnd, approval))
}

/// Ends approvals that have expired, and records each in the audit log of its project.
///
/// # Errors
/// See [`ApprovalStore::expire`].
pub fn expire(store: &ApprovalStore, locations: &Locations) -> Result<Vec<Approval>, ApprovalError> {
    store.expire_recorded(&mut |approval| write(log_of(approval, locations).as_ref(), EntryKind::ApprovalEnd, approval))
}

/// Does the same as [`expire`], unless a process did it in the last minute. It reads all files, and a hook must not wait for that.
///
/// # Errors
/// See [`ApprovalStore::expire`].
pub fn expire_if_due(store: &ApprovalStore, locations: &Locations) -> Result<Vec<Approval>, ApprovalError> {
    if store.is_expiry_due() { expire(store, locations) } else { Ok(Vec::new()) }
}

/// The audit log of a project's agent, if the user's or the administrator's files configure one.
pub fn audit_log(agent: &str, project: &Path, locations: &Locations) -> Option<AuditLog> {
    let loaded = Sources::discover_in(&native::DIALECT, project, locations.clone()).load();
    Some(AuditLog::from_settings(loaded.audit.as_ref()?).on_behalf_of(agent, project))
}

fn log_of(approval: &Approval, locations: &Locations) -> Option<AuditLog> {
    audit_log(&approval.agent, Path::new(&approval.project), locations)
}

/// Appends an entry. A log that must be complete has the entry before the change has an effect.
fn write(log: Option<&AuditLog>, kind: EntryKind, approval: &Approval) -> Result<(), String> {
    let Some(log) = log else { return Ok(()) };
    let event = checkrein_dialects::find(&approval.agent).and_then(|dialect| dialect.kind_named(&approval.event).ok());
    let event = event.unwrap_or(EventKind::PreToolUse);
    match log.append(AuditEntry::confirmation(kind, &event, describe(approval))) {
        Err(error) if log.failure_policy() == FailurePolicy::Closed => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Id, outcome, call and questions, in one line.
fn describe(approval: &Approval) -> String {
    let mut text = format!("{}: {}", approval.id, approval.tool);
    for field in &approval.shown.fields {
        text.push_str(&format!(" {}={:?}", field.name, field.text));
    }
    for reason in &approval.reasons {
        text.push_str(&format!("; {} asks: {}", reason.hook, reason.text));
    }
    match (approval.winner(), approval.state) {
        (_, ApprovalState::Expired) => text.push_str("; expired"),
        (_, ApprovalState::Cancelled) => text.push_str("; cancelled"),
        (Some(answer), _) => {
            text.push_str(&format!("; by {} ({:?})", answer.by, answer.via).to_lowercase());
            if answer.edited_input.is_some() {
                text.push_str(", with another input");
            }
            if let Some(reason) = &answer.reason {
                text.push_str(&format!(": {reason}"));
            }
        }
        (None, _) => {}
    }
    text
}
