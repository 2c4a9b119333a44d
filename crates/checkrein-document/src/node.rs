use std::borrow::Cow;

use checkrein_core::RawJson;

/// A part of a text, as byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last one.
    pub end: u32,
}

impl Span {
    /// The part from one byte offset to another.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: offset(start), end: offset(end.max(start)) }
    }

    /// The part of the text. Empty if the text is another one and has no such part.
    pub fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Texts are limited to far less than what fits.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// Where it stands. For a TOML table that is its header, or the key that brings it about.
    pub span: Span,
    /// The value.
    pub value: Value<'a>,
}

/// The six types of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Null; in YAML also a value that is not there.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, as JSON writes it.
    Number(Cow<'a, str>),
    /// A string, decoded. Dates of TOML, and infinities and not-a-numbers, are strings as they are written.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object, in the order of the text. Keys are distinct.
    Object(Vec<Member<'a>>),
}

/// A key of an object and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The key, decoded. Keys that are no strings are as they are written.
    pub key: Cow<'a, str>,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    /// What a string says.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A number, as JSON writes it.
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The values of an array.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[Member<'a>]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The value that an object has for a key. `None` if it is no object.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.as_object()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// What it is, with its article: `a string`.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// The value as JSON text without white space. [`RawJson`] takes it.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(text) => out.push_str(text),
            Value::String(text) => RawJson::push_string(out, text),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, member) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    RawJson::push_string(out, &member.key);
                    out.push(':');
                    member.value.write(out);
                }
                out.push('}');
            }
        }
    }
}
