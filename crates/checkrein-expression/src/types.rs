//! Types of expressions, and the tables of objects and functions that the checker reads.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::failure::FailureKind;
use crate::value::Value;

/// Type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Any value, such as a field of a tool's input. It is checked when the rule runs.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A number with a fraction.
    Double,
    /// A text.
    String,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A text in a format.
    Format(&'static Format),
    /// A whole number from the first to the second.
    Range(i64, i64),
    /// A list.
    List(Inner),
    /// A map with strings as keys.
    Map(Inner),
    /// An object with fixed fields.
    Object(&'static Schema),
    /// A value of this type, or null.
    Nullable(Inner),
}

/// Type of the elements of a list, or similar.
#[derive(Debug, Clone)]
pub enum Inner {
    /// A type in a table.
    Static(&'static Type),
    /// A type that the checker inferred.
    Shared(Arc<Type>),
}

impl Deref for Inner {
    type Target = Type;

    fn deref(&self) -> &Type {
        match self {
            Self::Static(own) => own,
            Self::Shared(own) => own,
        }
    }
}

impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<Type> for Inner {
    fn from(own: Type) -> Self {
        Self::Shared(Arc::new(own))
    }
}

impl Type {
    /// A list of these elements, for tables.
    pub const fn list(element: &'static Self) -> Self {
        Self::List(Inner::Static(element))
    }

    /// A map with these values, for tables.
    pub const fn map(value: &'static Self) -> Self {
        Self::Map(Inner::Static(value))
    }

    /// A value of this type, or null, for tables.
    pub const fn nullable(own: &'static Self) -> Self {
        Self::Nullable(Inner::Static(own))
    }

    /// Returns the type without the limits of its values.
    pub(crate) fn general(self) -> Self {
        match self {
            Self::OneOf(_) | Self::Format(_) => Self::String,
            Self::Range(..) => Self::Int,
            other => other,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::String | Self::OneOf(_) | Self::Format(_))
    }

    fn is_whole(&self) -> bool {
        matches!(self, Self::Int | Self::Range(..))
    }

    pub(crate) fn list_of(element: Self) -> Self {
        Self::List(element.into())
    }

    /// Returns the type without null.
    pub(crate) fn non_null(&self) -> &Self {
        match self {
            Self::Nullable(inner) => inner,
            other => other,
        }
    }

    /// `true` if a value of type `other` can be used where this type is expected.
    pub fn accepts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::OneOf(own), Self::OneOf(other)) => own == other,
            (own, other) if own.is_text() && other.is_text() => true,
            (own, other) if own.is_whole() && other.is_whole() => true,
            (Self::Nullable(_), Self::Null) => true,
            (Self::Nullable(own), Self::Nullable(other)) => own.accepts(other),
            (Self::Nullable(own), other) => own.accepts(other),
            (Self::List(own), Self::List(other)) | (Self::Map(own), Self::Map(other)) => own.accepts(other),
            (Self::Double, other) if other.is_whole() => true,
            (own, other) => own == other,
        }
    }

    /// `true` if values of both types can be equal.
    pub(crate) fn can_equal(&self, other: &Self) -> bool {
        let is_nullable = |own: &Self| matches!(own, Self::Null | Self::Nullable(_) | Self::Any);
        (is_nullable(self) && is_nullable(other))
            || self.non_null().accepts(other.non_null())
            || other.non_null().accepts(self.non_null())
    }

    /// Returns a type that accepts both. `None` if only [`Type::Any`] does.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (own, other) if own == other => own,
            (Self::Null, other) | (other, Self::Null) => match other {
                Self::Nullable(_) | Self::Any => other,
                other => Self::Nullable(other.into()),
            },
            (own, other) if own.is_text() && other.is_text() => Self::String,
            (own, other) if own.is_whole() && other.is_whole() => Self::Int,
            (own, other) if own.accepts(&other) => own,
            (own, other) if other.accepts(&own) => other,
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any value"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("a bool"),
            Self::Int | Self::Range(..) => f.write_str("a whole number"),
            Self::Double => f.write_str("a number"),
            Self::String | Self::OneOf(_) | Self::Format(_) => f.write_str("a string"),
            Self::List(element) => write!(f, "a list of {}", plural(element)),
            Self::Map(_) => f.write_str("a map"),
            Self::Object(schema) => write!(f, "`{}`", schema.name),
            Self::Nullable(inner) => write!(f, "{} or null", **inner),
        }
    }
}

fn plural(own: &Type) -> String {
    match own {
        Type::Any => "values".to_owned(),
        Type::Bool => "bools".to_owned(),
        Type::Int | Type::Range(..) => "whole numbers".to_owned(),
        Type::Double => "numbers".to_owned(),
        Type::String | Type::OneOf(_) | Type::Format(_) => "strings".to_owned(),
        Type::List(_) => "lists".to_owned(),
        Type::Map(_) => "maps".to_owned(),
        other => other.to_string(),
    }
}

/// Format of a text, for literals that an expression compares with it.
pub struct Format {
    /// Judges a literal.
    pub fit: fn(&str) -> Fit,
    /// `true` if `fit` also judges the start of a text and a file pattern, for `startsWith`, `under` and `globs`.
    pub judges_starts: bool,
}

/// Result of [`Format::fit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// The text can have this value.
    Fits,
    /// The text rarely has this value. Help for a warning.
    Unlikely(String),
    /// The text never has this value. Help for an error.
    Never(String),
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Format")
    }
}

/// Fields and methods of an object.
pub struct Schema {
    /// Name in messages and in the reference.
    pub name: &'static str,
    /// Description for the reference.
    pub doc: &'static str,
    /// Fields, in the order of [`Object::field`](crate::Object::field).
    pub fields: &'static [Field],
    /// Methods, in the order of [`Object::call`](crate::Object::call).
    pub methods: &'static [Method],
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    /// Name in expressions.
    pub name: &'static str,
    /// Type of its value.
    pub kind: Type,
    /// Description for the reference.
    pub doc: &'static str,
}

/// A method of an object.
#[derive(Debug)]
pub struct Method {
    /// Name in expressions.
    pub name: &'static str,
    /// Types of the arguments.
    pub parameters: &'static [Type],
    /// Type of the result.
    pub result: Type,
    /// Description for the reference.
    pub doc: &'static str,
}

/// A function that does not depend on the event. It has no side effects.
pub struct Function {
    /// Name in expressions.
    pub name: &'static str,
    /// `true` if the function is called as a method of its first argument.
    pub is_method: bool,
    /// Types of the arguments.
    pub parameters: &'static [Type],
    /// Type of the result.
    pub result: Type,
    /// Description for the reference.
    pub doc: &'static str,
    /// Computes the result. The arguments have the types of `parameters`, and no part of them is unknown.
    pub run: fn(&[Value]) -> Result<Value, FailureKind>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
