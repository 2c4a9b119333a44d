//! Lines of a recording, and the events that a replay fires.

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
    /// Time of the event, UTC.
    pub time: String,
    /// Agent that sent the event, by the name of its dialect.
    pub agent: String,
    /// Directory from which hook files were discovered.
    pub project: String,
    /// Event in its canonical form.
    pub event: RawJson,
    /// Record of the event.
    pub record: Record,
    /// `true` if secrets were redacted before the line was written.
    pub redaction: bool,
    /// Version of checkrein that wrote the line.
    pub checkrein: String,
}

impl RecordedEvent {
    /// Line for an event that an agent sent now. `record` is `None` if no hook ran.
    pub fn new(agent: &Dialect, project: &Path, event: &Event, record: Option<&Record>) -> Self {
        let nothing = || Record::new(event, native::DIALECT.name, &Verdict::default(), Vec::new());
        Self {
            time: now(),
            agent: agent.name.to_owned(),
            project: project.to_string_lossy().into_owned(),
            // An event always serializes. If not, the reader reports the null.
            event: RawJson::from_serialize(event).unwrap_or_default(),
            record: record.cloned().unwrap_or_else(nothing),
            redaction: false,
            checkrein: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Text of the line. `redact` replaces secrets.
    ///
    /// # Errors
    /// A JSON value is nested too deeply.
    pub fn line(mut self, redact: bool) -> Result<String, JsonError> {
        self.redaction = redact;
        let json = RawJson::from_serialize(&self)?;
        let clean = if redact { redacted_json(&json) } else { None };
        // Line breaks inside strings are escaped, so all others are white space.
        Ok(clean.as_ref().unwrap_or(&json).as_str().replace(['\n', '\r'], " "))
    }
}

/// Current time in the format of recordings.
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Recorded event that can be fired again, with its record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// First line of the entry, from 1.
    pub line: u64,
    /// Time of the event, if known.
    pub time: Option<String>,
    /// Agent that sent the event, if known.
    pub agent: Option<String>,
    /// Directory from which hook files were discovered, if known.
    pub project: Option<String>,
    /// Event.
    pub event: Event,
    /// `true` if parts of the event have sample values, because the file holds only its record.
    pub made_up: bool,
    /// `true` if secrets were redacted before the entry was written.
    pub redaction: bool,
    /// Record of the event.
    pub record: Record,
}

impl Entry {
    /// Returns `true` if a secret was redacted, so that hooks now see less than in the recording.
    pub fn lacks_secrets(&self) -> bool {
        self.redaction && self.event.to_json().contains("[redacted:")
    }

    /// Reads an entry. `line` is only a label.
    ///
    /// # Errors
    /// The text is no entry. The message says why.
    pub fn from_json(line: u64, json: &RawJson) -> Result<Self, String> {
        if json.entries().is_none() {
            return Err("the line must be a JSON object".to_owned());
        }
        if json.field("record").is_some() {
            return Self::from_recorded(line, json.read().map_err(|error| error.to_string())?);
        }
        if json.field("verdict").is_some() {
            return Self::from_record(line, json.read().map_err(|error| error.to_string())?);
        }
        Err("the line is neither from `checkrein record` nor from `checkrein run --json`".to_owned())
    }

    fn from_recorded(line: u64, recorded: RecordedEvent) -> Result<Self, String> {
        let event = Event::from_json(recorded.event.as_str()).map_err(|error| error.to_string())?;
        // The JSON form of an event does not contain the common tool names.
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

    /// Builds an event from a record, which has only some of its fields. The others have sample values.
    fn from_record(line: u64, record: Record) -> Result<Self, String> {
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
            if let Some(changed) = value.and_then(|value| event.rewritten(target, &value)) {
                event = changed;
            }
        }
        Ok(Self { line, time: None, agent: None, project: None, event, made_up: true, redaction: false, record })
    }
}
