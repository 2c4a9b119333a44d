//! [`Node`], [`Value`] and [`Span`]: the tree that all formats are parsed into.
//!
//! The parsers build it, and readers of hook files use it. A number is text in JSON syntax and never a float.

use std::borrow::Cow;

use checkrein_core::RawJson;

/// A part of a text, as byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span from one byte offset to another.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: offset(start), end: offset(end.max(start)) }
    }

    /// The part of the text. Empty if the span is not in the text.
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Converts an offset. Texts are limited to far less than 4 GiB.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// Position of the value. For a TOML table, its header or the key that creates it.
    pub span: Span,
    /// The value.
    pub value: Value<'a>,
}

/// The six types of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Null; in YAML also a missing value.
    Null,
    /// True or false.
    Bool(bool),
    /// A number in JSON syntax.
    Number(Cow<'a, str>),
    /// A decoded string. TOML dates, infinities and NaN are strings as written.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object in the order of the text. Keys are distinct.
    Object(Vec<Member<'a>>),
}

/// A key of an object and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The decoded key. Keys that are not strings are as written.
    pub key: Cow<'a, str>,
    /// Position of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The text of a string. `None` for other types.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a boolean. `None` for other types.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A number in JSON syntax. `None` for other types.
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The values of an array. `None` for other types.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object. `None` for other types.
    pub fn as_object(&self) -> Option<&[Member<'a>]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// `true` for null.
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The value of a key. `None` if the object does not have it, or for other types.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.as_object()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Name of the type with its article: `a string`.
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

    /// The value as JSON text without white space. [`RawJson`] can parse it.
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
