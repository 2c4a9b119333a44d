//! What is kept of the events that pass through.

use std::path::Path;

use checkrein_core::Event;
use checkrein_dialects::Dialect;

use super::AgentResponse;
use crate::recording::{RecordedEvent, Recording, RecordingControl, now};

/// Knows where events are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordingSwitch {
    pub(super) switch: Option<RecordingControl>,
}

/// Where one event is kept.
#[derive(Debug, Default)]
pub(super) struct PendingRecord {
    recording: Option<Recording>,
    /// When the event came in.
    time: String,
    /// Why it cannot be kept.
    problem: Option<String>,
}

impl RecordingSwitch {
    /// Looks where the event that is here shall be kept.
    pub(super) fn begin(&self) -> PendingRecord {
        if let Some(switch) = &self.switch {
            return match switch.current() {
                Ok(None) => PendingRecord::default(),
                Ok(recording) => PendingRecord { recording, time: now(), problem: None },
                Err(error) => PendingRecord { problem: Some(not_recorded(&error)), ..PendingRecord::default() },
            };
        }
        PendingRecord::default()
    }
}

impl PendingRecord {
    /// Whether nothing is kept, and nobody should know.
    pub(super) fn is_nothing(&self) -> bool {
        if self.recording.is_some() {
            return false;
        }
        self.problem.is_none()
    }

    /// Keeps the event and what came of it.
    pub(super) fn keep(self, agent: &Dialect, dir: &Path, event: &Event, mut fronted: AgentResponse) -> AgentResponse {
        fronted.undelivered_notes.extend(self.problem.clone());
        fronted.notes.extend(self.problem);
        if let Some(recording) = self.recording {
            let mut recorded = RecordedEvent::new(agent, dir, event, fronted.record.as_ref());
            recorded.time = self.time;
            let problem = recording.keep(recorded).err().map(|error| not_recorded(&error));
            fronted.undelivered_notes.extend(problem.clone());
            fronted.notes.extend(problem);
        }
        fronted
    }
}

fn not_recorded(error: &crate::recording::SwitchError) -> String {
    format!("this event is not recorded: {error}")
}
