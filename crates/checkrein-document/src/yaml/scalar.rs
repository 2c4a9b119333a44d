//! Types of plain scalars, by the core schema of YAML 1.2.

use std::borrow::Cow;

use super::super::node::Value;
use super::super::number::{decimal, integer};

/// The value of a plain scalar. `None` if it is a string. `yes`, `on` and similar words are strings since YAML 1.2.
pub(super) fn resolve<'a>(text: &Cow<'a, str>) -> Option<Value<'a>> {
    match &**text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    let number = match text {
        Cow::Borrowed(text) => number(text)?,
        Cow::Owned(text) => Cow::Owned(number(text)?.into_owned()),
    };
    Some(Value::Number(number))
}

fn number(text: &str) -> Option<Cow<'_, str>> {
    if let Some(digits) = text.strip_prefix("0x") {
        integer(digits, 16).map(Cow::Owned)
    } else if let Some(digits) = text.strip_prefix("0o") {
        integer(digits, 8).map(Cow::Owned)
    } else {
        decimal(text)
    }
}
