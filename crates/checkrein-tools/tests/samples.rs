//! Samples: a payload for every event of every dialect, in the shape of the dialect's table and of captured payloads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein::dialects::agents::claude;
use checkrein::dialects::{ALL, Dialect};
use checkrein::{EventKind, RawJson};
use checkrein_tools::{samples, schema};
use serde_json::Value;

/// Captured payload: dialect, event name in the dialect, and payload.
type Captured = (&'static Dialect, String, RawJson);

/// All captures, in a stable order: basic captures of an event first.
fn captures() -> Vec<Captured> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkrein-dialects/tests/captures");
    let sorted = |folder: &Path| -> Vec<PathBuf> {
        let mut all: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        // `Stop.json` before `Stop.again.json`.
        all.sort_by_key(|path| path.to_string_lossy().trim_end_matches(".json").to_owned());
        all
    };
    let mut all = Vec::new();
    for agent in sorted(&folder) {
        let name = agent.file_name().unwrap().to_string_lossy().into_owned();
        let dialect = ALL.iter().copied().find(|dialect| dialect.name.replace('@', "-") == name);
        let dialect = dialect.unwrap_or_else(|| panic!("there are captures of {name}, but no such dialect"));
        for file in sorted(&agent) {
            // All other samples use the home directory of `ann`.
            let text = std::fs::read_to_string(&file).unwrap().replace("/home/dev", "/home/ann");
            let capture = RawJson::parse(text).unwrap();
            let event = capture.field("event").unwrap().as_text().unwrap().into_owned();
            all.push((dialect, event, capture.field("stdin").unwrap()));
        }
    }
    all
}

/// Removes white space between values.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let kept = json.chars().filter(|&c| {
        let keep = inside || !c.is_whitespace();
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
        keep
    });
    kept.collect()
}

#[test]
fn the_library_has_all_captures() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/samples/captures.tsv");
    let mut lines = String::new();
    for (dialect, event, sent) in captures() {
        lines += &format!("{}\t{event}\t{}\n", dialect.name, compact(sent.as_str()));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == lines, "captures.tsv is not current: UPDATE_DOCS=1 cargo test -p checkrein-tools --test samples");
}

/// Every event of a dialect: its name in the dialect, and its kind.
fn events(dialect: &'static Dialect) -> Vec<(&'static str, &'static EventKind)> {
    let others = EventKind::ALL.iter().filter(|kind| dialect.has_all_events && dialect.name_of(kind).is_none());
    let mut seen = BTreeSet::new();
    let named = dialect.events.iter().map(|row| (row.name, &row.kind));
    // A kind with several names has one payload, under the first name.
    let all = named.chain(others.map(|kind| (kind.name(), kind)));
    all.filter(|(_, kind)| seen.insert(kind.name().to_owned())).collect()
}

fn validator(schema: &Value, event: &str) -> jsonschema::Validator {
    let own = &schema["$defs"][event];
    assert!(own.is_object(), "there is no schema of {event}: {}", schema["title"]);
    jsonschema::validator_for(own).unwrap()
}

/// Returns `true` if the payload has all required fields of the event. Some agents do not even send the prompt.
fn has_required_fields(dialect: &Dialect, name: &str, kind: &EventKind) -> bool {
    let row = dialect.events.iter().find(|row| row.name == name);
    let rows = || dialect.payload.fields.iter().chain(row.map_or(&[][..], |row| row.fields));
    let mut required = kind.fields().iter().filter(|field| field.required);
    dialect.payload.all_fields || required.all(|field| rows().any(|row| row.from == field.name))
}

