//! What is kept of the events that pass through.

use std::path::Path;

use checkrein_core::Event;
use checkrein_dialects::Dialect;

use super::Fronted;
use crate::recording::{Recorded, Recording, Switch, now};

/// Knows where events are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Keeper {
    pub(super) switch: Option<Switch>,
}

/// Where one event is kept.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    recording: Option<Recording>,
    /// When the event came in.
    time: String,
    /// Why it cannot be kept.
    problem: Option<String>,
}

impl Keeper {
    /// Looks where the event that is here shall be kept.
    pub(super) fn begin(&self) -> Keeping {
        if let Some(switch) = &self.switch {
            return match switch.current() {
                Ok(None) => Keeping::default(),
                Ok(recording) => Keeping { recording, time: now(), problem: None },
                Err(error) => Keeping { problem: Some(not_recorded(&error)), ..Keeping::default() },
            };
        }
        Keeping::default()
    }
}

impl Keeping {
    /// Whether nothing is kept, and nobody should know.
    pub(super) fn is_nothing(&self) -> bool {
        if self.recording.is_some() {
            return false;
        }
        self.problem.is_none()
    }

    /// Keeps the event and what came of it.
    pub(super) fn keep(self, agent: &Dialect, dir: &Path, event: &Event, mut fronted: Fronted) -> Fronted {
        fronted.untold.extend(self.problem.clone());
        fronted.notes.extend(self.problem);
        if let Some(recording) = self.recording {
            let mut recorded = Recorded::new(agent, dir, event, fronted.record.as_ref());
            recorded.time = self.time;
            let problem = recording.keep(recorded).err().map(|error| not_recorded(&error));
            fronted.untold.extend(problem.clone());
            fronted.notes.extend(problem);
        }
        fronted
    }
}

fn not_recorded(error: &crate::recording::SwitchError) -> String {
    format!("this event is not recorded: {error}")
}
