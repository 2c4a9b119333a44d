//! Values of expressions.
//!
//! A value, a part of a text or the rest of a list can be unknown: only a running shell knows `$X`. Operators keep what is known.
//! `"release/$X" == "main"` is false, and `commands.exists(c, c.program == "git")` is true if one command is git, even if others
//! are unknown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::failure::FailureKind;
use crate::types::Schema;

/// Value of an expression.
#[derive(Debug, Clone)]
pub enum Value {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text.
    String(Arc<str>),
    /// A text with unknown parts.
    Partial(Arc<PartialText>),
    /// A list.
    List(List),
    /// A map.
    Map(Arc<BTreeMap<String, Value>>),
    /// An object.
    Object(Arc<dyn Object>),
    /// A value that only a running shell knows.
    Unknown(Unknown),
}

/// Description of an unknown fact, such as `$X`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub Arc<str>);

/// A list. Its elements are in order.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// Known elements.
    pub elements: Arc<[Value]>,
    /// Set if the list may have more elements.
    pub rest: Option<Unknown>,
}

/// A text of which some parts are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialText {
    /// Text for messages, such as `release/$X`.
    pub shown: String,
    /// Known parts in order. An unknown part, which may be empty, is before the first, between two, and behind the last.
    pub known: Vec<String>,
    /// `true` if the text starts with the first known part.
    pub starts: bool,
    /// `true` if the text ends with the last known part.
    pub ends: bool,
}

/// An object whose fields are computed when an expression reads them.
pub trait Object: fmt::Debug + Send + Sync {
    /// Returns the fields and methods.
    fn schema(&self) -> &'static Schema;

    /// Returns the value of a field, by its index in [`Schema::fields`].
    fn field(&self, index: usize) -> Value;

    /// Calls a method, by its index in [`Schema::methods`]. No part of the arguments is unknown.
    ///
    /// # Errors
    ///
    /// If the method does not accept the arguments.
    fn call(&self, index: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        let (_, name) = (arguments, self.schema().methods.get(index).map_or("?", |method| method.name));
        Err(FailureKind::Function(format!("`{name}` is not available")))
    }
}

impl Value {
    /// Returns a list without unknown parts.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(List { elements: elements.into_iter().collect(), rest: None })
    }

    /// Returns an unknown value.
    pub fn unknown(fact: impl Into<Arc<str>>) -> Self {
        Self::Unknown(Unknown(fact.into()))
    }

    /// Name of the type for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "a whole number",
            Self::Double(_) => "a number",
            Self::String(_) | Self::Partial(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Object(object) => object.schema().name,
            Self::Unknown(_) => "an unknown value",
        }
    }

    /// Returns the unknown part of a value, if it has one.
    pub fn unknown_part(&self) -> Option<Unknown> {
        match self {
            Self::Unknown(unknown) => Some(unknown.clone()),
            Self::Partial(text) => Some(Unknown(text.shown.as_str().into())),
            Self::List(list) => list.rest.clone().or_else(|| list.elements.iter().find_map(Self::unknown_part)),
            Self::Map(map) => map.values().find_map(Self::unknown_part),
            _ => None,
        }
    }

    /// Compares two values. `None`: a part that matters is unknown.
    pub(crate) fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Unknown(_), _) | (_, Self::Unknown(_)) => None,
            (Self::Null, Self::Null) => Some(true),
            (Self::Bool(own), Self::Bool(other)) => Some(own == other),
            (Self::Int(own), Self::Int(other)) => Some(own == other),
            (Self::Double(own), Self::Double(other)) => Some(own == other),
            #[expect(clippy::cast_precision_loss, reason = "numbers of different types are compared as floats")]
            (Self::Int(int), Self::Double(double)) | (Self::Double(double), Self::Int(int)) => {
                Some(*int as f64 == *double)
            }
            (Self::String(own), Self::String(other)) => Some(own == other),
            (Self::Partial(partial), Self::String(text)) | (Self::String(text), Self::Partial(partial)) => {
                if partial.could_be(text) { None } else { Some(false) }
            }
            (Self::Partial(_), Self::Partial(_)) => None,
            (Self::List(own), Self::List(other)) => own.equals(other),
            (Self::Map(own), Self::Map(other)) => {
                if own.len() != other.len() || own.keys().ne(other.keys()) {
                    return Some(false);
                }
                all(own.values().zip(other.values()).map(|(own, other)| own.equals(other)))
            }
            (Self::Object(own), Self::Object(other)) => Some(Arc::ptr_eq(own, other)),
            _ => Some(false),
        }
    }
}

