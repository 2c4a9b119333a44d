//! [`Event`] and its canonical JSON form.
//!
//! Hosts and dialects build events; selection, handlers and settling read them. Decoding must never alter JSON values such
//! as a tool's input.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::contract::Target;
use crate::envelope::Envelope;
use crate::json::{JsonError, JsonType, Location, RawJson, utf8};
use crate::kind::{EventKind, Payload, UnknownKind};
use crate::payload::{CustomPayload, EventFields, Field, JsonPiece, JsonWriter, PayloadData, Writer};

/// The field of the JSON form that names the kind.
const KIND_FIELD: &str = "event";

/// One step in an agent's lifecycle, with its data.
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
    /// Fields that events of all kinds carry.
    pub envelope: Envelope,
    /// Fields of events of this kind.
    pub payload: Payload,
    origin: Origin,
}

/// Facts about an event that its dialect adds. Not part of the JSON form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Origin {
    tool_aliases: ToolAliases,
    dialect: Option<DialectRef>,
    runs_parent_hooks: bool,
}

/// Further names of a tool: those of a table, or computed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ToolAliases {
    Fixed(&'static [&'static str]),
    Computed(Arc<[String]>),
}

impl Default for ToolAliases {
    fn default() -> Self {
        Self::Fixed(&[])
    }
}

/// Reference to the table of a dialect. The type of the table is unknown to this crate.
///
/// Two references are equal if their dialects have the same name.
#[derive(Clone, Copy)]
pub struct DialectRef {
    name: &'static str,
    table: &'static (dyn Any + Send + Sync),
}

impl DialectRef {
    /// Creates a reference to a table.
    pub const fn new<T: Any + Send + Sync>(name: &'static str, table: &'static T) -> Self {
        Self { name, table }
    }

    /// Returns the name of the dialect.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the table if it has this type.
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
    /// Creates an event with an empty envelope. There is also a constructor for each kind, such as [`Event::pre_tool_use`].
    pub fn new(payload: Payload) -> Self {
        Self { envelope: Envelope::default(), payload, origin: Origin::default() }
    }

    /// Creates an event of a custom kind.
    pub fn custom(payload: CustomPayload) -> Self {
        Self::new(Payload::Custom(payload))
    }

    /// Sets the envelope.
    #[must_use]
    pub fn within(mut self, envelope: Envelope) -> Self {
        self.envelope = envelope;
        self
    }

