//! Payload fields, from and to JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::DecodeError;
use crate::json::{Entries, JsonType, RawJson, decode_string, type_of, write_string};

/// What a field of a payload holds, whatever the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    fn write(&self, out: &mut Sink);
    fn view(&self) -> Field<'_>;
}

impl Wire for String {
    const EXPECTED: &'static str = "a string";

    fn read(json: &str) -> Option<Self> {
        (type_of(json) == JsonType::String).then(|| decode_string(json).into_owned())
    }

    fn write(&self, out: &mut Sink) {
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

    fn write(&self, out: &mut Sink) {
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

    fn write(&self, out: &mut Sink) {
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

    fn write(&self, out: &mut Sink) {
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

/// The fields of a JSON object that nobody has taken yet.
pub(crate) struct Fields<'a> {
    /// The whole text, for the places of errors, and where the object starts in it.
    text: &'a str,
    base: usize,
    /// In front of names in errors: `plugin.`.
    prefix: &'static str,
    entries: Vec<Given<'a>>,
}

/// A field as it was given.
struct Given<'a> {
    name: Cow<'a, str>,
    /// Its value and where that stands, if nobody has taken it.
    value: Option<(&'a str, usize)>,
}

impl<'a> Fields<'a> {
    /// `None` if the text, which must be valid JSON, is no object.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        Self::within(text, text, 0, "")
    }

    fn within(text: &'a str, object: &'a str, base: usize, prefix: &'static str) -> Option<Self> {
        let mut entries = Vec::with_capacity(16);
        entries.extend(Entries::of(object)?.map(|entry| {
            let value = Some((entry.value(), entry.value_range().start));
            Given { name: entry.key(), value }
        }));
        Some(Self { text, base, prefix, entries })
    }

    fn take(&mut self, name: &str) -> Option<(&'a str, usize)> {
        self.entries.iter_mut().find(|given| given.name == name)?.value.take()
    }

    pub(crate) fn required<T: Wire>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        match self.take(name) {
            Some((value, at)) => self.convert(name, value, at),
            None => Err(DecodeError::missing(self.text, self.base, self.path(name), T::EXPECTED)),
        }
    }

    /// Absent and `null` are the same, unless the field may be any JSON.
    pub(crate) fn optional<T: Wire>(&mut self, name: &'static str) -> Result<Option<T>, DecodeError> {
        match self.take(name) {
            None => Ok(None),
            Some(("null", _)) if !T::TAKES_NULL => Ok(None),
            Some((value, at)) => self.convert(name, value, at).map(Some),
        }
    }

    /// A required field that is an object with fields of its own.
    pub(crate) fn nested<T>(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut Fields<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        const EXPECTED: &str = "an object";
        let Some((value, at)) = self.take(name) else {
            return Err(DecodeError::missing(self.text, self.base, self.path(name), EXPECTED));
        };
        match Self::within(self.text, value, self.base + at, prefix) {
            Some(mut fields) => read(&mut fields),
            None => Err(self.wrong_type(name, value, at, EXPECTED)),
        }
    }

    /// Where a field's value stands in the text.
    pub(crate) fn offset_of(&self, name: &str) -> usize {
        let value = self.entries.iter().find(|given| given.name == name).and_then(|given| given.value);
        value.map_or(self.base, |(_, at)| self.base + at)
    }

    /// Everything that nobody took.
    pub(crate) fn rest(&mut self) -> BTreeMap<String, RawJson> {
        std::mem::take(&mut self.entries)
            .into_iter()
            .filter_map(|Given { name, value }| Some((name.into_owned(), RawJson::from_checked(value?.0))))
            .collect()
    }

    fn convert<T: Wire>(&self, name: &str, value: &str, at: usize) -> Result<T, DecodeError> {
        T::read(value).ok_or_else(|| self.wrong_type(name, value, at, T::EXPECTED))
    }

    fn wrong_type(&self, name: &str, value: &str, at: usize, expected: &'static str) -> DecodeError {
        DecodeError::wrong_type(self.text, self.base + at, self.path(name), expected, type_of(value))
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// A part of a JSON text: written for it, or taken over as it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
pub(crate) struct Sink {
    pieces: Vec<JsonPiece>,
    text: String,
    /// Values from this size on are shared.
    share_from: usize,
}

impl Sink {
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
    out: &'a mut Sink,
    /// The names so far: a second field of one name would be read differently by different readers.
    names: Vec<Cow<'static, str>>,
}

impl<'a> Writer<'a> {
    /// Writes a whole object.
    pub(crate) fn object(out: &'a mut Sink, fields: impl FnOnce(&mut Self)) {
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
