//! JSON and values of expressions, in both directions.

use std::collections::BTreeMap;
use std::sync::Arc;

use checkrein_core::{JsonType, RawJson};
use checkrein_expression::{Unknown, Value};

/// Returns the value of a JSON text. Numbers that fit are whole numbers.
pub(crate) fn value_of_json(json: &RawJson) -> Value {
    match json.json_type() {
        JsonType::Null => Value::Null,
        JsonType::Boolean => Value::Bool(json.as_str().trim() == "true"),
        JsonType::Number => {
            let text = json.as_str().trim();
            match text.parse::<i64>() {
                Ok(number) => Value::Int(number),
                Err(_) => text.parse::<f64>().map_or(Value::Null, Value::Double),
            }
        }
        JsonType::String => json.as_text().map_or(Value::Null, |text| Value::from(&*text)),
        JsonType::Array => Value::list(json.items().into_iter().flatten().map(|item| value_of_json(&item))),
        JsonType::Object => {
            let entries = json.entries().into_iter().flatten();
            let map: BTreeMap<String, Value> =
                entries.map(|entry| (entry.key().into_owned(), value_of_json(&entry.value()))).collect();
            Value::Map(Arc::new(map))
        }
    }
}

/// Returns a value as JSON.
///
/// # Errors
/// A part of the value is unknown.
pub(crate) fn json_of_value(value: &Value) -> Result<String, Unknown> {
    if let Some(unknown) = value.unknown_part() {
        return Err(unknown);
    }
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(own) => own.to_string(),
        Value::Int(own) => own.to_string(),
        Value::Double(own) if own.is_finite() => own.to_string(),
        Value::List(list) => {
            let items: Result<Vec<_>, _> = list.elements.iter().map(json_of_value).collect();
            format!("[{}]", items?.join(","))
        }
        Value::Map(map) => {
            let member = |(key, value): (&String, &Value)| {
                Ok(format!("{}:{}", RawJson::string(key), json_of_value(value)?))
            };
            let members: Result<Vec<_>, Unknown> = map.iter().map(member).collect();
            format!("{{{}}}", members?.join(","))
        }
        other => RawJson::string(&other.to_string()).as_str().to_owned(),
    })
}
