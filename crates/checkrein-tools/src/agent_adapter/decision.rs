//! The line of the decision log about an event, written after its answer is known.

use std::path::PathBuf;
use std::time::Instant;

use checkrein_core::{Event, EventKind, Record};
use checkrein_dialects::Dialect;

use super::request::Request;
use super::{AgentAdapter, AgentResponse, Phase};
use crate::coverage::missed_in_turn;
use crate::decision_log::{Answered, AnsweredBy};
use crate::recording::RecordedEvent;

/// Maximum length of a directory in a line, in bytes.
const MAX_PATH: usize = 4096;

/// Parts of an event that its line needs.
#[derive(Debug, Default)]
pub(super) struct Logged {
    /// The event, if it was decoded.
    pub(super) event: Option<Event>,
    /// Directory in which the agent called checkrein, if it was determined.
    pub(super) dir: Option<PathBuf>,
    /// `true` if the user has turned the log off, or if the agent sends the same call under another name as well.
    pub(super) is_off: bool,
    /// `true` if a file of the user starts the resident process.
    pub(super) resident: bool,
}

/// An event that is in the decision log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoggedEvent {
    /// Its line.
    pub line: String,
    agent: &'static Dialect,
    project: PathBuf,
    event: Event,
}

impl LoggedEvent {
    /// Returns the event with its record as a [`RecordedEvent`]. Secrets are not redacted. `None`: it has no JSON form.
    pub fn recorded(&self, record: Option<&Record>) -> Option<String> {
        serde_json::to_string(&RecordedEvent::new(self.agent, &self.project, &self.event, record)).ok()
    }
}

impl AgentAdapter {
    /// Returns a note about tool calls that were not judged since the last turn. `None`: there are none, or this event ends no turn.
    pub(super) fn missed_calls(&self, payload: &checkrein_core::RawJson, kind: &EventKind) -> Option<String> {
        let log = self.decision_log.as_ref()?;
        if !matches!(kind, EventKind::Stop | EventKind::SessionEnd) || self.is_trial || self.phase == Phase::Background
        {
            return None;
        }
        let event = self.agent.event(payload, self.event.as_deref()).ok()?;
        let session = event.envelope.session_id.as_deref()?;
        let transcript = event.envelope.transcript_path.as_deref()?;
        missed_in_turn(self.agent.name, session, transcript.as_ref(), log)
    }

    /// Writes the line of an event. An event that cannot be decoded has none.
    pub(super) fn log_decision(
        &self,
        request: &Request<'_>,
        logged: Logged,
        response: &AgentResponse,
        start: Instant,
    ) -> Option<LoggedEvent> {
        let (Some(log), Ok(payload)) = (&self.decision_log, &request.json) else { return None };
        if logged.is_off || self.is_trial || self.phase == Phase::Background {
            return None;
        }
        let event = logged.event.or_else(|| self.agent.event(payload, self.event.as_deref()).ok())?;
        let project = logged.dir.or_else(|| self.dir.clone().or_else(|| std::env::current_dir().ok()));
        let answered = Answered {
            agent: self.agent.name,
            payload,
            event: &event,
            record: response.record.as_ref(),
            answer: &response.answer,
            by: response.first_run.clone().unwrap_or_else(|| AnsweredBy::new(response)),
            duration: start.elapsed(),
        };
        let project = project.unwrap_or_default();
        let shown = Some(project.to_string_lossy().into_owned()).filter(|dir| !dir.is_empty() && dir.len() <= MAX_PATH);
        let line = log.append_answer(&answered, shown)?;
        Some(LoggedEvent { line, agent: self.agent, project, event })
    }
}
