//! Limit of refused stops.
//!
//! A hook that never lets an agent stop would use up the user's quota. The engine counts consecutive refusals of an agent's
//! stop in the [`SessionStore`]. After the cap, the agent stops, and the verdict has a warning.

use std::sync::Arc;

use checkrein_core::{Action, BlockEffect, Event, EventKind, Payload, Verdict};

use super::dispatch::is_stop;
use crate::session_store::{SessionStore, StopCount, session_of};

/// Counts refused stops.
#[derive(Debug, Clone)]
pub struct StopLimit {
    cap: u32,
    store: Arc<dyn SessionStore>,
}

impl StopLimit {
    /// Accepts a stop after `cap` refusals. 0: no limit.
    pub fn new(cap: u32, store: Arc<dyn SessionStore>) -> Self {
        Self { cap, store }
    }

    /// `true` if an event of this kind changes counts even without hooks: a prompt, if a stop was refused before.
    pub(super) fn needs(&self, kind: &EventKind) -> bool {
        *kind == EventKind::PromptSubmit && self.store.counts_stops()
    }

    /// Resets counts at a new prompt, unless the prompt is the reason of a refusal. Sets the fields of a stop event that
    /// report earlier refusals.
    pub fn before(&self, event: &mut Event) {
        if event.kind() == EventKind::PromptSubmit {
            for kind in EventKind::ALL.iter().filter(|kind| kind.contract().block == BlockEffect::Continue) {
                let (session, agent) = (session_of(event), agent(event, kind));
                let count = self.store.stops(session, &agent);
                let kept = if count.awaits_prompt { count.refused } else { 0 };
                if count.refused > 0 {
                    self.store.set_stops(session, &agent, StopCount { refused: kept, awaits_prompt: false });
                }
            }
        }
        if !is_stop(event) {
            return;
        }
        let count = self.refused(event);
        if let Some((active, loops)) = flags(event) {
            active.get_or_insert(count > 0);
            loops.get_or_insert(count.into());
        }
    }

    /// `true` if this event is a stop that hooks cannot refuse, because the cap is reached.
    pub(super) fn is_reached(&self, event: &Event) -> bool {
        self.cap != 0 && is_stop(event) && self.refused(event).max(refused_before(event)) >= self.cap
    }

    /// Counts a refused stop. Drops the refusal if the cap is exceeded.
    pub fn after(&self, event: &Event, verdict: Verdict) -> Verdict {
        if !is_stop(event) {
            return verdict;
        }
        let (session, agent) = (session_of(event), agent(event, &event.kind()));
        let refused = match verdict.action() {
            Action::Continue { .. } => self.refused(event).max(refused_before(event)) + 1,
            _ => 0,
        };
        let is_over = self.cap != 0 && refused > self.cap;
        let counted = if is_over { 0 } else { refused };
        if counted > 0 || self.store.counts_stops() {
            self.store.set_stops(session, &agent, StopCount { refused: counted, awaits_prompt: true });
        }
        if is_over {
            verdict.with_decision_dropped(format!("refused the stop {} times in a row; the agent stops now", self.cap))
        } else {
            verdict
        }
    }

    /// Resets the count if the agent reports the first stop of a turn. For agents whose prompts the caller does not see.
    ///
    /// The engine itself does not use it: a host that reports this at every stop would disable the cap.
    pub fn trust_new_turn(&self, event: &Event) {
        let active = match &event.payload {
            Payload::Stop(stop) => stop.stop_hook_active,
            Payload::SubagentStop(stop) => stop.stop_hook_active,
            _ => None,
        };
        if active == Some(false) {
            self.store.set_stops(session_of(event), &agent(event, &event.kind()), StopCount::default());
        }
    }

    /// Number of refusals so far.
    fn refused(&self, event: &Event) -> u32 {
        self.store.stops(session_of(event), &agent(event, &event.kind())).refused
    }
}

fn flags(event: &mut Event) -> Option<(&mut Option<bool>, &mut Option<u64>)> {
    match &mut event.payload {
        Payload::Stop(stop) => Some((&mut stop.stop_hook_active, &mut stop.loop_count)),
        Payload::SubagentStop(stop) => Some((&mut stop.stop_hook_active, &mut stop.loop_count)),
        _ => None,
    }
}

/// Number of refusals that the host reports. The host may have counted before this engine existed.
fn refused_before(event: &Event) -> u32 {
    let (active, count) = match &event.payload {
        Payload::Stop(stop) => (stop.stop_hook_active, stop.loop_count),
        Payload::SubagentStop(stop) => (stop.stop_hook_active, stop.loop_count),
        _ => (None, None),
    };
    let count = u32::try_from(count.unwrap_or_default()).unwrap_or(u32::MAX - 1);
    count.min(u32::MAX - 1).max(active.unwrap_or_default().into())
}

/// Key of an agent whose stops are counted together. Without a session the agent's id is ignored: agents that do not name
/// sessions do not name sub-agents in all events either.
fn agent(event: &Event, kind: &EventKind) -> String {
    let id = session_of(event).and(event.envelope.agent_id.as_deref());
    format!("{} {}", kind.name(), id.unwrap_or_default())
}
