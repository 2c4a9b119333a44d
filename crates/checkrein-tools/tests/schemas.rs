//! Schemas: the files in `schemas/` are current, and the schemas accept what the code reads and writes.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::path::Path;

use checkrein::dialects::agents::native;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, Trust};
use checkrein_tools::schema;
use serde_json::{Value, json};

#[test]
fn schema_files_are_current() {
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
            "{} is not current: UPDATE_DOCS=1 cargo test -p checkrein-tools --test schemas",
            path.display()
        );
    }
}

#[test]
fn every_schema_is_valid() {
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
fn config_schema_accepts_valid_files_only() {
    let schema = schema::config();
    let good = [
        json!({}),
        json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": "x", "timeout": 1.5 }] }] } }),
        json!({ "hooks": { "pre_tool_use": { "command": ["a", "b"], "on_failure": "ask", "matcher": "Bash" } } }),
        json!({ "hooks": [{ "events": ["Stop", "session_end"], "url": "https://x", "headers": { "a": "b" } }] }),
        json!({ "audit": true }),
        json!({ "audit": { "path": "~/a.jsonl", "on_failure": "closed", "max_size": "1GiB", "max_age": "7d" } }),
        json!({ "packs": ["filesystem", { "pack": "git", "ask": ["git.push-any"], "set": { "protected": ["main"] } }] }),
        json!({ "hooks": [{ "id": "x", "when": "true", "params": { "a": [1] }, "vars": { "b": "commands" }, "deny": "no",
            "unknown": "closed", "tests": [{ "command": "ls", "want": "deny" }] }] }),
        json!({ "hooks": [{ "when": "true", "context": "x", "label": "y", "rewrite": { "timeout": 5 } }] }),
        json!({ "include": ["claude", { "dialect": "evva", "path": "x.json", "on_failure": "closed" }] }),
    ];
    for config in &good {
        assert_eq!(errors(&schema, config), [""; 0], "{config}");
    }
    for config in [
        json!({ "packs": ["fielsystem"] }),
        json!({ "packs": [{ "pack": "git", "except": ["git.unknown"] }] }),
        json!({ "packs": [{ "pack": "git", "set": { "unknown": 1 } }] }),
        json!({ "hooks": [{ "when": "true", "deny": "x", "unknown": "deny" }] }),
        json!({ "hooks": [{ "when": "true", "deny": "x", "tests": [{ "comand": "ls", "want": "deny" }] }] }),
        json!([]),
        json!({ "hook": {} }),
        json!({ "audit": { "on_failure": "ask" } }),
        json!({ "audit": { "size": 5 } }),
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
fn event_schema_accepts_payloads() {
    let event = Event::pre_tool_use(ToolCall::new("Bash", "{}".parse::<checkrein::RawJson>().unwrap()));
    let bytes: Vec<u8> =
        native::DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let payload: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(errors(&schema::event(), &payload), [""; 0]);
    assert!(!errors(&schema::event(), &json!({ "event": "pre_tool_use" })).is_empty());
}

#[test]
fn answer_schema_accepts_valid_answers_only() {
    let schema = schema::answer();
    let answer = json!({ "hookSpecificOutput": { "permissionDecision": "deny", "permissionDecisionReason": "no" } });
    assert_eq!(errors(&schema, &answer), [""; 0]);
    assert!(!errors(&schema, &json!({ "decision": "denny" })).is_empty());
}

#[test]
fn session_schema_and_parser_agree() {
    use checkrein_tools::simulate::Script;
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
    // The schema and the parser agree.
    for (scripts, fine) in [(&good[..], true), (&bad[..], false)] {
        for script in scripts {
            assert_eq!(errors(&schema, script).is_empty(), fine, "{script}: {:?}", errors(&schema, script));
            assert_eq!(Script::parse("s.json", &script.to_string()).is_ok(), fine, "{script}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn record_schema_accepts_records() {
    let hook = HookSpec::shell("h", EventKind::PreToolUse, "echo no >&2; exit 2");
    let event = Event::pre_tool_use(ToolCall::new("Bash", "{}".parse::<checkrein::RawJson>().unwrap()));
    let (_, record) = Engine::builder().hook(hook).build().fire_recorded(event).await;
    assert_eq!(errors(&schema::record(), &serde_json::to_value(&record).unwrap()), [""; 0]);
}

#[test]
fn test_case_schema_and_reader_agree() {
    let schema = schema::test_cases();
    let case = |extra: Value, expect: Value| {
        let mut case = json!({ "name": "a", "event": "PreToolUse", "expect": expect });
        case.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({ "cases": [case] })
    };
    let fine = json!({ "decision": "deny" });
    let good = [
        case(json!({}), fine.clone()),
        case(json!({ "as": "claude", "config": ["a.json"], "tool": "Bash", "input": { "a": 1 } }), fine.clone()),
        case(json!({ "files": { "a": "b", "c": { "text": "d", "executable": true } } }), fine.clone()),
        case(json!({ "environment": { "A": "b", "C": 1, "D": null }, "set": { "a.b": 1 } }), fine.clone()),
        case(json!({}), json!({ "reason": null, "context": [], "input": null, "prompt": { "lacks": "x" } })),
        case(json!({}), json!({ "decision": ["ask", "deny"], "max_duration": "5s", "ran": [], "not_ran": "x" })),
        case(json!({}), json!({ "hooks": { "g": { "failure": "timeout", "stdout": "x", "max_duration": 0.5 } } })),
    ];
    let bad = [
        json!({}),
        json!({ "cases": [] }),
        json!({ "cases": [{ "name": "a", "event": "Stop" }] }),
        case(json!({}), json!({})),
        case(json!({}), json!({ "decision": "denny" })),
        case(json!({}), json!({ "reason": 5 })),
        case(json!({}), json!({ "reason": { "contains": "a", "equals": "b" } })),
        case(json!({}), json!({ "hooks": { "g": { "ran": [] } } })),
        case(json!({}), json!({ "hooks": { "g": { "failure": "tiemout" } } })),
        case(json!({ "as": "cluade" }), fine.clone()),
        case(json!({ "files": { "a": { "executable": true } } }), fine.clone()),
        case(json!({ "fils": {} }), fine.clone()),
        case(json!({ "environment": { "A": [] } }), fine),
    ];
    let read = |value: &Value| {
        checkrein_tools::hook_tests::read_text(Path::new("a.test.yaml"), &value.to_string(), &native::DIALECT)
            .diagnostics
    };
    for file in &good {
        assert_eq!(errors(&schema, file), [""; 0], "{file}");
        assert!(read(file).is_empty(), "{file}: {:?}", read(file));
    }
    for file in &bad {
        assert!(!errors(&schema, file).is_empty(), "{file}");
        assert!(!read(file).is_empty(), "{file}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn test_report_schema_accepts_reports() {
    use checkrein_tools::hook_tests::{self, TestReport, TestRunner};
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(project.path().join(".checkrein")).unwrap();
    let hooks = "hooks: [{id: h, event: Stop, command: echo hm}]";
    std::fs::write(project.path().join(".checkrein/hooks.yaml"), hooks).unwrap();
    let runner = TestRunner::new(&native::DIALECT, project.path()).trust(Trust::everything());
    let text = "cases: [{name: a, event: Stop, expect: {decision: deny}}, {name: b, event: Stop, expect: {ran: h}}, {name: c, event: Stop, tool: X, expect: {ran: h}}]";
    let read = hook_tests::read_text(Path::new("a.test.yaml"), text, &native::DIALECT);
    let reports = runner.run_all(&read.cases, 2, false, |_| {}).await;
    let loaded = runner.loaded();
    let probes = hook_tests::probe_all(&runner, &loaded.hooks, 1, std::time::Duration::from_secs(60), |_| {}).await;
    let report = TestReport::new(reports, probes, std::time::Duration::ZERO).with_problems(vec!["x".to_owned()]);
    assert_eq!((report.passed, report.failed, report.errors), (1, 1, 1));
    assert!(!report.contract[0].has_findings(), "{report:?}");
    assert_eq!(errors(&schema::test_report(), &serde_json::to_value(&report).unwrap()), [""; 0]);
}

#[test]
fn config_schema_names_facts_packs_and_test_keys() {
    let schema = schema::config().to_string();
    for (name, _) in checkrein::facts::names() {
        assert!(schema.contains(&format!("`{name}`: ")), "{name}");
    }
    for pack in checkrein::dialects::packs::ALL {
        assert!(schema.contains(&format!("`{}`: ", pack.name)), "{}", pack.name);
    }
    for (name, about) in checkrein_tools::rule_tests::TEST_KEYS {
        assert!(schema.contains(&format!("\"{name}\":")) && schema.contains(about.trim_matches('`')), "{name}");
    }
}
