//! [`CustomPayload`]: the payload of events that a host adds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Field, PayloadData};
use crate::contract::Target;
use crate::envelope::Envelope;
use crate::json::{JsonType, RawJson};
use crate::kind::CustomKind;

/// Data of an event of a custom kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomPayload {
    /// Kind of the event.
    pub kind: CustomKind,
    /// Fields, by name.
    pub fields: BTreeMap<String, RawJson>,
}

impl CustomPayload {
    /// Creates a payload of this kind without fields.
    pub fn new(kind: CustomKind) -> Self {
        Self { kind, fields: BTreeMap::new() }
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: RawJson) -> Self {
        self.fields.insert(name.into(), value);
        self
    }

    /// Returns the field that the contract declares, from the payload or the envelope.
    pub(crate) fn subject<'a>(&'a self, envelope: &'a Envelope) -> Option<Cow<'a, str>> {
        let name = self.kind.contract().matched_on.as_deref()?;
        match self.get(name).or_else(|| PayloadData::field(envelope, name))? {
            Field::Text(text) => Some(Cow::Borrowed(text)),
            Field::Json(json) => json.as_text().or_else(|| {
                // Numbers and booleans are compared as text.
                let is_scalar = matches!(json.json_type(), JsonType::Number | JsonType::Boolean);
                is_scalar.then(|| Cow::Borrowed(json.as_str().trim_ascii()))
            }),
            Field::Count(count) => Some(Cow::Owned(count.to_string())),
            Field::Flag(flag) => Some(Cow::Borrowed(if flag { "true" } else { "false" })),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Field<'_>> {
        self.fields.get(name).map(Field::Json)
    }

    /// Returns the field with the name of the target: `input`, `output`, `prompt`, `messages` or `summary`.
    pub(crate) fn original(&self, target: Target) -> Option<RawJson> {
        self.fields.get(target.name()).cloned()
    }

    pub(crate) fn replace(&mut self, target: Target, value: &RawJson) -> bool {
        self.fields.insert(target.name().to_owned(), value.clone());
        true
    }
}
