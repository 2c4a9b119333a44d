//! An event of which only some is said: the rest is made up.

use std::path::Path;

use checkrein_core::{Event, JsonError, RawJson, Target};
use checkrein_dialects::payload::PayloadError;
use checkrein_dialects::{Dialect, UnknownEvent};

use crate::samples;

/// What somebody says of an event, in the words of a dialect. What is not said comes from the [`catalogue`].
///
/// ```
/// use checkrein::dialects::agents::native;
/// use checkrein_tools::EventBuilder;
///
/// let draft = EventBuilder::new("PreToolUse").tool("Bash").input(r#"{"command":"ls"}"#.parse()?);
/// let event = draft.event(&native::DIALECT, std::path::Path::new("/project"))?;
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

/// Why no event can be made of a draft.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EventBuilderError {
    /// The dialect does not have the event.
    #[error(transparent)]
    Unknown(#[from] UnknownEvent),
    /// A tool was named, and the event is about none.
    #[error("`{0}` is not about a tool")]
    NoTool(String),
    /// An input was given, and the event has none.
    #[error("`{0}` has no tool input")]
    NoInput(String),
    /// The payload is something else.
    #[error("the payload is no JSON object")]
    NoObject,
    /// What is said does not make an event.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// What is said is no JSON when it is put together.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl EventBuilder {
    /// An event, in the dialect's spelling or checkrein's.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), tool: None, input: None, payload: None, set: Vec::new() }
    }

    /// The tool that it is about.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// What the tool is called with.
    #[must_use]
    pub fn input(mut self, input: RawJson) -> Self {
        self.input = Some(input);
        self
    }

    /// The payload as the agent sends it, an object. What it lacks is made up.
    #[must_use]
    pub fn payload(mut self, payload: RawJson) -> Self {
        self.payload = Some(payload);
        self
    }

    /// Sets a field of the payload; dots lead into objects.
    #[must_use]
    pub fn set(mut self, path: impl Into<String>, value: RawJson) -> Self {
        self.set.push((path.into(), value));
        self
    }

    /// The event, as an agent of this dialect in this directory would fire it.
    ///
    /// # Errors
    /// What is said does not fit the event.
    pub fn event(&self, dialect: &'static Dialect, dir: &Path) -> Result<Event, EventBuilderError> {
        let kind = dialect.kind_named(&self.name)?;
        let mut sample = samples::event_of(dialect, &kind, self.tool.as_deref());
        if self.tool.is_some() && sample.tool_name().is_none() {
            return Err(EventBuilderError::NoTool(self.name.clone()));
        }
        sample.envelope.cwd = Some(dir.to_string_lossy().into_owned());
        let event = if self.payload.is_none() && self.set.is_empty() { sample } else { self.filled(dialect, &sample)? };
        let event = dialect.with_common_names(event);
        match &self.input {
            None => Ok(event),
            Some(input) => {
                event.rewritten(Target::Input, input).ok_or_else(|| EventBuilderError::NoInput(self.name.clone()))
            }
        }
    }

    /// The payload of this event with what is said in place of what is made up, read again.
    fn filled(&self, dialect: &'static Dialect, sample: &Event) -> Result<Event, EventBuilderError> {
        let bytes: Vec<u8> = dialect.payload(sample, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let mut payload = RawJson::parse_bytes(&bytes)?;
        if let Some(given) = &self.payload {
            payload = over(&payload, given)?;
        }
        for (path, value) in &self.set {
            payload = set(&payload, path, value)?;
        }
        Ok(dialect.event(&payload, Some(&self.name))?)
    }
}

/// Fields of one object over those of another.
fn over(under: &RawJson, upper: &RawJson) -> Result<RawJson, EventBuilderError> {
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
    over(payload, &RawJson::parse(format!("{{{}:{value}}}", RawJson::string(key)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_dialects::agents::native;

    #[test]
    fn what_is_said_lies_over_what_is_made_up() {
        let json = |text: &str| RawJson::parse(text).unwrap();
        let draft = EventBuilder::new("PreToolUse")
            .payload(json(r#"{"tool_name":"Write","session_id":"s"}"#))
            .set("tool_input.a.b", json("1"));
        let event = draft.event(&native::DIALECT, Path::new("/p")).unwrap();
        assert_eq!(event.tool_name(), Some("Write"));
        assert_eq!(event.envelope.session_id.as_deref(), Some("s"));
        assert_eq!(event.envelope.cwd.as_deref(), Some("/p"));
        assert_eq!(event.tool_input().unwrap().field("a").unwrap().as_str(), r#"{"b":1}"#);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let says = |draft: EventBuilder| draft.event(&native::DIALECT, Path::new("/")).unwrap_err().to_string();
        assert!(says(EventBuilder::new("PreToolUsee")).contains("did you mean"));
        assert_eq!(says(EventBuilder::new("Stop").tool("Bash")), "`Stop` is not about a tool");
        assert_eq!(says(EventBuilder::new("Stop").input(RawJson::default())), "`Stop` has no tool input");
        assert_eq!(says(EventBuilder::new("Stop").payload(RawJson::string("x"))), "the payload is no JSON object");
    }
}
