//! Schema of the payloads that hooks of a dialect receive, from the dialect's table.

use checkrein_core::payload::FieldInfo;
use checkrein_core::{Envelope, EventKind, Target};
use checkrein_dialects::Dialect;
use checkrein_dialects::payload::{Absent, FieldEncoding, FieldRow};
use serde_json::{Map, Value, json};

use super::{DRAFT, field_schema};

/// Schema of the payloads of a dialect: one definition per event, under `$defs`. Agents may send more fields.
pub fn payload(dialect: &'static Dialect) -> Value {
    let named = dialect.events.iter().map(|row| (row.name, &row.kind));
    let others = EventKind::ALL.iter().filter(|kind| dialect.has_all_events && dialect.name_of(kind).is_none());
    let all = named.chain(others.map(|kind| (kind.name(), kind)));
    let events: Map<String, Value> =
        all.map(|(name, kind)| (name.to_owned(), event_schema(dialect, name, kind))).collect();
    let any: Vec<_> = events.keys().map(|name| json!({ "$ref": format!("#/$defs/{}", escaped(name)) })).collect();
    json!({ "$schema": DRAFT, "title": format!("Payloads of {} hooks", dialect.name), "anyOf": any, "$defs": events })
}

/// Escapes a key for a JSON pointer in a URL fragment.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1").replace(' ', "%20")
}

fn event_schema(dialect: &'static Dialect, name: &str, kind: &EventKind) -> Value {
    let mut schema = json!({ "type": "object", "properties": {}, "required": [] });
    let row = dialect.events.iter().find(|row| row.name == name);
    for field in dialect.fields_of(row) {
        let info = info(kind, field.from);
        put(&mut schema, field.name, row_schema(field, info), is_always_present(field, info));
    }
    if dialect.payload.all_fields {
        for info in kind.fields().iter().chain(Envelope::fields()) {
            put(&mut schema, info.name, field_schema(info), info.required);
        }
        put(&mut schema, "event", json!({ "const": kind.name() }), true);
    }
    if dialect.payload.includes_original {
        for target in Target::ALL {
            put(&mut schema, &format!("original_{target}"), json!(true), false);
        }
    }
    match row.and_then(|row| row.event_field) {
        Some((place, name)) => put(&mut schema, place, json!({ "const": name }), true),
        None if dialect.payload.event.is_empty() => {}
        None => put(&mut schema, dialect.payload.event, json!({ "const": name }), true),
    }
    schema
}

fn info(kind: &EventKind, name: &str) -> Option<&'static FieldInfo> {
    kind.fields().iter().chain(Envelope::fields()).find(|info| info.name == name)
}

fn row_schema(field: &FieldRow, info: Option<&FieldInfo>) -> Value {
    let own = match (field.form, info) {
        (FieldEncoding::JsonText | FieldEncoding::Text, _) => json!({ "type": "string" }),
        (FieldEncoding::TextIn(_), _) => json!(true),
        (FieldEncoding::TextValues, _) => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        (FieldEncoding::First, info) => {
            json!({ "type": "array", "prefixItems": [info.map_or(json!(true), field_schema)] })
        }
        (_, Some(info)) => field_schema(info),
        (_, None) => json!(true),
    };
    match field.absent {
        Absent::Json(json) if own != json!(true) => {
            let absent: Value = serde_json::from_str(json).unwrap_or_default();
            json!({ "anyOf": [own, { "const": absent }] })
        }
        _ => own,
    }
}

fn is_always_present(field: &FieldRow, info: Option<&FieldInfo>) -> bool {
    match field.absent {
        Absent::Json(_) => true,
        Absent::Omitted => info.is_some_and(|info| info.required),
        _ => false,
    }
}

/// Inserts the schema of a field at its path of keys.
fn put(object: &mut Value, path: &str, schema: Value, required: bool) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let keys = &mut object["required"];
    if let Value::Array(keys) = keys
        && required
        && !keys.iter().any(|own| own == key)
    {
        keys.push(key.into());
    }
    let slot = &mut object["properties"][key];
    match rest {
        None => *slot = schema,
        Some(rest) => {
            if slot["properties"].is_null() {
                *slot = json!({ "type": "object", "properties": {}, "required": [] });
            }
            put(slot, rest, schema, required);
        }
    }
}
