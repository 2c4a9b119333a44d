//! Recording of events that the agent adapter answers, while recording is on.
//!
//! A failed recording becomes a note. It must never change the answer to the agent.

use std::path::Path;

use checkrein_core::Event;
use checkrein_dialects::Dialect;

use super::AgentResponse;
use crate::recording::{RecordedEvent, Recording, RecordingControl, now};

/// The recording control of an adapter, if it has one.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordingSwitch {
    pub(super) control: Option<RecordingControl>,
}

/// One event that is about to be recorded.
#[derive(Debug, Default)]
pub(super) struct PendingRecord {
    recording: Option<Recording>,
    /// Time of the event's arrival.
    time: String,
    /// Error that prevents the recording.
    problem: Option<String>,
}

impl RecordingSwitch {
    /// Opens the current recording for the event that just arrived.
    pub(super) fn begin(&self) -> PendingRecord {
        if let Some(control) = &self.control {
            return match control.current() {
                Ok(None) => PendingRecord::default(),
                Ok(recording) => PendingRecord { recording, time: now(), problem: None },
                Err(error) => PendingRecord { problem: Some(not_recorded(&error)), ..PendingRecord::default() },
            };
        }
        PendingRecord::default()
    }
}

impl PendingRecord {
    /// `true` if there is nothing to record and no problem to report.
    pub(super) fn is_empty(&self) -> bool {
        if self.recording.is_some() {
            return false;
        }
        self.problem.is_none()
    }

    /// Records the event and its outcome. Adds a note to the response if that fails.
    pub(super) fn finish(
        self,
        agent: &Dialect,
        dir: &Path,
        event: &Event,
        mut response: AgentResponse,
    ) -> AgentResponse {
        response.undelivered_notes.extend(self.problem.clone());
        response.notes.extend(self.problem);
        if let Some(recording) = self.recording {
            let mut recorded = RecordedEvent::new(agent, dir, event, response.record.as_ref());
            recorded.time = self.time;
            let problem = recording.keep(recorded).err().map(|error| not_recorded(&error));
            response.undelivered_notes.extend(problem.clone());
            response.notes.extend(problem);
        }
        response
    }
}

fn not_recorded(error: &crate::recording::SwitchError) -> String {
    format!("event not recorded: {error}")
}
