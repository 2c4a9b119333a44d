//! Stops that hooks have answered with "go on".
//!
//! A hook that never lets an agent stop burns a whole quota. So it is counted how often in a row the stop of one agent
//! was refused; when the cap is reached the stop stands, and the verdict says so.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use checkrein_core::{Event, EventKind, Payload, Verdict};

use super::drive::is_stop;

/// Agents beyond this many are forgotten, all at once: their counts start anew.
const REMEMBERED: usize = 4096;

pub(super) struct Stops {
    cap: u32,
    counts: Mutex<HashMap<Agent, u32>>,
}

/// Whose stops are counted together: session, agent, kind.
type Agent = (Option<String>, Option<String>, EventKind);

impl Stops {
    pub(super) fn new(cap: u32) -> Self {
        Self { cap, counts: Mutex::default() }
    }

    /// Tells hooks of a stop whether it only comes because of a stop hook before it. A new prompt starts the count anew.
    pub(super) fn mark(&self, event: &mut Event) {
        if event.kind() == EventKind::PromptSubmit {
            let session = event.envelope.session_id.clone();
            self.lock(|counts| counts.retain(|agent, _| agent.0 != session));
        }
        if !is_stop(event) {
            return;
        }
        let count = self.lock(|counts| counts.get(&agent(event)).copied().unwrap_or(0));
        match &mut event.payload {
            Payload::Stop(stop) => {
                stop.stop_hook_active.get_or_insert(count > 0);
                stop.loop_count.get_or_insert(count.into());
            }
            Payload::SubagentStop(stop) => {
                stop.stop_hook_active.get_or_insert(count > 0);
                stop.loop_count.get_or_insert(count.into());
            }
            _ => {}
        }
    }

    /// Counts a refused stop, and lets it stand if it was refused too often.
    pub(super) fn count(&self, event: &Event, verdict: Verdict) -> Verdict {
        if !is_stop(event) {
            return verdict;
        }
        let refused = verdict.decision() == checkrein_core::Decision::Deny;
        let stands = self.lock(|counts| {
            if !refused {
                counts.remove(&agent(event));
                return false;
            }
            if counts.len() >= REMEMBERED {
                counts.clear();
            }
            let count = counts.entry(agent(event)).or_default();
            *count += 1;
            let stands = self.cap != 0 && *count > self.cap;
            if stands {
                counts.remove(&agent(event));
            }
            stands
        });
        if stands {
            let text = format!("the stop was refused {} times in a row; now it stands", self.cap);
            verdict.overruled(text)
        } else {
            verdict
        }
    }

    fn lock<R>(&self, look: impl FnOnce(&mut HashMap<Agent, u32>) -> R) -> R {
        look(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn agent(event: &Event) -> Agent {
    (event.envelope.session_id.clone(), event.envelope.agent_id.clone(), event.kind())
}
