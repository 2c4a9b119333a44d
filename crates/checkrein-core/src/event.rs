//! Events, and their canonical JSON form.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::contract::Target;
use crate::envelope::Envelope;
use crate::json::{JsonError, JsonType, Location, RawJson, utf8};
use crate::kind::{EventKind, Payload, UnknownKind};
use crate::payload::{CustomPayload, EventFields, Field, JsonPiece, JsonWriter, PayloadData, Writer};

/// The field of the JSON form that names the kind.
const KIND_FIELD: &str = "event";

/// One moment in an agent's life, with its data.
///
/// ```
/// use checkrein_core::payload::ToolCall;
/// use checkrein_core::{Envelope, Event, EventKind};
///
/// let event = Event::pre_tool_use(ToolCall::new("Bash", r#"{"command": "ls"}"#.parse::<checkrein_core::RawJson>()?))
///     .within(Envelope::new().session_id("s-1").cwd("/home/ann/project"));
/// assert_eq!(event.kind(), EventKind::PreToolUse);
/// assert_eq!(event.subject().as_deref(), Some("Bash"));
/// assert_eq!(Event::from_json(&event.to_json())?, event);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// What every event carries.
    pub envelope: Envelope,
    /// What events of this kind carry.
    pub payload: Payload,
    origin: Origin,
}

/// Facts about an event that its dialect adds. Not part of the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Origin {
    tool_aliases: &'static [&'static str],
    dialect: Option<DialectRef>,
    runs_parent_hooks: bool,
}

/// A reference to the table of a dialect, whose type this crate does not know.
///
/// Two references are equal if their dialects have the same name.
#[derive(Clone, Copy)]
pub struct DialectRef {
    name: &'static str,
    table: &'static (dyn Any + Send + Sync),
}

impl DialectRef {
    /// A reference to a table.
    pub const fn new<T: Any + Send + Sync>(name: &'static str, table: &'static T) -> Self {
        Self { name, table }
    }

    /// The name of the dialect.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The table, if it is of this type.
    pub fn table<T: Any>(self) -> Option<&'static T> {
        self.table.downcast_ref()
    }
}

impl PartialEq for DialectRef {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for DialectRef {}

impl fmt::Debug for DialectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Event {
    /// An event with an empty envelope. There is also a constructor for each kind: [`Event::pre_tool_use`] and so on.
    pub fn new(payload: Payload) -> Self {
        Self { envelope: Envelope::default(), payload, origin: Origin::default() }
    }

    /// An event that only its host knows.
    pub fn custom(payload: CustomPayload) -> Self {
        Self::new(Payload::Custom(payload))
    }

    /// Puts the event in this envelope.
    #[must_use]
    pub fn within(mut self, envelope: Envelope) -> Self {
        self.envelope = envelope;
        self
    }

    /// Adds names of the event's tool: a hook whose matcher accepts one of them matches the event. Agents have names of
    /// their own for tools that most of them have.
    #[must_use]
    pub fn with_tool_aliases(mut self, names: &'static [&'static str]) -> Self {
        self.origin.tool_aliases = names;
        self
    }

    /// Sets the dialect in whose terms the tool and its input are.
    #[must_use]
    pub fn with_dialect(mut self, dialect: DialectRef) -> Self {
        self.origin.dialect = Some(dialect);
        self
    }

    /// Sets whether hooks for the [general kind](EventKind::general) run at this event too. For hosts that have events for
    /// some tools, and none for all of them.
    #[must_use]
    pub fn with_parent_hooks(mut self, run: bool) -> Self {
        self.origin.runs_parent_hooks = run;
        self
    }

