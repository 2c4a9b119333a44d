//! Approvals: questions of hooks that wait for the user's answer, under agents that cannot ask.
//!
//! The agent adapter [requests](ApprovalStore::request) an approval for a call that hooks ask about. The user answers it with
//! `checkrein approve ID` or `checkrein deny ID`, on the live page, or by a webhook. Everything that answers calls [`decide`], which
//! also writes the audit log. The adapter then [takes](take) the grant, once. An approval is bound to the call ([`Call`]), to the
//! hooks that ask and to the policy. It must never pass anything but questions of hooks: no deny and no failure.
//!
//! Each approval is a small file in the user's state directory, so it needs no resident process and survives restarts. A lock
//! makes every change of a state a compare-and-set, so that of two answers the first one wins.

mod approval;
mod call;
mod desk;
mod id;
mod parsed;
mod shown;
mod store;

pub use self::approval::{
    Answer, AnswerRecord, Approval, ApprovalReason, ApprovalState, Decision, EditedOutcome, OnExpiry, Scope, Via,
};
pub use self::call::{Ask, Call};
pub use self::desk::{audit_log, cancel, decide, expire, expire_if_due, request, take};
pub use self::id::{ApprovalId, InvalidId};
pub use self::parsed::ParsedCommand;
pub use self::shown::{Shown, ShownField};
pub use self::store::{
    ApprovalError, ApprovalStore, Grant, KnownFiles, LIFETIME, MAX_PENDING, NewApproval, SESSION_LIFETIME,
};

#[cfg(test)]
mod tests;
