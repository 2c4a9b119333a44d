//! Conversion of payload fields from and to JSON.
//!
//! The `payload!` macro generates calls of it; dialects build [`EventFields`]. JSON values must keep their text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::DecodeError;
use crate::json::{Entries, JsonType, RawJson, decode_string, type_of, write_string};

/// Value of a payload field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// A string.
    Text(&'a str),
    /// A whole number.
    Count(u64),
    /// A boolean.
    Flag(bool),
    /// Any JSON.
    Json(&'a RawJson),
}

impl Field<'_> {
    /// Returns the field as JSON.
    pub fn to_json(self) -> RawJson {
        match self {
            Self::Text(text) => RawJson::string(text),
            Self::Count(count) => RawJson::from_checked(&count.to_string()),
            Self::Flag(flag) => RawJson::from_checked(if flag { "true" } else { "false" }),
            Self::Json(json) => json.clone(),
        }
    }
}

/// Description of a payload field, for documentation and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Name in Rust and in JSON.
    pub name: &'static str,
    /// `true` if the field is required.
    pub required: bool,
    /// JSON type with an article: "a string".
    pub json: &'static str,
}

/// Type of a payload field.
pub(crate) trait Wire: Sized {
    const EXPECTED: &'static str;
    /// `true` if `null` is a value. Otherwise `null` is equivalent to an absent field.
    const TAKES_NULL: bool = false;

    /// Reads valid JSON. `None` if it has another type.
    fn read(json: &str) -> Option<Self>;
    /// As [`read`](Self::read). Returns a value of another type as the error.
    fn from_value(value: FieldValue<'_>) -> Result<Self, FieldValue<'_>> {
        Self::read(value.as_str()).ok_or(value)
    }
    fn write(&self, out: &mut JsonWriter);
    fn view(&self) -> Field<'_>;
}

impl Wire for String {
    const EXPECTED: &'static str = "a string";

    fn read(json: &str) -> Option<Self> {
        (type_of(json) == JsonType::String).then(|| decode_string(json).into_owned())
    }

    fn write(&self, out: &mut JsonWriter) {
        write_string(&mut out.text, self);
    }

    fn view(&self) -> Field<'_> {
        Field::Text(self)
    }
}

impl Wire for u64 {
    const EXPECTED: &'static str = "a whole number";

    fn read(json: &str) -> Option<Self> {
        json.parse().ok()
    }

    fn write(&self, out: &mut JsonWriter) {
        out.text.push_str(&self.to_string());
    }

    fn view(&self) -> Field<'_> {
        Field::Count(*self)
    }
}

impl Wire for bool {
    const EXPECTED: &'static str = "true or false";

    fn read(json: &str) -> Option<Self> {
        json.parse().ok()
    }

    fn write(&self, out: &mut JsonWriter) {
        out.text.push_str(if *self { "true" } else { "false" });
    }

    fn view(&self) -> Field<'_> {
        Field::Flag(*self)
    }
}

impl Wire for RawJson {
    const EXPECTED: &'static str = "any JSON";
    const TAKES_NULL: bool = true;

    fn read(json: &str) -> Option<Self> {
        Some(Self::from_checked(json))
    }

    fn from_value(value: FieldValue<'_>) -> Result<Self, FieldValue<'_>> {
        Ok(value.into_json())
    }

    fn write(&self, out: &mut JsonWriter) {
        out.json(self);
    }

    fn view(&self) -> Field<'_> {
        Field::Json(self)
    }
}

/// Field that can be rewritten.
pub(crate) trait Replace {
    /// Replaces the value. Returns `false` if the new value has the wrong type.
    fn replace(&mut self, value: &RawJson) -> bool;
}

impl<T: Wire> Replace for T {
    fn replace(&mut self, value: &RawJson) -> bool {
        T::read(value.as_str().trim_ascii()).map(|value| *self = value).is_some()
    }
}

impl<T: Wire> Replace for Option<T> {
    fn replace(&mut self, value: &RawJson) -> bool {
        T::read(value.as_str().trim_ascii()).map(|value| *self = Some(value)).is_some()
    }
}

/// Fields that an event is decoded from, each with its offset in the source text.
///
/// [`Event::from_json`](crate::Event::from_json) reads them from the canonical form. A dialect adds an agent's fields
/// under their canonical names, and [`Event::from_fields`](crate::Event::from_fields) creates the event.
#[derive(Debug, Clone)]
pub struct EventFields<'a> {
    /// Whole text, for the locations of errors.
    text: &'a str,
    /// Offset in the whole text of the object with the fields.
    base: usize,
    /// Prefix of names in errors, such as `plugin.`.
    prefix: &'static str,
    fields: Vec<RawField<'a>>,
}