    /// Other names of the event's tool. See [`with_tool_aliases`](Self::with_tool_aliases).
    pub fn tool_aliases(&self) -> &'static [&'static str] {
        self.origin.tool_aliases
    }

    /// The dialect in whose terms the tool and its input are. `None`: the shared terms.
    pub fn dialect(&self) -> Option<DialectRef> {
        self.origin.dialect
    }

    /// `true` if hooks for the [general kind](EventKind::general) run at this event too.
    pub fn runs_parent_hooks(&self) -> bool {
        self.origin.runs_parent_hooks
    }

    /// The event with another payload, without the hooks of the general kind.
    pub(crate) fn with_payload(&self, payload: Payload) -> Self {
        let origin = Origin { runs_parent_hooks: false, ..self.origin };
        Self { envelope: self.envelope.clone(), payload, origin }
    }

    /// What kind of event it is.
    pub fn kind(&self) -> EventKind {
        self.payload.kind()
    }

    /// What matchers are compared with: the tool's name, the reason, the trigger, as the kind has it.
    pub fn subject(&self) -> Option<Cow<'_, str>> {
        self.payload.subject(&self.envelope)
    }

    /// A field of the payload or the envelope, by its name in JSON.
    pub fn field(&self, name: &str) -> Option<Field<'_>> {
        self.payload.field(name).or_else(|| self.envelope.field(name))
    }

    /// The tool's name, if the event is about a tool.
    pub fn tool_name(&self) -> Option<&str> {
        self.text("tool_name")
    }

    /// What the tool is called with, if the event is about a tool.
    pub fn tool_input(&self) -> Option<&RawJson> {
        match self.payload.field("tool_input")? {
            Field::Json(json) => Some(json),
            _ => None,
        }
    }

    /// What the user said, if the event is about a prompt.
    pub fn prompt(&self) -> Option<&str> {
        self.text("prompt")
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.payload.field(name)? {
            Field::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What a rewrite of `target` would replace.
    pub fn original(&self, target: Target) -> Option<RawJson> {
        self.payload.original(target)
    }

    /// The event with `value` in place of what a rewrite of `target` replaces. `None` if the event has no such thing,
    /// or the value is of another type.
    pub fn rewritten(&self, target: Target, value: &RawJson) -> Option<Self> {
        let mut event = self.clone();
        event.payload.replace(target, value).then_some(event)
    }

    /// Reads the canonical JSON form: one flat object with the kind's name as `event`.
    ///
    /// Fields that neither the envelope nor the payload know are kept in [`Envelope::extra`]. A name that is no
    /// kind's is an error; [`from_json_with`](Self::from_json_with) takes custom kinds.
    ///
    /// # Errors
    /// Text that is not JSON, is no object, names no known event, or lacks a field that the event needs or has
    /// one of the wrong type. The error says which and where.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        Self::from_json_with(text, str::parse)
    }

    /// As [`from_json`](Self::from_json), from bytes that may not be UTF-8.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and bytes that are not UTF-8.
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let text = utf8(bytes).map_err(DecodeError::json)?;
        Self::from_json(text)
    }

    /// As [`from_json`](Self::from_json), with a say in which names are kinds.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_json_with(
        text: &str,
        kind_named: impl FnOnce(&str) -> Result<EventKind, UnknownKind>,
    ) -> Result<Self, DecodeError> {
        let json = RawJson::parse_event(text).map_err(DecodeError::json)?;
        Self::read(&json, kind_named)
    }

    fn read(
        json: &RawJson,
        kind_named: impl FnOnce(&str) -> Result<EventKind, UnknownKind>,
    ) -> Result<Self, DecodeError> {
        let text = json.as_str();
        let Some(mut fields) = EventFields::parse(text) else {
            return Err(DecodeError::new(DecodeErrorKind::NotAnObject(json.json_type()), text, 0));
        };
        let at = fields.offset_of(KIND_FIELD);
        let name: String = fields.required(KIND_FIELD)?;
        let kind =
            kind_named(&name).map_err(|unknown| DecodeError::new(DecodeErrorKind::UnknownEvent(unknown), text, at))?;
        Self::from_fields(&kind, fields)
    }

    /// Makes an event of this kind from fields with canonical names. Fields that neither the envelope nor the payload
    /// know are kept in [`Envelope::extra`].
    ///
    /// # Errors
    /// A field that the event needs is missing or has the wrong type.
    pub fn from_fields(kind: &EventKind, mut fields: EventFields<'_>) -> Result<Self, DecodeError> {
        fields.discard(KIND_FIELD);
        let mut payload = Payload::read(kind, &mut fields)?;
        let mut envelope = Envelope::read(&mut fields)?;
        if let Payload::Custom(custom) = &mut payload {
            custom.fields = std::mem::take(&mut envelope.extra);
        }
        Ok(Self { envelope, payload, origin: Origin::default() })
    }

    /// Writes the canonical JSON form. Tool input and other JSON goes in as it is.
    pub fn to_json(&self) -> String {
        match self.write(usize::MAX).into_pieces().pop() {
            Some(JsonPiece::Text(text)) => text,
            _ => String::new(),
        }
    }

    /// As [`to_json`](Self::to_json), in pieces: JSON values of this size and above are shared instead of copied. The
    /// first and the last piece are always text.
    pub fn to_json_pieces(&self, share_from: usize) -> Vec<JsonPiece> {
        self.write(share_from).into_pieces()
    }

    fn write(&self, share_from: usize) -> JsonWriter {
        let mut sink = JsonWriter::new(share_from);
        Writer::object(&mut sink, |out| {
            out.text(KIND_FIELD, self.kind().name());
            // Names of the envelope come before those that a host has chosen.
            if let Payload::Custom(_) = self.payload {
                self.envelope.write(out);
                self.payload.write(out);
            } else {
                self.payload.write(out);
                self.envelope.write(out);
            }
        });
        sink
    }
}

