//! The schemas that are checked in are those of this code, and fit what it reads and writes.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::path::Path;

use checkrein::dialects::native;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, schema};
use serde_json::{Value, json};

#[test]
fn what_is_checked_in_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for schema::Schema { name, make, .. } in schema::ALL {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&make()).unwrap() + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{} is not current: UPDATE_DOCS=1 cargo test -p checkrein --features schema",
            path.display()
        );
    }
}

#[test]
fn every_schema_is_one() {
    for schema in schema::ALL {
        jsonschema::meta::validate(&(schema.make)()).unwrap();
        assert!(schema::find(schema.name).is_some());
    }
}

fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator.iter_errors(value).map(|error| error.to_string()).collect()
}

#[test]
fn configs_fit_or_do_not() {
    let schema = schema::config();
    let good = [
        json!({}),
        json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": "x", "timeout": 1.5 }] }] } }),
        json!({ "hooks": { "pre_tool_use": { "command": ["a", "b"], "on_failure": "ask", "matcher": "Bash" } } }),
        json!({ "hooks": [{ "events": ["Stop", "session_end"], "url": "https://x", "headers": { "a": "b" } }] }),
        json!({ "include": ["claude", { "dialect": "evva", "path": "x.json", "on_failure": "closed" }] }),
    ];
    for config in &good {
        assert_eq!(errors(&schema, config), [""; 0], "{config}");
    }
    for config in [
        json!([]),
        json!({ "hook": {} }),
        json!({ "hooks": [{ "event": "PreToolUse" }] }),
        json!({ "hooks": { "PreToolUsee": [] } }),
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "x", "timeout": "5" }] }] } }),
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "x", "on_failure": "deny" }] }] } }),
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "x", "tiemout": 5 }] }] } }),
    ] {
        assert!(!errors(&schema, &config).is_empty(), "{config}");
    }
}

#[test]
fn what_hooks_are_given_fits() {
    let event = Event::pre_tool_use(ToolCall::new("Bash", "{}".parse::<checkrein::RawJson>().unwrap()));
    let bytes: Vec<u8> =
        native::DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let payload: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(errors(&schema::event(), &payload), [""; 0]);
    assert!(!errors(&schema::event(), &json!({ "event": "pre_tool_use" })).is_empty());
}

#[test]
fn answers_fit() {
    let schema = schema::answer();
    let answer = json!({ "hookSpecificOutput": { "permissionDecision": "deny", "permissionDecisionReason": "no" } });
    assert_eq!(errors(&schema, &answer), [""; 0]);
    assert!(!errors(&schema, &json!({ "decision": "denny" })).is_empty());
}

#[test]
fn scripts_of_sessions_fit_or_do_not() {
    use checkrein::session::Script;
    let schema = schema::session();
    let good = [
        json!({ "steps": [] }),
        json!({ "description": "x", "session": { "cwd": "/x" }, "steps": [{ "start": "startup" }, { "end": "other" }] }),
        json!({ "steps": [{ "prompt": "hi", "fields": { "session_title": "x" } }, { "stop": "done" }] }),
        json!({ "steps": [{ "tool": "Bash", "input": {}, "failure": "no", "asks": true, "answer": "deny" }] }),
        json!({ "steps": [{ "event": "Notification", "fields": { "message": "x" } }, { "compact": "auto" }] }),
    ];
    let bad = [
        json!({}),
        json!({ "steps": [{}] }),
        json!({ "steps": [{ "prompt": 1 }] }),
        json!({ "steps": [{ "prompt": "a", "stop": "b" }] }),
        json!({ "steps": [{ "tool": "Bash", "answer": "maybe" }] }),
        json!({ "steps": [{ "tool": "Bash", "result": 1, "failure": "x" }] }),
        json!({ "steps": [{ "event": "Nothing" }] }),
        json!({ "session": { "colour": "red" }, "steps": [] }),
    ];
    // The schema and the reader say the same.
    for (scripts, fine) in [(&good[..], true), (&bad[..], false)] {
        for script in scripts {
            assert_eq!(errors(&schema, script).is_empty(), fine, "{script}: {:?}", errors(&schema, script));
            assert_eq!(Script::parse("s.json", &script.to_string()).is_ok(), fine, "{script}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn records_fit() {
    let hook = HookSpec::shell("h", EventKind::PreToolUse, "echo no >&2; exit 2");
    let event = Event::pre_tool_use(ToolCall::new("Bash", "{}".parse::<checkrein::RawJson>().unwrap()));
    let (_, record) = Engine::builder().hook(hook).build().fire_recorded(event).await;
    assert_eq!(errors(&schema::record(), &serde_json::to_value(&record).unwrap()), [""; 0]);
}