#[derive(Debug, Clone)]
struct RawField<'a> {
    name: Cow<'a, str>,
    /// `None` after it was taken.
    value: Option<FieldValue<'a>>,
    /// Offset in the whole text of the source value.
    offset: usize,
}

/// JSON value of a field.
#[derive(Debug, Clone)]
pub enum FieldValue<'a> {
    /// Part of the text, without white space around it.
    Part(&'a str),
    /// Value that is not in the text in this form.
    Made(RawJson),
}

impl FieldValue<'_> {
    /// Returns the JSON text, without white space around it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Part(part) => part,
            Self::Made(json) => json.as_str().trim_ascii(),
        }
    }

    /// Returns the type of the value.
    pub fn json_type(&self) -> JsonType {
        type_of(self.as_str())
    }

    /// Returns the value. A part of the text is copied.
    pub fn into_json(self) -> RawJson {
        match self {
            Self::Made(json) if json.as_str().len() == json.as_str().trim_ascii().len() => json,
            value => RawJson::from_checked(value.as_str()),
        }
    }
}

impl<'a> EventFields<'a> {
    /// Creates an empty list of fields for a payload.
    pub fn new(payload: &'a RawJson) -> Self {
        Self { text: payload.as_str(), base: 0, prefix: "", fields: Vec::with_capacity(16) }
    }

    /// Adds a field under its canonical name, unless that name exists. `origin` is the part of the payload that the value
    /// comes from, for the location of an error.
    pub fn add(&mut self, name: impl Into<Cow<'a, str>>, value: FieldValue<'a>, origin: Option<&str>) {
        let name = name.into();
        if self.has(&name) {
            return;
        }
        let part = match (&value, origin) {
            (_, Some(part)) => part,
            (FieldValue::Part(part), None) => part,
            (FieldValue::Made(_), None) => "",
        };
        let offset = offset_of_part(self.text, part);
        self.fields.push(RawField { name, value: Some(value), offset });
    }

    /// `true` if there is a field with this name, taken or not.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// Returns the fields of an object. `None` if the text is not an object. It must be valid JSON.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        Self::parse_object(text, text, 0, "")
    }

    fn parse_object(text: &'a str, object: &'a str, base: usize, prefix: &'static str) -> Option<Self> {
        let mut fields = Vec::with_capacity(16);
        fields.extend(Entries::new(object)?.map(|entry| RawField {
            name: entry.key(),
            value: Some(FieldValue::Part(entry.value())),
            offset: base + entry.value_range().start,
        }));
        Some(Self { text, base, prefix, fields })
    }

    /// Removes a field.
    pub(crate) fn discard(&mut self, name: &str) {
        self.take(name);
    }

    fn take(&mut self, name: &str) -> Option<(FieldValue<'a>, usize)> {
        let field = self.fields.iter_mut().find(|field| field.name == name)?;
        Some((field.value.take()?, field.offset))
    }

    pub(crate) fn required<T: Wire>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        match self.take(name) {
            Some((value, offset)) => self.convert(name, value, offset),
            None => Err(self.missing(name, T::EXPECTED)),
        }
    }

    /// Reads an optional field. `null` is equivalent to an absent field, unless the field can be any JSON.
    pub(crate) fn optional<T: Wire>(&mut self, name: &'static str) -> Result<Option<T>, DecodeError> {
        match self.take(name) {
            None => Ok(None),
            Some((value, _)) if value.as_str() == "null" && !T::TAKES_NULL => Ok(None),
            Some((value, offset)) => self.convert(name, value, offset).map(Some),
        }
    }

    /// Reads a required field that is an object.
    pub(crate) fn nested<T>(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut EventFields<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        const EXPECTED: &str = "an object";
        let Some((value, offset)) = self.take(name) else { return Err(self.missing(name, EXPECTED)) };
        match EventFields::parse_object(self.text, value.as_str(), offset, prefix) {
            Some(mut fields) => {
                if let FieldValue::Made(_) = value {
                    // Offsets inside a value that is not in the text are meaningless.
                    fields.fields.iter_mut().for_each(|field| field.offset = offset);
                }
                read(&mut fields)
            }
            None => Err(self.wrong_type(name, &value, offset, EXPECTED)),
        }
    }

    /// Returns the offset of a field's value in the text.
    pub(crate) fn offset_of(&self, name: &str) -> usize {
        self.fields.iter().find(|field| field.name == name).map_or(self.base, |field| field.offset)
    }

    /// Returns all fields that were not taken.
    pub(crate) fn rest(&mut self) -> BTreeMap<String, RawJson> {
        std::mem::take(&mut self.fields)
            .into_iter()
            .filter_map(|field| Some((field.name.into_owned(), field.value?.into_json())))
            .collect()
    }

    fn convert<T: Wire>(&self, name: &str, value: FieldValue<'_>, offset: usize) -> Result<T, DecodeError> {
        T::from_value(value).map_err(|value| self.wrong_type(name, &value, offset, T::EXPECTED))
    }

    fn missing(&self, name: &str, expected: &'static str) -> DecodeError {
        DecodeError::missing(self.text, self.base, self.path(name), expected)
    }

    fn wrong_type(&self, name: &str, value: &FieldValue<'_>, offset: usize, expected: &'static str) -> DecodeError {
        DecodeError::wrong_type(self.text, offset, self.path(name), expected, value.json_type())
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// Returns the offset of a slice of the text. 0 for other strings.
fn offset_of_part(text: &str, part: &str) -> usize {
    let offset = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    if offset < text.len() { offset } else { 0 }
}

/// Part of a JSON text.
#[derive(Debug, Clone)]
pub enum JsonPiece {
    /// Text that was written.
    Text(String),
    /// Value that shares its text with the event.
    Shared(RawJson),
}

impl AsRef<[u8]> for JsonPiece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Shared(json) => json.as_str().as_bytes(),
        }
    }
}

