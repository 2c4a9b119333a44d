//! `checkrein bench`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;
use serde_json::Value;

const HOOKS: &str = r#"{ "hooks": {
  "PreToolUse": [
    { "matcher": "Bash", "hooks": [
      { "id": "counts", "command": "echo x >> counted" },
      { "id": "slow", "command": "sleep 0.05" }
    ] },
    { "matcher": "Write|Edit", "hooks": [{ "id": "fails", "command": "exit 1" }] },
    { "matcher": "OurOwnTool", "hooks": [{ "id": "own", "command": "exit 0" }] },
    { "matcher": "^x{3}$", "hooks": [{ "id": "never", "command": "exit 0" }] }
  ],
  "PostToolUse": [{ "id": "later", "command": "echo x >> later", "async": true }],
  "SessionStart": [{ "id": "greets", "command": "echo hi" }, { "id": "off", "command": "true", "enabled": false }]
} }"#;

fn measured(place: &Place, arguments: &[&str]) -> Value {
    let ran = place.run(&[&["bench", "--json"], arguments].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn hook<'a>(all: &'a Value, id: &str) -> &'a Value {
    let events = all["events"].as_array().unwrap();
    let found = events.iter().flat_map(|event| event["hooks"].as_array().unwrap()).find(|hook| hook["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not in {all:#}"))
}

#[test]
fn all_hooks_but_background_ones_are_measured() {
    let place = Place::with(&[(".checkrein/hooks.json", HOOKS)]);
    let all = measured(&place, &["--runs", "4", "--warmup", "2"]);
    let events: Vec<_> =
        all["events"].as_array().unwrap().iter().map(|event| (&event["name"], &event["subject"])).collect();
    assert_eq!(format!("{events:?}").matches("PreToolUse").count(), 3, "{events:?}");
    for id in ["counts", "slow", "fails", "own", "greets"] {
        let hook = hook(&all, id);
        assert_eq!(hook["time"]["runs"], 4, "{id}");
        let (p50, p95, max) = (&hook["time"]["p50_us"], &hook["time"]["p95_us"], &hook["time"]["max_us"]);
        assert!(p50.as_f64() <= p95.as_f64() && p95.as_f64() <= max.as_f64(), "{hook:#}");
        let in_buckets: u64 = hook["histogram"].as_array().unwrap().iter().map(|b| b["count"].as_u64().unwrap()).sum();
        assert_eq!(in_buckets, 4, "{id}");
    }
    assert_eq!(all["floor"]["runs"], 4);
    assert_eq!(hook(&all, "fails")["failures"], 4);
    assert_eq!(hook(&all, "counts")["failures"], 0);
    // Only this hook sleeps, and it cannot be faster than its sleep.
    assert!(hook(&all, "slow")["time"]["p50_us"].as_f64().unwrap() >= 50_000.0);
    let shares = ["counts", "slow"].map(|id| hook(&all, id)["share"].as_f64().unwrap());
    assert!((shares[0] + shares[1] - 1.0).abs() < 1e-9, "{shares:?}");
    assert_eq!(all["not_measured"][0]["id"], "never", "{all:#}");
    let counted = std::fs::read_to_string(place.dir.path().join("counted")).unwrap();
    assert_eq!(counted.lines().count(), 6, "warm-ups are runs too, and nothing runs more often");
    assert!(!place.dir.path().join("later").exists(), "background hooks are not measured");
}

#[test]
fn one_event_can_be_chosen() {
    let place = Place::with(&[(".checkrein/hooks.json", HOOKS)]);
    let all = measured(&place, &["PreToolUse", "--tool", "Write", "--runs", "1", "--warmup", "0"]);
    assert_eq!(all["events"].as_array().unwrap().len(), 1);
    assert_eq!(all["events"][0]["hooks"].as_array().unwrap().len(), 1);
    let ran = place.run(&["bench", "--tool", "Write"]);
    assert!(ran.code == 64 && ran.stderr.contains("event data without an event"), "{}", ran.stderr);
    assert_eq!(place.run(&["bench", "--runs", "0"]).code, 64);
}

#[test]
fn the_table_has_a_row_for_each_hook_and_verbose_adds_histograms() {
    let place = Place::with(&[(".checkrein/hooks.json", HOOKS)]);
    let ran = place.run(&["bench", "PreToolUse", "--runs", "2"]);
    for row in ["x floor", "  slow ", "the agent waits", "an empty process", "failed in 2 of 2 runs"] {
        assert!(ran.stdout.contains(row), "{row}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains('█'), "{}", ran.stdout);
    let ran = place.run(&["bench", "PreToolUse", "--runs", "2", "-v"]);
    assert!(ran.stdout.contains("fails, 2 runs") && ran.stdout.contains('█'), "{}", ran.stdout);
    let nothing = Place::with(&[]).run(&["bench"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, "no hooks to measure; `checkrein list` shows all hooks\n"));
}
