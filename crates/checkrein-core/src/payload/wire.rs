//! Payload fields, from and to JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::DecodeError;
use crate::json::{Entries, JsonType, RawJson, decode_string, type_of, write_string};

/// What a field of a payload holds, whatever the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// A string.
    Text(&'a str),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// Any JSON.
    Json(&'a RawJson),
}

impl Field<'_> {
    /// The field as JSON.
    pub fn to_json(self) -> RawJson {
        match self {
            Self::Text(text) => RawJson::string(text),
            Self::Count(count) => RawJson::from_checked(&count.to_string()),
            Self::Flag(flag) => RawJson::from_checked(if flag { "true" } else { "false" }),
            Self::Json(json) => json.clone(),
        }
    }
}

/// A field that a payload may have, for documentation and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name, in Rust and in JSON.
    pub name: &'static str,
    /// Whether the event makes no sense without it.
    pub required: bool,
    /// What it looks like in JSON: "a string".
    pub json: &'static str,
}

/// A type that a payload field can have.
pub(crate) trait Wire: Sized {
    const EXPECTED: &'static str;
    /// Whether `null` is a value like any other, and not the same as an absent field.
    const TAKES_NULL: bool = false;

    /// From valid JSON; `None` if it is of another type.
    fn read(json: &str) -> Option<Self>;
    /// As [`read`](Self::read). Gives a value of another type back.
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

/// A field that can be rewritten.
pub(crate) trait Replace {
    /// Tells whether the value is of the right type.
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

/// The fields that an event is decoded from, each with its place in the text that they come from.
///
/// [`Event::from_json`](crate::Event::from_json) reads them from the canonical form. A dialect puts an agent's fields in
/// under their canonical names, and [`Event::from_fields`](crate::Event::from_fields) makes the event.
#[derive(Debug, Clone)]
pub struct EventFields<'a> {
    /// The whole text, for the locations of errors.
    text: &'a str,
    /// The offset in it of the object that has the fields.
    base: usize,
    /// In front of names in errors: `plugin.`.
    prefix: &'static str,
    fields: Vec<RawField<'a>>,
}

#[derive(Debug, Clone)]
struct RawField<'a> {
    name: Cow<'a, str>,
    /// `None` once it was taken.
    value: Option<FieldValue<'a>>,
    /// The offset in the whole text of the value that it comes from.
    at: usize,
}

/// The JSON value of a field.
#[derive(Debug, Clone)]
pub enum FieldValue<'a> {
    /// A part of the text, without white space around it.
    Part(&'a str),
    /// A value that is not in the text as it is.
    Made(RawJson),
}

impl FieldValue<'_> {
    /// The JSON text, without white space around it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Part(part) => part,
            Self::Made(json) => json.as_str().trim_ascii(),
        }
    }

    /// The type of the value.
    pub fn json_type(&self) -> JsonType {
        type_of(self.as_str())
    }

    /// The value on its own. A part is copied.
    pub fn into_json(self) -> RawJson {
        match self {
            Self::Made(json) if json.as_str().len() == json.as_str().trim_ascii().len() => json,
            value => RawJson::from_checked(value.as_str()),
        }
    }
}

impl<'a> EventFields<'a> {
    /// No fields yet, of a payload with this text.
    pub fn new(payload: &'a RawJson) -> Self {
        Self { text: payload.as_str(), base: 0, prefix: "", fields: Vec::with_capacity(16) }
    }

    /// Adds a field under its canonical name, unless there is one of that name. `at` is the part of the payload that the
    /// value comes from, for the location of an error.
    pub fn add(&mut self, name: impl Into<Cow<'a, str>>, value: FieldValue<'a>, at: Option<&str>) {
        let name = name.into();
        if self.has(&name) {
            return;
        }
        let part = match (&value, at) {
            (_, Some(part)) => part,
            (FieldValue::Part(part), None) => part,
            (FieldValue::Made(_), None) => "",
        };
        let at = offset_of_part(self.text, part);
        self.fields.push(RawField { name, value: Some(value), at });
    }

