//! Halts the agent loop after a number of model calls in one session.
//!
//! The hook counts the calls. It allows N calls and halts every later one. If the event has a number of its own
//! (`iteration` of `turn_start`), the higher number applies. Each kind of event has its own count, so a hook for
//! `before_model` and `turn_start` does not count twice. Calls of sub-agents are part of their session's count.
//!
//! Reloading hooks does not reset the count. The events `session_start`, `session_resume` and `session_end` do, if the
//! hook has them. Of more than 1024 sessions, the oldest are forgotten.
//!
//! - **Arguments**: the number of calls.
//! - **Events**: `before_model` or `turn_start`.
//!
//! Example: `max_iterations 50`

use std::collections::BTreeMap;
use std::sync::Arc;

use checkrein_core::payload::Field;
use checkrein_core::{EventKind, Failure, Opinion};

use super::args::count;
use super::failure;
use super::session_cache::Sessions;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

/// Calls so far in one session, by hook and kind of event.
type Counts = BTreeMap<(String, String), u64>;

pub(super) fn builtin() -> Builtin {
    let sessions = Arc::new(Sessions::<Counts>::default());
    Builtin::immediate(move |call| run(&sessions, &call)).checked(|args| limit(args).map(drop)).described(
        BuiltinDoc::new("Halts the agent loop after a number of model calls in one session.")
            .args("the number of calls")
            .events("`before_model` or `turn_start`; `session_start`, `session_resume`, `session_end` reset the count"),
    )
}

fn limit(args: &[String]) -> Result<u64, String> {
    match args {
        [limit] => Ok(count(limit, "number of model calls")? as u64),
        _ => Err("takes one argument, the number of model calls".to_owned()),
    }
}

fn run(sessions: &Sessions<Counts>, call: &BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let limit = limit(call.args).map_err(failure)?;
    let session = call.event.envelope.session_id.as_deref().unwrap_or_default();
    let kind = call.event.kind();
    if matches!(kind, EventKind::SessionStart | EventKind::SessionResume | EventKind::SessionEnd) {
        sessions.with(session, |counts| counts.retain(|(hook, _), _| *hook != call.hook.id));
        return Ok(Opinion::none());
    }
    let reported = match call.event.field("iteration") {
        Some(Field::Count(iteration)) => iteration,
        _ => 0,
    };
    let calls = sessions.with(session, |counts| {
        let calls = counts.entry((call.hook.id.clone(), kind.name().to_owned())).or_default();
        *calls += 1;
        (*calls).max(reported)
    });
    if calls <= limit {
        return Ok(Opinion::none());
    }
    let reason = format!("the session reached its limit of {limit} model calls");
    Ok(Opinion::halt(&reason).with_stop_reason(reason))
}
