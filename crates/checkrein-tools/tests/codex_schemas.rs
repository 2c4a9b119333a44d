//! Codex: payloads for hooks and answers to the agent match the schemas in its program.
//!
//! The schemas are strict: an answer with an unknown key has no effect, and then the tool runs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein::dialects::agents::codex::DIALECT;
use checkrein::hook::{HookInfo, Source};
use checkrein::rules::Settlement;
use checkrein::{Event, EventKind, Opinion, RawJson, Rewrite, Scope};
use checkrein_core::Target;
use checkrein_tools::samples;
use serde_json::Value;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// `PreToolUse` as `pre-tool-use`.
fn kebab_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The schema of an event. `None`: the program has none.
fn schema(event: &str, direction: &str) -> Option<jsonschema::Validator> {
    let name = format!("tests/data/codex-0.169.0/{}.command.{direction}.schema.json", kebab_case(event));
    let text = std::fs::read_to_string(data(&name)).ok()?;
    Some(jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap())
}

#[track_caller]
fn assert_valid(schema: &jsonschema::Validator, text: &str, what: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}: {text}"));
    let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}\n{value:#}");
}

fn sent(event: &Event) -> String {
    let bytes: Vec<u8> = DIALECT.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_schema_belongs_to_an_event() {
    let known: BTreeSet<_> = DIALECT
        .events
        .iter()
        .flat_map(|row| ["input", "output"].map(|direction| (row.name, direction)))
        .filter(|(event, direction)| schema(event, direction).is_some())
        .collect();
    let files = std::fs::read_dir(data("tests/data/codex-0.169.0")).unwrap().map(|file| file.unwrap().file_name());
    let schemas = files.filter(|name| name.to_string_lossy().ends_with(".schema.json")).count();
    assert_eq!((known.len(), schemas), (23, 23), "{known:?}");
    // These events have no schema in the program.
    let others: Vec<_> =
        DIALECT.events.iter().filter(|row| schema(row.name, "input").is_none()).map(|row| row.name).collect();
    assert_eq!(others, ["PreModelRequest", "PostModelRequest"]);
}

#[test]
fn payloads_for_hooks_match_the_schemas() {
    for row in DIALECT.events {
        let Some(schema) = schema(row.name, "input") else { continue };
        let mut event = samples::event_of(&DIALECT, &row.kind, None);
        // Codex has these fields in every payload; other agents do not.
        for (name, value) in [("turn_id", r#""t""#), ("model", r#""gpt-6""#)] {
            event.envelope.extra.entry(name.to_owned()).or_insert_with(|| RawJson::parse(value).unwrap());
        }
        assert_valid(&schema, &only_known(row.name, &sent(&event)), row.name);
    }
}

/// Returns the fields of a payload that the table has. Fields that a host adds are passed on to hooks.
fn only_known(event: &str, payload: &str) -> String {
    let row = DIALECT.events.iter().find(|row| row.name == event).unwrap();
    let mut value: Value = serde_json::from_str(payload).unwrap();
    let known: Vec<_> = DIALECT.fields_of(Some(row)).map(|field| field.name).collect();
    value.as_object_mut().unwrap().retain(|name, _| name == "hook_event_name" || known.contains(&name.as_str()));
    value.to_string()
}

#[test]
fn captured_payloads_match_the_schemas() {
    let mut count = 0;
    for file in std::fs::read_dir(data("../checkrein-dialects/tests/captures/codex")).unwrap() {
        let capture: Value = serde_json::from_str(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        let name = capture["event"].as_str().unwrap();
        let schema = schema(name, "input").unwrap_or_else(|| panic!("{name}"));
        assert_valid(&schema, &capture["stdin"].to_string(), name);
        let event = DIALECT.event(&RawJson::parse(capture["stdin"].to_string()).unwrap(), Some(name)).unwrap();
        assert_valid(&schema, &sent(&event), name);
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn answers_match_the_schemas() {
    let json = |text: &str| RawJson::parse(text).unwrap();
    let mut count = 0;
    for row in DIALECT.events {
        let event = samples::event_of(&DIALECT, &row.kind, None);
        let rewrites = [Target::Input, Target::Output, Target::Prompt].map(|target| {
            Opinion::none().with_rewrite(Rewrite::replace(target, event.original(target).unwrap_or(json("\"x\""))))
        });
        let simple = [
            Opinion::none(),
            Opinion::allow(),
            Opinion::ask("sure?"),
            Opinion::deny("no"),
            Opinion::deny(""),
            Opinion::halt("enough"),
            Opinion::context("remember"),
            Opinion::none().with_message("message"),
            Opinion::deny("no").with_message("message").with_context("remember"),
            Opinion::allow().with_message("message").with_context("remember"),
            Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)).with_context("remember"),
        ];
        for opinion in simple.iter().chain(&rewrites) {
            let hook = std::sync::Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)).rewrites());
            let mut settlement = Settlement::new(&DIALECT.rules_at(&row.kind), &event);
            let _ = settlement.push(0, &hook, opinion);
            let answer = DIALECT.render_verdict(&event, &settlement.finish());
            let what = format!("{}: {opinion:?}", row.name);
            match schema(row.name, "output") {
                Some(schema) if answer.stdout.starts_with('{') => {
                    assert_valid(&schema, &answer.stdout, &what);
                    count += 1;
                }
                Some(_) => {}
                None => assert_eq!(answer.stdout, "", "{what}"),
            }
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn events_about_models_are_added_on_request_only() {
    for (name, kind) in [("PreModelRequest", EventKind::BeforeModel), ("PostModelRequest", EventKind::AfterModel)] {
        let row = DIALECT.row(&kind).unwrap();
        assert_eq!((row.name, row.opt_in, row.blocks), (name, true, false));
        let payload = json_payload(name);
        assert_eq!(DIALECT.event(&payload, None).unwrap().kind(), kind);
    }
}

fn json_payload(name: &str) -> RawJson {
    RawJson::parse(format!(r#"{{"hook_event_name":"{name}","session_id":"s","turn_id":"t","cwd":"/","request":{{}}}}"#))
        .unwrap()
}
