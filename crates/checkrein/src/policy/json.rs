//! Values of expressions as JSON.

use checkrein_core::RawJson;
use checkrein_expression::{Unknown, Value};

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
            let member =
                |(key, value): (&String, &Value)| Ok(format!("{}:{}", RawJson::string(key), json_of_value(value)?));
            let members: Result<Vec<_>, Unknown> = map.iter().map(member).collect();
            format!("{{{}}}", members?.join(","))
        }
        other => RawJson::string(&other.to_string()).as_str().to_owned(),
    })
}