/// The canonical JSON form. Only for `serde_json`'s serializers.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::from_checked(&self.to_json()).serialize(serializer)
    }
}

/// The canonical JSON form. Only for `serde_json`'s deserializers.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Self::read(&json, str::parse).map_err(de::Error::custom)
    }
}

/// Why a text is no event, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} ({location})")]
pub struct DecodeError {
    kind: Box<DecodeErrorKind>,
    location: Location,
}

/// The ways in which a text can fail to be an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Not JSON, or JSON that checkrein does not carry.
    #[error("the event is not valid JSON: {}", .0.kind())]
    Json(#[source] JsonError),
    /// JSON, but no object.
    #[error("an event is a JSON object, not {0}")]
    NotAnObject(JsonType),
    /// An object that names no known event.
    #[error("{0}")]
    UnknownEvent(UnknownKind),
    /// A field that the event makes no sense without.
    #[error("the event lacks `{field}`, {expected}")]
    MissingField {
        /// The field, with its path.
        field: String,
        /// What it should look like.
        expected: &'static str,
    },
    /// A field of another type.
    #[error("`{field}` should be {expected}, but is {found}")]
    WrongType {
        /// The field, with its path.
        field: String,
        /// What it should look like.
        expected: &'static str,
        /// What it is.
        found: JsonType,
    },
}

impl DecodeError {
    fn new(kind: DecodeErrorKind, text: &str, offset: usize) -> Self {
        Self { kind: Box::new(kind), location: Location::of(text.as_bytes(), offset) }
    }

    fn json(error: JsonError) -> Self {
        Self { location: error.location(), kind: Box::new(DecodeErrorKind::Json(error)) }
    }

    pub(crate) fn missing(text: &str, offset: usize, field: String, expected: &'static str) -> Self {
        Self::new(DecodeErrorKind::MissingField { field, expected }, text, offset)
    }

    pub(crate) fn wrong_type(
        text: &str,
        offset: usize,
        field: String,
        expected: &'static str,
        found: JsonType,
    ) -> Self {
        Self::new(DecodeErrorKind::WrongType { field, expected, found }, text, offset)
    }

    /// What is wrong.
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.kind
    }

    /// Where it is wrong.
    pub fn location(&self) -> Location {
        self.location
    }
}