#[track_caller]
fn fits(validator: &jsonschema::Validator, payload: &RawJson, what: &str) {
    let value: Value = serde_json::from_str(payload.as_str()).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(&value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert_eq!(errors, [""; 0], "{what}: {value:#}");
}

#[test]
fn every_event_of_every_dialect_fits_its_schema() {
    let mut count = 0;
    for dialect in ALL.iter().copied() {
        let schema = schema::payload(dialect);
        jsonschema::meta::validate(&schema).unwrap();
        for (name, kind) in events(dialect) {
            let validator = validator(&schema, name);
            let tools = [None, Some("Bash"), Some("Write"), Some("no_such_tool")];
            for tool in tools.into_iter().filter(|tool| tool.is_none() || samples::event(kind).tool_name().is_some()) {
                let payload = samples::payload(dialect, kind, tool);
                fits(&validator, &payload, &format!("{} {name} {tool:?}", dialect.name));
                count += 1;
                if !has_required_fields(dialect, name, kind) {
                    continue;
                }
                let event = dialect.event(&payload, Some(name));
                let event = event.unwrap_or_else(|error| panic!("{} {name}: {error}: {payload}", dialect.name));
                assert_eq!(event.kind(), *kind, "{} {name}", dialect.name);
                // The event has the agent's own tool name, if there is one.
                let named =
                    |tool: &str| event.tool_name() == Some(tool) || event.tool_aliases().any(|alias| alias == tool);
                assert!(tool.is_none_or(named), "{} {name} {tool:?}: {payload}", dialect.name);
            }
            assert!(
                !validator.is_valid(&serde_json::json!({})),
                "{} {name}: the schema accepts an empty object",
                dialect.name
            );
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn captures_fit_the_schema() {
    // The tables of some dialects have only names and no fields yet.
    for (dialect, event, sent) in captures().iter().filter(|(dialect, _, _)| !dialect.payload.fields.is_empty()) {
        fits(&validator(&schema::payload(dialect), event), sent, &format!("{} {event}", dialect.name));
    }
}

fn keys(json: &RawJson) -> BTreeSet<String> {
    json.entries().into_iter().flatten().map(|entry| entry.key().into_owned()).collect()
}

#[test]
fn samples_are_shaped_like_captures() {
    let mut compared = 0;
    for (dialect, name, sent) in captures().iter().filter(|(dialect, _, _)| !dialect.payload.fields.is_empty()) {
        let event = dialect.event(sent, Some(name)).unwrap();
        let Some(tool) = event.tool_name() else { continue };
        let sample = samples::payload(dialect, &event.kind(), Some(tool));
        let made = dialect.event(&sample, Some(name)).unwrap();
        assert_eq!(keys(&sample), keys(sent), "{} {name} {tool}", dialect.name);
        let inputs = [&made, &event].map(|event| keys(event.tool_input().unwrap()));
        assert_eq!(inputs[0], inputs[1], "{} {name} {tool}", dialect.name);
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn all_samples_are_of_one_session() {
    let real = samples::event_of(&claude::DIALECT, &EventKind::PreToolUse, Some("Bash"));
    let made_up = samples::event(&EventKind::PreToolUse);
    assert!(real.envelope.extra.contains_key("prompt_id"), "only a capture has it: {real:?}");
    assert_eq!(real.envelope.session_id, made_up.envelope.session_id);
    assert_eq!(real.envelope.cwd, made_up.envelope.cwd);
    assert_eq!(real.envelope.permission_mode, made_up.envelope.permission_mode);
}

#[test]
fn tool_without_capture_has_a_sample_input() {
    let grep = samples::payload(&claude::DIALECT, &EventKind::PreToolUse, Some("Grep"));
    assert!(grep.field("prompt_id").is_some(), "{grep}");
    assert_eq!(grep.field("tool_name").unwrap().as_text().as_deref(), Some("Grep"));
    assert!(grep.field("tool_input").unwrap().field("pattern").is_some(), "{grep}");
}

/// An optional field with another type than checkrein's does not lose an event for its hooks.
#[test]
fn optional_fields_of_another_type_are_kept() {
    let mut count = 0;
    for dialect in ALL {
        for row in dialect.events {
            let payload = samples::payload(dialect, &row.kind, None);
            // Some tables have no fields for an event.
            if dialect.event(&payload, Some(row.name)).is_err() {
                continue;
            }
            let payload: Value = payload.read().unwrap();
            let known = || checkrein::Envelope::fields().iter().chain(row.kind.fields());
            for info in known().filter(|info| !info.required) {
                for value in [r#"{"a":1}"#, "[1]", "-1.5", "true", r#""text""#] {
                    let mut changed = payload.clone();
                    changed[info.name] = serde_json::from_str(value).unwrap();
                    let changed = RawJson::parse(changed.to_string()).unwrap();
                    let event = dialect.event(&changed, Some(row.name));
                    let event = event.unwrap_or_else(|error| panic!("{} {}: {error}", dialect.name, row.name));
                    // The event has a canonical form, which recordings contain.
                    let again = checkrein::Event::from_json(&event.to_json());
                    assert!(again.is_ok(), "{} {} {}: {again:?}", dialect.name, row.name, info.name);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}
