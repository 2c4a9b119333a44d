//! JSON to values, and facts to JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use checkrein_core::{JsonType, RawJson};
use checkrein_expression::{Object, Value};

/// Maximum nesting of JSON that becomes a value. Deeper parts are unknown.
const DEPTH: usize = 32;

/// Returns JSON as a value.
pub(crate) fn value(json: &RawJson) -> Value {
    nested(json, DEPTH)
}

fn nested(json: &RawJson, depth: usize) -> Value {
    if depth == 0 {
        return Value::unknown("a value that is nested too deeply");
    }
    match json.json_type() {
        JsonType::Null => Value::Null,
        JsonType::Boolean => Value::Bool(json.as_bool().unwrap_or_default()),
        JsonType::String => json.as_text().map_or(Value::Null, |text| text.as_ref().into()),
        JsonType::Number => match json.as_str().trim().parse::<i64>() {
            Ok(whole) => Value::Int(whole),
            Err(_) => json.as_str().trim().parse().map_or(Value::Null, Value::Double),
        },
        JsonType::Array => {
            let items: Vec<RawJson> = json.read().unwrap_or_default();
            Value::list(items.iter().map(|item| nested(item, depth - 1)))
        }
        JsonType::Object => {
            let mut map = BTreeMap::new();
            for entry in json.entries().into_iter().flatten() {
                map.insert(entry.key().into_owned(), nested(&entry.to_json(), depth - 1));
            }
            Value::Map(Arc::new(map))
        }
    }
}

/// Returns the fields of an object that `shows` accepts, as JSON.
pub(super) fn object(object: &dyn Object, shows: impl Fn(&str) -> bool) -> RawJson {
    let mut out = String::new();
    write_object(&mut out, object, &shows);
    RawJson::parse(out).unwrap_or_default()
}

fn write_object(out: &mut String, object: &dyn Object, shows: &dyn Fn(&str) -> bool) {
    let fields = object.schema().fields.iter().enumerate().filter(|(_, field)| shows(field.name));
    out.push('{');
    for (count, (index, field)) in fields.enumerate() {
        key(out, count, field.name);
        write(out, &object.field(index));
    }
    out.push('}');
}

fn key(out: &mut String, count: usize, name: &str) {
    if count > 0 {
        out.push(',');
    }
    RawJson::push_string(out, name);
    out.push(':');
}

fn single(out: &mut String, name: &str, text: &str) {
    out.push('{');
    key(out, 0, name);
    RawJson::push_string(out, text);
    out.push('}');
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(own) => out.push_str(if *own { "true" } else { "false" }),
        Value::Int(own) => out.push_str(&own.to_string()),
        Value::Double(own) if own.is_finite() => out.push_str(&own.to_string()),
        Value::Double(_) => out.push_str("null"),
        Value::String(own) => RawJson::push_string(out, own),
        Value::Partial(own) => single(out, "unknown", &own.shown),
        Value::Unknown(own) => single(out, "unknown", &own.0),
        Value::List(list) => {
            out.push('[');
            for (index, element) in list.elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, element);
            }
            if let Some(rest) = &list.rest {
                if !list.elements.is_empty() {
                    out.push(',');
                }
                single(out, "more", &rest.0);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, (name, value)) in map.iter().enumerate() {
                key(out, index, name);
                write(out, value);
            }
            out.push('}');
        }
        Value::Object(object) => write_object(out, object.as_ref(), &|_| true),
    }
}