    /// `true` if there is a field of this name, taken or not.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// The fields of an object. `None` if the text, which must be valid JSON, is no object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        Self::parse_object(text, text, 0, "")
    }

    fn parse_object(text: &'a str, object: &'a str, base: usize, prefix: &'static str) -> Option<Self> {
        let mut fields = Vec::with_capacity(16);
        fields.extend(Entries::of(object)?.map(|entry| RawField {
            name: entry.key(),
            value: Some(FieldValue::Part(entry.value())),
            at: base + entry.value_range().start,
        }));
        Some(Self { text, base, prefix, fields })
    }

    /// Drops a field.
    pub(crate) fn discard(&mut self, name: &str) {
        self.take(name);
    }

    fn take(&mut self, name: &str) -> Option<(FieldValue<'a>, usize)> {
        let field = self.fields.iter_mut().find(|field| field.name == name)?;
        Some((field.value.take()?, field.at))
    }

    pub(crate) fn required<T: Wire>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        match self.take(name) {
            Some((value, at)) => self.convert(name, value, at),
            None => Err(self.missing(name, T::EXPECTED)),
        }
    }

    /// Absent and `null` are the same, unless the field may be any JSON.
    pub(crate) fn optional<T: Wire>(&mut self, name: &'static str) -> Result<Option<T>, DecodeError> {
        match self.take(name) {
            None => Ok(None),
            Some((value, _)) if value.as_str() == "null" && !T::TAKES_NULL => Ok(None),
            Some((value, at)) => self.convert(name, value, at).map(Some),
        }
    }

    /// A required field that is an object with fields of its own.
    pub(crate) fn nested<T>(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut EventFields<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        const EXPECTED: &str = "an object";
        let Some((value, at)) = self.take(name) else { return Err(self.missing(name, EXPECTED)) };
        match EventFields::parse_object(self.text, value.as_str(), at, prefix) {
            Some(mut fields) => {
                if let FieldValue::Made(_) = value {
                    // Offsets inside a value that is not in the text lead nowhere.
                    fields.fields.iter_mut().for_each(|field| field.at = at);
                }
                read(&mut fields)
            }
            None => Err(self.wrong_type(name, &value, at, EXPECTED)),
        }
    }

    /// The offset of a field's value in the text.
    pub(crate) fn offset_of(&self, name: &str) -> usize {
        self.fields.iter().find(|field| field.name == name).map_or(self.base, |field| field.at)
    }

    /// All fields that were not taken.
    pub(crate) fn rest(&mut self) -> BTreeMap<String, RawJson> {
        std::mem::take(&mut self.fields)
            .into_iter()
            .filter_map(|field| Some((field.name.into_owned(), field.value?.into_json())))
            .collect()
    }

    fn convert<T: Wire>(&self, name: &str, value: FieldValue<'_>, at: usize) -> Result<T, DecodeError> {
        T::from_value(value).map_err(|value| self.wrong_type(name, &value, at, T::EXPECTED))
    }

    fn missing(&self, name: &str, expected: &'static str) -> DecodeError {
        DecodeError::missing(self.text, self.base, self.path(name), expected)
    }

    fn wrong_type(&self, name: &str, value: &FieldValue<'_>, at: usize, expected: &'static str) -> DecodeError {
        DecodeError::wrong_type(self.text, at, self.path(name), expected, value.json_type())
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// The offset of a part that was cut out of the text. 0 for one that was not.
fn offset_of_part(text: &str, part: &str) -> usize {
    let at = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    if at < text.len() { at } else { 0 }
}

/// A part of a JSON text: written for it, or taken over as it is.
#[derive(Debug, Clone)]
pub enum JsonPiece {
    /// Text that was written.
    Text(String),
    /// JSON that somebody holds already.
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

/// Takes JSON text, and large values without copying them.
pub(crate) struct JsonWriter {
    pieces: Vec<JsonPiece>,
    text: String,
    /// Values from this size on are shared.
    share_from: usize,
}

impl JsonWriter {
    pub(crate) fn new(share_from: usize) -> Self {
        // Most events are shorter than that.
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

/// Writes the fields of a JSON object.
pub(crate) struct Writer<'a> {
    out: &'a mut JsonWriter,
    /// The names so far: a second field of one name would be read differently by different readers.
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

    /// Fields that somebody else has named. Those whose name is taken are left out.
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