/// Conjunction of results that may be unknown.
fn all(results: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for result in results {
        match result {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

impl List {
    fn equals(&self, other: &Self) -> Option<bool> {
        if self.rest.is_some() || other.rest.is_some() {
            return None;
        }
        if self.elements.len() != other.elements.len() {
            return Some(false);
        }
        all(self.elements.iter().zip(other.elements.iter()).map(|(own, other)| own.equals(other)))
    }
}

impl PartialText {
    /// `true` if the text could be this one.
    pub fn could_be(&self, text: &str) -> bool {
        let mut rest = text;
        let mut known = self.known.as_slice();
        if self.starts {
            let Some((first, others)) = known.split_first() else { return true };
            let Some(behind) = rest.strip_prefix(first.as_str()) else { return false };
            (rest, known) = (behind, others);
        }
        if self.ends {
            let Some((last, others)) = known.split_last() else { return true };
            let Some(before) = rest.strip_suffix(last.as_str()) else { return false };
            (rest, known) = (before, others);
        }
        // The leftmost place of each part leaves the most text for the others.
        for part in known {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }

    pub(crate) fn starts_with(&self, start: &str) -> Option<bool> {
        match self.known.first().filter(|_| self.starts) {
            Some(first) if first.starts_with(start) => Some(true),
            Some(first) if !start.starts_with(first.as_str()) => Some(false),
            _ => None,
        }
    }

    pub(crate) fn ends_with(&self, end: &str) -> Option<bool> {
        match self.known.last().filter(|_| self.ends) {
            Some(last) if last.ends_with(end) => Some(true),
            Some(last) if !end.ends_with(last.as_str()) => Some(false),
            _ => None,
        }
    }

    /// Compares a path with a directory, as texts.
    pub(crate) fn under(&self, dir: &str) -> Option<bool> {
        let dir = dir.strip_suffix('/').unwrap_or(dir);
        let inside = format!("{dir}/");
        match self.starts_with(&inside) {
            Some(false) if self.could_be(dir) => None,
            other => other,
        }
    }

    /// Returns the text with a known text before it.
    pub(crate) fn after(&self, start: &str) -> Self {
        let mut text = self.clone();
        text.shown.insert_str(0, start);
        match text.known.first_mut().filter(|_| text.starts) {
            Some(first) => first.insert_str(0, start),
            None if start.is_empty() => {}
            None => {
                text.known.insert(0, start.to_owned());
                text.starts = true;
            }
        }
        text
    }

    /// Returns the text with a known text behind it.
    pub(crate) fn before(&self, end: &str) -> Self {
        let mut text = self.clone();
        text.shown.push_str(end);
        match text.known.last_mut().filter(|_| text.ends) {
            Some(last) => last.push_str(end),
            None if end.is_empty() => {}
            None => {
                text.known.push(end.to_owned());
                text.ends = true;
            }
        }
        text
    }

    /// Returns the text with another one behind it.
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        self.shown.push_str(&other.shown);
        let mut parts = other.known.into_iter();
        if self.ends && other.starts {
            let (last, first) = (self.known.last_mut(), parts.next());
            if let (Some(last), Some(first)) = (last, first) {
                last.push_str(&first);
            }
        }
        if self.known.is_empty() {
            self.starts = false;
        }
        self.known.extend(parts);
        self.ends = other.ends;
        self
    }

    pub(crate) fn contains(&self, part: &str) -> Option<bool> {
        self.known.iter().any(|known| known.contains(part)).then_some(true)
    }
}

impl From<bool> for Value {
    fn from(own: bool) -> Self {
        Self::Bool(own)
    }
}

impl From<i64> for Value {
    fn from(own: i64) -> Self {
        Self::Int(own)
    }
}

impl From<&str> for Value {
    fn from(own: &str) -> Self {
        Self::String(own.into())
    }
}

impl From<String> for Value {
    fn from(own: String) -> Self {
        Self::String(own.into())
    }
}

/// Text of a value in messages.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(own) => write!(f, "{own}"),
            Self::Int(own) => write!(f, "{own}"),
            Self::Double(own) => write!(f, "{own}"),
            Self::String(own) => f.write_str(own),
            Self::Partial(own) => f.write_str(&own.shown),
            Self::List(list) => {
                for (index, element) in list.elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "" } else { ", " })?;
                }
                match &list.rest {
                    Some(_) => f.write_str(if list.elements.is_empty() { "…" } else { ", …" }),
                    None => Ok(()),
                }
            }
            Self::Map(map) => {
                f.write_str("{")?;
                for (index, (key, value)) in map.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Object(object) => f.write_str(object.schema().name),
            Self::Unknown(unknown) => f.write_str(&unknown.0),
        }
    }
}