/// Buffer of JSON text that shares large values instead of copying them.
pub(crate) struct JsonWriter {
    pieces: Vec<JsonPiece>,
    text: String,
    /// Minimum size of shared values.
    share_from: usize,
}

impl JsonWriter {
    pub(crate) fn new(share_from: usize) -> Self {
        // Most events are shorter.
        Self { pieces: Vec::new(), text: String::with_capacity(512), share_from }
    }

    fn json(&mut self, json: &RawJson) {
        if json.as_str().len() < self.share_from {
            self.text.push_str(json.as_str());
        } else {
            self.pieces.push(JsonPiece::Text(std::mem::take(&mut self.text)));
            self.pieces.push(JsonPiece::Shared(json.clone()));
        }
    }

    pub(crate) fn into_pieces(mut self) -> Vec<JsonPiece> {
        self.pieces.push(JsonPiece::Text(self.text));
        self.pieces
    }
}

/// Writer of the fields of a JSON object.
pub(crate) struct Writer<'a> {
    out: &'a mut JsonWriter,
    /// Names so far, to prevent duplicate keys.
    names: Vec<Cow<'static, str>>,
}

impl<'a> Writer<'a> {
    /// Writes a whole object.
    pub(crate) fn object(out: &'a mut JsonWriter, fields: impl FnOnce(&mut Self)) {
        out.text.push('{');
        let mut writer = Self { out, names: Vec::with_capacity(16) };
        fields(&mut writer);
        writer.out.text.push('}');
    }

    pub(crate) fn field<T: Wire>(&mut self, name: &'static str, value: &T) {
        self.key(name.into());
        value.write(self.out);
    }

    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        self.key(name.into());
        write_string(&mut self.out.text, value);
    }

    pub(crate) fn optional<T: Wire>(&mut self, name: &'static str, value: Option<&T>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    pub(crate) fn nested(&mut self, name: &'static str, fields: impl FnOnce(&mut Writer<'_>)) {
        self.key(name.into());
        Writer::object(self.out, fields);
    }

    /// Writes fields with foreign names. Skips names that are in use.
    pub(crate) fn all(&mut self, fields: &BTreeMap<String, RawJson>) {
        for (name, value) in fields {
            if !self.names.iter().any(|taken| taken == name) {
                self.key(name.clone().into());
                value.write(self.out);
            }
        }
    }

    fn key(&mut self, name: Cow<'static, str>) {
        if !self.names.is_empty() {
            self.out.text.push(',');
        }
        write_string(&mut self.out.text, &name);
        self.out.text.push(':');
        self.names.push(name);
    }
}
