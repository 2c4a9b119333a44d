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
    counts: Mutex<HashMap<Agent, Count>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    refused: u32,
    /// Whether nothing has happened since: the next prompt is then the reason of the refusal.
    just_now: bool,
}

/// Whose stops are counted together: session, agent, kind.
type Agent = (Option<String>, Option<String>, EventKind);

impl Stops {
    pub(super) fn new(cap: u32) -> Self {
        Self { cap, counts: Mutex::default() }
    }

    /// Whether an event of this kind matters here: it is a prompt, and something was counted.
    pub(super) fn is_awaited(&self, kind: &EventKind) -> bool {
        *kind == EventKind::PromptSubmit && self.lock(|counts| !counts.is_empty())
    }

    /// A new prompt starts the counts of its session anew, unless it is the reason of a refusal that the host gives to
    /// the model.
    pub(super) fn prompt(&self, event: &Event) {
        if event.kind() != EventKind::PromptSubmit {
            return;
        }
        let session = &event.envelope.session_id;
        self.lock(|counts| {
            counts.retain(|agent, count| agent.0 != *session || std::mem::take(&mut count.just_now));
        });
    }

    /// Tells hooks of a stop whether it only comes because of a stop hook before it.
    pub(super) fn mark(&self, event: &mut Event) {
        if !is_stop(event) {
            return;
        }
        let count = self.lock(|counts| counts.get(&agent(event)).map_or(0, |count| count.refused));
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
            let agent = agent(event);
            if counts.len() >= REMEMBERED && !counts.contains_key(&agent) {
                counts.clear();
            }
            let count = counts.entry(agent.clone()).or_default();
            count.refused = count.refused.max(refused_before(event)) + 1;
            count.just_now = true;
            let stands = self.cap != 0 && count.refused > self.cap;
            if stands {
                counts.remove(&agent);
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

    fn lock<R>(&self, look: impl FnOnce(&mut HashMap<Agent, Count>) -> R) -> R {
        look(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How often the host itself says that the stop was refused: it may have known before this engine was there.
fn refused_before(event: &Event) -> u32 {
    let (active, count) = match &event.payload {
        Payload::Stop(stop) => (stop.stop_hook_active, stop.loop_count),
        Payload::SubagentStop(stop) => (stop.stop_hook_active, stop.loop_count),
        _ => (None, None),
    };
    let count = u32::try_from(count.unwrap_or_default()).unwrap_or(u32::MAX - 1);
    count.min(u32::MAX - 1).max(active.unwrap_or_default().into())
}

fn agent(event: &Event) -> Agent {
    (event.envelope.session_id.clone(), event.envelope.agent_id.clone(), event.kind())
}
