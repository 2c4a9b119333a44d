//! One line of a recording, and what can be fired of it.

use std::path::Path;

use checkrein_core::{Event, JsonError, RawJson, Record, Target, Verdict};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{event_builder, samples};
use checkrein::internal::redacted_json;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// When the event came in, UTC.
    pub time: String,
    /// The agent that sent it, by the name of its dialect.
    pub agent: String,
    /// The directory that hooks were looked for from.
    pub project: String,
    /// The event in its canonical form.
    pub event: RawJson,
    /// What came of it.
    pub record: Record,
    /// Whether secrets were taken out before this was written.
    pub redaction: bool,
    /// The version of checkrein that wrote it.
    pub checkrein: String,
}

impl RecordedEvent {
    /// Of an event that an agent sent now. Without a record: no hook ran.
    pub fn new(agent: &Dialect, project: &Path, event: &Event, record: Option<&Record>) -> Self {
        let nothing = || Record::new(event, native::DIALECT.name, &Verdict::default(), Vec::new());
        Self {
            time: now(),
            agent: agent.name.to_owned(),
            project: project.to_string_lossy().into_owned(),
            // It was written as JSON just now; if it were none, null would say so when it is read.
            event: RawJson::from_serialize(event).unwrap_or_default(),
            record: record.cloned().unwrap_or_else(nothing),
            redaction: false,
            checkrein: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// As one line, without secrets if that is wanted.
    ///
    /// # Errors
    /// Something in it is nested too deeply to be carried.
    pub fn line(mut self, redact: bool) -> Result<String, JsonError> {
        self.redaction = redact;
        let json = RawJson::from_serialize(&self)?;
        let clean = if redact { redacted_json(&json) } else { None };
        // Line breaks within strings are spelt as escapes; all others are white space.
        Ok(clean.as_ref().unwrap_or(&json).as_str().replace(['\n', '\r'], " "))
    }
}

/// What time it is, as lines have it.
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// An event that can be fired again, with what came of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// The line that it starts in, from 1.
    pub line: u64,
    /// When it came in, if that is known.
    pub time: Option<String>,
    /// The agent that sent it, if that is known.
    pub agent: Option<String>,
    /// The directory that hooks were looked for from, if that is known.
    pub project: Option<String>,
    /// The event.
    pub event: Event,
    /// Whether parts of the event had to be made up, since only its record was kept.
    pub made_up: bool,
    /// Whether secrets were taken out before it was written.
    pub redaction: bool,
    /// What came of it.
    pub record: Record,
}

impl Entry {
    /// Whether there was a secret, so that hooks now see less than they saw then.
    pub fn lacks_secrets(&self) -> bool {
        self.redaction && self.event.to_json().contains("[redacted:")
    }

    pub(super) fn of_json(line: u64, json: &RawJson) -> Result<Self, String> {
        if json.entries().is_none() {
            return Err("it should be a JSON object".to_owned());
        }
        if json.field("record").is_some() {
            return Self::of_recorded(line, json.read().map_err(|error| error.to_string())?);
        }
        if json.field("verdict").is_some() {
            return Self::of_record(line, json.read().map_err(|error| error.to_string())?);
        }
        Err("it is neither a line of a recording nor a record as `run --json` prints it".to_owned())
    }

    fn of_recorded(line: u64, recorded: RecordedEvent) -> Result<Self, String> {
        let event = Event::from_json(recorded.event.as_str()).map_err(|error| error.to_string())?;
        // Names that all agents share are not part of an event's JSON form.
        let event = match checkrein_dialects::find(&recorded.agent) {
            Some(agent) => agent.with_common_names(event),
            None => event,
        };
        Ok(Self {
            line,
            time: Some(recorded.time),
            agent: Some(recorded.agent),
            project: Some(recorded.project),
            event,
            made_up: false,
            redaction: recorded.redaction,
            record: recorded.record,
        })
    }

    /// A record has what hooks decided about, not all of the event: the rest is made up.
    fn of_record(line: u64, record: Record) -> Result<Self, String> {
        let kind = record.event.parse().map_err(|error: checkrein_core::UnknownKind| error.to_string())?;
        let mut event = samples::event_of(&native::DIALECT, &kind, record.subject.as_deref());
        event.envelope.session_id.clone_from(&record.session_id);
        event.envelope.cwd = None;
        if let (Some(subject), Some(path)) = (&record.subject, &kind.contract().matched_on)
            && event.subject().as_deref() != Some(subject)
        {
            let json = RawJson::from_serialize(&event).map_err(|error| error.to_string())?;
            let json = event_builder::set(&json, path, &RawJson::string(subject)).map_err(|error| error.to_string())?;
            event = Event::from_json(json.as_str()).map_err(|error| error.to_string())?;
        }
        let verdict = &record.verdict;
        let known = [
            (Target::Input, verdict.original_input.clone()),
            (Target::Prompt, verdict.original_prompt.as_deref().map(RawJson::string)),
            (Target::Output, verdict.original_output.clone()),
        ];
        for (target, value) in known {
            if let Some(said) = value.and_then(|value| event.rewritten(target, &value)) {
                event = said;
            }
        }
        Ok(Self { line, time: None, agent: None, project: None, event, made_up: true, redaction: false, record })
    }
}
