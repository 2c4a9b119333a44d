//! Builder for events: the caller sets some fields, the others have sample values.
//!
//! `checkrein run`, hook tests and simulations use it.

use std::path::Path;

use checkrein_core::{Event, JsonError, RawJson, Target};
use checkrein_dialects::payload::PayloadError;
use checkrein_dialects::{Dialect, UnknownEvent};

use crate::samples;

/// Builder for an event in the format of a dialect. Missing fields come from the [`samples`].
///
/// ```
/// use checkrein::dialects::agents::native;
/// use checkrein_tools::EventBuilder;
///
/// let builder = EventBuilder::new("PreToolUse").tool("Bash").input(r#"{"command":"ls"}"#.parse()?);
/// let event = builder.event(&native::DIALECT, std::path::Path::new("/project"))?;
/// assert_eq!(event.tool_input().map(|input| input.as_str()), Some(r#"{"command":"ls"}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventBuilder {
    name: String,
    tool: Option<String>,
    input: Option<RawJson>,
    payload: Option<RawJson>,
    set: Vec<(String, RawJson)>,
}

/// Error of [`EventBuilder::event`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EventBuilderError {
    /// The dialect does not have the event.
    #[error(transparent)]
    Unknown(#[from] UnknownEvent),
    /// A tool is set, but the event has none.
    #[error("`{0}` has no tool; remove the tool name")]
    NoTool(String),
    /// A tool input is set, but the event has none.
    #[error("`{0}` has no tool input; remove the input")]
    NoInput(String),
    /// The payload is not an object.
    #[error("the payload must be a JSON object")]
    NoObject,
    /// The fields are not valid for the event.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The combined fields are not valid JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl EventBuilder {
    /// Builder for the event with this name, in the dialect's spelling or checkrein's.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), tool: None, input: None, payload: None, set: Vec::new() }
    }

    /// Sets the tool name.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Sets the tool input.
    #[must_use]
    pub fn input(mut self, input: RawJson) -> Self {
        self.input = Some(input);
        self
    }

    /// Sets the payload, an object in the agent's format. Missing fields have sample values.
    #[must_use]
    pub fn payload(mut self, payload: RawJson) -> Self {
        self.payload = Some(payload);
        self
    }

    /// Sets a field of the payload. Dots in the path lead into objects.
    #[must_use]
    pub fn set(mut self, path: impl Into<String>, value: RawJson) -> Self {
        self.set.push((path.into(), value));
        self
    }

    /// Builds the event as an agent of this dialect in this directory would fire it.
    ///
    /// # Errors
    /// The event is unknown, or a field is not valid for it.
    pub fn event(&self, dialect: &'static Dialect, dir: &Path) -> Result<Event, EventBuilderError> {
        let kind = dialect.kind_named(&self.name)?;
        let mut sample = samples::event_of(dialect, &kind, self.tool.as_deref());
        if self.tool.is_some() && sample.tool_name().is_none() {
            return Err(EventBuilderError::NoTool(self.name.clone()));
        }
        sample = in_project(sample, dir);
        sample.envelope.cwd = Some(dir.to_string_lossy().into_owned());
        let event = if self.payload.is_none() && self.set.is_empty() { sample } else { self.merged(dialect, &sample)? };
        let event = dialect.with_common_names(event);
        match &self.input {
            None => Ok(event),
            Some(input) => {
                event.rewritten(Target::Input, input).ok_or_else(|| EventBuilderError::NoInput(self.name.clone()))
            }
        }
    }

    /// Merges the caller's fields into the payload of the sample, and decodes the result.
    fn merged(&self, dialect: &'static Dialect, sample: &Event) -> Result<Event, EventBuilderError> {
        let bytes: Vec<u8> = dialect.payload(sample, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let mut payload = RawJson::parse_bytes(&bytes)?;
        if let Some(given) = &self.payload {
            payload = overlay(&payload, given)?;
        }
        for (path, value) in &self.set {
            payload = set(&payload, path, value)?;
        }
        Ok(dialect.event(&payload, Some(&self.name))?)
    }
}

/// Moves the paths of a sample from the project of the samples into this directory.
fn in_project(sample: Event, dir: &Path) -> Event {
    let quoted = RawJson::string(&dir.to_string_lossy());
    let Some(dir) = quoted.as_str().strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return sample };
    let moved = |json: &RawJson| {
        if !json.as_str().contains(samples::PROJECT) {
            return None;
        }
        RawJson::parse(json.as_str().replace(samples::PROJECT, dir)).ok()
    };
    Target::ALL.into_iter().fold(sample, |event, target| {
        let value = event.original(target).as_ref().and_then(&moved);
        value.and_then(|value| event.rewritten(target, &value)).unwrap_or(event)
    })
}

/// Merges two objects. Fields of `upper` take precedence.
fn overlay(under: &RawJson, upper: &RawJson) -> Result<RawJson, EventBuilderError> {
    let upper_entries: Vec<_> = upper.entries().ok_or(EventBuilderError::NoObject)?.collect();
    let has = |key: &str| upper_entries.iter().any(|entry| entry.key() == key);
    let kept = under.entries().into_iter().flatten().filter(|entry| !has(&entry.key()));
    let all: Vec<_> = kept
        .chain(upper_entries.iter().cloned())
        .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
        .collect();
    Ok(RawJson::parse(format!("{{{}}}", all.join(",")))?)
}

pub(crate) fn set(payload: &RawJson, path: &str, value: &RawJson) -> Result<RawJson, EventBuilderError> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let value = match rest {
        None => value.clone(),
        Some(rest) => {
            let inner = payload.field(key).filter(|inner| inner.entries().is_some());
            set(&inner.map_or_else(|| RawJson::parse("{}"), Ok)?, rest, value)?
        }
    };
    overlay(payload, &RawJson::parse(format!("{{{}:{value}}}", RawJson::string(key)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_dialects::agents::native;

    #[test]
    fn given_fields_replace_sample_values() {
        let json = |text: &str| RawJson::parse(text).unwrap();
        let builder = EventBuilder::new("PreToolUse")
            .payload(json(r#"{"tool_name":"Write","session_id":"s"}"#))
            .set("tool_input.a.b", json("1"));
        let event = builder.event(&native::DIALECT, Path::new("/p")).unwrap();
        assert_eq!(event.tool_name(), Some("Write"));
        assert_eq!(event.envelope.session_id.as_deref(), Some("s"));
        assert_eq!(event.envelope.cwd.as_deref(), Some("/p"));
        assert_eq!(event.tool_input().unwrap().field("a").unwrap().as_str(), r#"{"b":1}"#);
    }

    #[test]
    fn invalid_fields_are_errors() {
        let error = |builder: EventBuilder| builder.event(&native::DIALECT, Path::new("/")).unwrap_err().to_string();
        assert!(error(EventBuilder::new("PreToolUsee")).contains("did you mean"));
        assert_eq!(error(EventBuilder::new("Stop").tool("Bash")), "`Stop` has no tool; remove the tool name");
        let input = RawJson::default();
        assert_eq!(error(EventBuilder::new("Stop").input(input)), "`Stop` has no tool input; remove the input");
        assert_eq!(error(EventBuilder::new("Stop").payload(RawJson::string("x"))), "the payload must be a JSON object");
    }
}
