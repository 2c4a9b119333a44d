//! Functions of the language. Programs add their own with [`Environment::functions`](crate::Environment::functions).

use std::sync::Arc;

use crate::failure::FailureKind;
use crate::limits;
use crate::types::{Function, Type};
use crate::value::{List, PartialText, Value};

const STRINGS: Type = Type::list(&Type::String);

/// Methods that the checker knows by name, with their parameters and descriptions for the reference.
pub(crate) static MACROS: &[(&str, &str, &str)] = &[
    ("startsWith", "string", "`true` if the text starts with another one."),
    ("endsWith", "string", "`true` if the text ends with another one."),
    ("contains", "string", "`true` if the text contains another one."),
    ("under", "string", "`true` if a path is a directory or inside of it. Both are compared as texts."),
    (
        "matches",
        "pattern",
        "`true` if a part of the text matches a regular expression, which must be a literal. `\\d`, `\\s`, `\\w` and `\\b` are ASCII.",
    ),
    (
        "globs",
        "pattern or list",
        "`true` if the text matches a file pattern such as `release/*`, which must be a literal or a parameter. `*` does not match `/`; `**` does.",
    ),
    ("exists", "x, condition", "`true` if the condition holds for an element."),
    ("all", "x, condition", "`true` if the condition holds for all elements."),
    ("exists_one", "x, condition", "`true` if the condition holds for exactly one element."),
    ("filter", "x, condition", "The elements for which the condition holds."),
    ("map", "x, value", "The value for each element."),
];

/// All functions besides those of [`MACROS`].
pub(crate) static ALL: &[Function] = &[
    Function {
        name: "size",
        is_method: true,
        parameters: &[Type::String],
        result: Type::Int,
        doc: "Number of characters.",
        run: size,
    },
    Function {
        name: "size",
        is_method: true,
        parameters: &[Type::list(&Type::Any)],
        result: Type::Int,
        doc: "Number of elements.",
        run: size,
    },
    Function {
        name: "size",
        is_method: true,
        parameters: &[Type::map(&Type::Any)],
        result: Type::Int,
        doc: "Number of keys.",
        run: size,
    },
    Function {
        name: "lower",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The text in lower case.",
        run: |values| text(values, 0).map(|own| own.to_lowercase().into()),
    },
    Function {
        name: "upper",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The text in upper case.",
        run: |values| text(values, 0).map(|own| own.to_uppercase().into()),
    },
    Function {
        name: "trim",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The text without white space around it.",
        run: |values| text(values, 0).map(|own| own.trim().into()),
    },
    Function {
        name: "split",
        is_method: true,
        parameters: &[Type::String, Type::String],
        result: STRINGS,
        doc: "The parts between separators.",
        run: |values| {
            let (own, separator) = (text(values, 0)?, text(values, 1)?);
            if separator.is_empty() {
                return Err(FailureKind::Function("`split` needs a separator".to_owned()));
            }
            Ok(Value::list(own.split(separator).map(Value::from)))
        },
    },
    Function {
        name: "join",
        is_method: true,
        parameters: &[STRINGS, Type::String],
        result: Type::String,
        doc: "The elements with a separator between them.",
        run: |values| {
            let Some(Value::List(list)) = values.first() else { return Err(wrong_type("a list", values.first())) };
            let separator = text(values, 1)?;
            let parts: Vec<String> = list.elements.iter().map(Value::to_string).collect();
            let separators = separator.len().saturating_mul(parts.len());
            // The size is the product of both arguments, so they do not limit it.
            if parts.iter().map(String::len).fold(separators, usize::saturating_add) > limits::TEXT_BYTES {
                return Err(FailureKind::TooManySteps);
            }
            Ok(parts.join(separator).into())
        },
    },
    Function {
        name: "string",
        is_method: false,
        parameters: &[Type::Any],
        result: Type::String,
        doc: "The text of a value.",
        run: |values| Ok(values.first().map(Value::to_string).unwrap_or_default().into()),
    },
    Function {
        name: "int",
        is_method: false,
        parameters: &[Type::String],
        result: Type::Int,
        doc: "The whole number that a text has.",
        run: |values| {
            let own = text(values, 0)?;
            let number = own.trim().parse::<i64>();
            number.map(Value::Int).map_err(|_| FailureKind::Function(format!("`{own}` is not a whole number")))
        },
    },
];

/// Returns the result of a function for arguments with unknown parts, if a part of the result is known.
pub(crate) fn partial(name: &str, values: &[Value]) -> Option<Value> {
    let changed = |change: fn(&str) -> String| match values {
        [Value::Partial(own)] => {
            let (shown, known) = (change(&own.shown), own.known.iter().map(|part| change(part)).collect());
            Some(Value::Partial(Arc::new(PartialText { shown, known, ..PartialText::clone(own) })))
        }
        _ => None,
    };
    match (name, values) {
        ("lower", _) => changed(str::to_lowercase),
        ("upper", _) => changed(str::to_uppercase),
        ("join", [Value::List(list), Value::String(separator)]) => joined(list, separator),
        _ => None,
    }
}

/// Returns the elements of a list with a separator between them. An unknown element is an unknown part of the text.
fn joined(list: &List, separator: &str) -> Option<Value> {
    let mut all: Option<PartialText> = None;
    let gap = |shown: &str| PartialText { shown: shown.to_owned(), known: Vec::new(), starts: false, ends: false };
    let rest = list.rest.iter().map(|rest| Value::Unknown(rest.clone()));
    for element in list.elements.iter().cloned().chain(rest) {
        let element = match &element {
            Value::Partial(own) => PartialText::clone(own),
            Value::String(own) => {
                let text = own.as_ref().to_owned();
                PartialText { shown: text.clone(), known: vec![text], starts: true, ends: true }
            }
            Value::Unknown(unknown) => gap(&unknown.0),
            _ => return None,
        };
        let joined = match all.take() {
            Some(before) => before.before(separator).followed_by(element),
            None => element,
        };
        if joined.shown.len() > limits::TEXT_BYTES {
            return None;
        }
        all = Some(joined);
    }
    all.map(|all| Value::Partial(Arc::new(all)))
}

fn size(values: &[Value]) -> Result<Value, FailureKind> {
    let size = match values.first() {
        Some(Value::String(own)) => own.chars().count(),
        Some(Value::List(list)) => list.elements.len(),
        Some(Value::Map(map)) => map.len(),
        other => return Err(wrong_type("a string, a list or a map", other)),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

/// Returns a text argument. The type of an argument that comes from a tool's input is known only here.
fn text(values: &[Value], index: usize) -> Result<&str, FailureKind> {
    match values.get(index) {
        Some(Value::String(own)) => Ok(own),
        other => Err(wrong_type("a string", other)),
    }
}

fn wrong_type(expected: &str, found: Option<&Value>) -> FailureKind {
    FailureKind::WrongType { expected: expected.to_owned(), found: found.map_or("nothing", Value::type_name) }
}