    /// Sets further names of the event's tool: a hook whose matcher accepts one of them matches the event. Agents have
    /// different names for equivalent tools.
    #[must_use]
    pub fn with_tool_aliases(mut self, names: &'static [&'static str]) -> Self {
        self.origin.tool_aliases = ToolAliases::Fixed(names);
        self
    }

    /// Sets further names of the event's tool that depend on the call, such as the shared name of an MCP tool.
    #[must_use]
    pub fn with_computed_aliases(mut self, names: Vec<String>) -> Self {
        self.origin.tool_aliases = ToolAliases::Computed(names.into());
        self
    }

    /// Returns the event with the first alias that `accepts` returns `true` for in front of the others. `None`: it is there
    /// already, or no alias is accepted.
    pub fn with_preferred_alias(&self, mut accepts: impl FnMut(&str) -> bool) -> Option<Self> {
        let preferred = self.tool_aliases().position(&mut accepts).filter(|position| *position > 0)?;
        let mut names: Vec<String> = self.tool_aliases().map(str::to_owned).collect();
        names[..=preferred].rotate_right(1);
        Some(self.clone().with_computed_aliases(names))
    }

    /// Sets the dialect that the tool name and the tool input come from.
    #[must_use]
    pub fn with_dialect(mut self, dialect: DialectRef) -> Self {
        self.origin.dialect = Some(dialect);
        self
    }

    /// Sets whether hooks for the [parent kind](EventKind::parent_kind) run at this event too. For hosts that have events
    /// for some tools, but none for all tools.
    #[must_use]
    pub fn with_parent_hooks(mut self, run: bool) -> Self {
        self.origin.runs_parent_hooks = run;
        self
    }

    /// Returns further names of the event's tool. See [`with_tool_aliases`](Self::with_tool_aliases).
    pub fn tool_aliases(&self) -> impl Iterator<Item = &str> + Clone {
        let (fixed, computed) = match &self.origin.tool_aliases {
            ToolAliases::Fixed(names) => (*names, &[][..]),
            ToolAliases::Computed(names) => (&[][..], &**names),
        };
        fixed.iter().copied().chain(computed.iter().map(String::as_str))
    }

    /// `true` if the event's tool has further names.
    pub fn has_tool_aliases(&self) -> bool {
        match &self.origin.tool_aliases {
            ToolAliases::Fixed(names) => !names.is_empty(),
            ToolAliases::Computed(names) => !names.is_empty(),
        }
    }

    /// Returns the dialect that the tool name and the tool input come from. `None`: they are in canonical form.
    pub fn dialect(&self) -> Option<DialectRef> {
        self.origin.dialect
    }

    /// `true` if hooks for the [parent kind](EventKind::parent_kind) run at this event too.
    pub fn runs_parent_hooks(&self) -> bool {
        self.origin.runs_parent_hooks
    }

    /// Returns the event with another payload, without the hooks of the parent kind.
    pub(crate) fn with_payload(&self, payload: Payload) -> Self {
        let origin = Origin { runs_parent_hooks: false, ..self.origin.clone() };
        Self { envelope: self.envelope.clone(), payload, origin }
    }

    /// Returns the kind of the event.
    pub fn kind(&self) -> EventKind {
        self.payload.kind()
    }

    /// Returns the subject that matchers are compared with: the tool name, the reason or the trigger, depending on the kind.
    pub fn subject(&self) -> Option<Cow<'_, str>> {
        self.payload.subject(&self.envelope)
    }

    /// Returns a field of the payload or the envelope by its JSON name.
    pub fn field(&self, name: &str) -> Option<Field<'_>> {
        self.payload.field(name).or_else(|| self.envelope.field(name))
    }

    /// Returns the tool name, if the event is about a tool.
    pub fn tool_name(&self) -> Option<&str> {
        self.text("tool_name")
    }

    /// Returns the tool input, if the event is about a tool.
    pub fn tool_input(&self) -> Option<&RawJson> {
        match self.payload.field("tool_input")? {
            Field::Json(json) => Some(json),
            _ => None,
        }
    }

    /// Returns the prompt, if the event is about a prompt.
    pub fn prompt(&self) -> Option<&str> {
        self.text("prompt")
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.payload.field(name)? {
            Field::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value that a rewrite of `target` would replace.
    pub fn original(&self, target: Target) -> Option<RawJson> {
        self.payload.original(target)
    }

    /// Returns the event with `target` replaced by `value`. `None` if the event does not have the target, or the value has
    /// the wrong type.
    pub fn rewritten(&self, target: Target, value: &RawJson) -> Option<Self> {
        let mut event = self.clone();
        event.payload.replace(target, value).then_some(event)
    }

    /// Reads the canonical JSON form: one flat object with the kind's name as `event`.
    ///
    /// Unknown fields are kept in [`Envelope::extra`]. An unknown kind is an error; use
    /// [`from_json_with`](Self::from_json_with) for custom kinds.
    ///
    /// # Errors
    /// Text that is not a JSON object, an unknown event, and a required field that is missing or has the wrong type. The
    /// error has the cause and its location.
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

    /// As [`from_json`](Self::from_json), with a function that resolves the names of kinds.
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
        let offset = fields.offset_of(KIND_FIELD);
        let name: String = fields.required(KIND_FIELD)?;
        let kind = kind_named(&name)
            .map_err(|unknown| DecodeError::new(DecodeErrorKind::UnknownEvent(unknown), text, offset))?;
        Self::from_fields(&kind, fields)
    }

    /// Creates an event of this kind from fields with canonical names. Unknown fields are kept in [`Envelope::extra`].
    ///
    /// # Errors
    /// A required field is missing or has the wrong type.
    pub fn from_fields(kind: &EventKind, mut fields: EventFields<'_>) -> Result<Self, DecodeError> {
        fields.discard(KIND_FIELD);
        let mut payload = Payload::read(kind, &mut fields)?;
        let mut envelope = Envelope::read(&mut fields)?;
        if let Payload::Custom(custom) = &mut payload {
            custom.fields = std::mem::take(&mut envelope.extra);
        }
        Ok(Self { envelope, payload, origin: Origin::default() })
    }

    /// Writes the canonical JSON form. Tool input and other JSON values keep their text.
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
        let mut json = JsonWriter::new(share_from);
        Writer::object(&mut json, |out| {
            out.text(KIND_FIELD, self.kind().name());
            // The fields of a custom payload have names that the host chose; envelope fields must come before them.
            if let Payload::Custom(_) = self.payload {
                self.envelope.write(out);
                self.payload.write(out);
            } else {
                self.payload.write(out);
                self.envelope.write(out);
            }
        });
        json
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

/// Error of a text that is not an event, with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} ({location})")]
pub struct DecodeError {
    kind: Box<DecodeErrorKind>,
    location: Location,
}

/// Cause of a [`DecodeError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Not JSON, or JSON that [`RawJson`] does not accept.
    #[error("the event is not valid JSON: {}", .0.kind())]
    Json(#[source] JsonError),
    /// JSON, but not an object.
    #[error("an event must be a JSON object, not {0}")]
    NotAnObject(JsonType),
    /// An object with an unknown event name.
    #[error("{0}")]
    UnknownEvent(UnknownKind),
    /// A required field is missing.
    #[error("the required field `{field}` ({expected}) is missing")]
    MissingField {
        /// Path of the field.
        field: String,
        /// Expected type, with an article.
        expected: &'static str,
    },
    /// A field has the wrong type.
    #[error("`{field}` should be {expected}, but is {found}")]
    WrongType {
        /// Path of the field.
        field: String,
        /// Expected type, with an article.
        expected: &'static str,
        /// Type that it has.
        found: JsonType,
    },
}

impl DecodeError {
    fn new(kind: DecodeErrorKind, text: &str, offset: usize) -> Self {
        Self { kind: Box::new(kind), location: Location::from_offset(text.as_bytes(), offset) }
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

    /// Returns the cause.
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.kind
    }

    /// Returns the location of the error.
    pub fn location(&self) -> Location {
        self.location
    }
}
