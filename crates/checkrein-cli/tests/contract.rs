//! The interface for scripts: `--json` with its schemas, exit codes, and examples in the help.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::collections::BTreeSet;

use common::Place;
use serde_json::Value;

const HOOKS: &str = r#"{ "hooks": {
  "PreToolUse": [
    { "matcher": "Bash", "hooks": [
      { "id": "denies", "command": "grep -q deny || exit 0; echo no >&2; exit 2" },
      { "id": "asks", "command": "grep -q ask || exit 0; echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'" },
      { "id": "fails", "command": "grep -q fail && exit 1; true" },
      { "id": "halts", "command": "grep -q halt || exit 0; echo '{\"continue\":false,\"stopReason\":\"enough\"}'" },
      { "id": "tried", "command": "echo no >&2; exit 2", "dry_run": true },
      { "id": "off", "command": "exit 2", "enabled": false }
    ] },
    { "matcher": "Never", "hooks": [{ "id": "script", "command": "./none.sh" }] }
  ],
  "Stop": [{ "id": "stops", "url": "http://127.0.0.1:9/", "timeout": 1 }]
} }"#;

fn place() -> Place {
    Place::with(&[(".checkrein/hooks.json", HOOKS), ("bad.json", r#"{ "hooks": { "PreToolUse": 7 } }"#)])
}

/// All commands of the overview.
fn commands() -> Vec<String> {
    let help = place().run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Daily:").take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// Commands without `--json`: their output is for programs, or they need a terminal, or their subcommands have it.
const WITHOUT_JSON: &[&str] = &["approve", "deny", "hook", "live", "schema", "serve", "completions", "man"];

/// Calls with `--json`, and the schema of their output. `None`: the output is a part of the input.
const CALLS: &[(&[&str], Option<&str>)] = &[
    (&["run", "PreToolUse"], Some("record")),
    (&["run", "PreToolUse", "--input", r#"{"command":"deny ask fail"}"#], Some("record")),
    (&["run", "Stop"], Some("record")),
    (&["run", "SessionStart", "--as", "claude"], Some("record")),
    (&["try", "deny ask fail"], Some("try")),
    (&["packs"], Some("packs")),
    (&["packs", "show", "git"], Some("packs")),
    (&["facts", "sudo git push -f $X main"], Some("facts")),
    (&["facts", "--tool", "Write", "--path", "a", "--as", "codex"], Some("facts")),
    (&["facts", "--event", "UserPromptSubmit", "Deploy it."], Some("facts")),
    (&["try", "--tool", "Read", "--path", "a", "--as", "claude,codex,cline"], Some("try")),
    (&["try", "--event", "Stop", "--as", "claude"], Some("try")),
    (&["explain", "PreToolUse", "--all"], Some("explain")),
    (&["explain", "SessionEnd"], Some("explain")),
    (&["packs"], Some("packs")),
    (&["packs", "show", "git"], Some("packs")),
    (&["bench", "--runs", "2", "--warmup", "0"], Some("bench")),
    (&["bench", "SessionEnd"], Some("bench")),
    (&["list"], Some("list")),
    (&["list", "--config", "bad.json"], Some("list")),
    (&["check"], Some("check")),
    (&["check", "bad.json"], Some("check")),
    (&["check", "--explain", "exit-1"], Some("check")),
    (&["convert", "--from", "native", "--to", "native"], Some("convert")),
    (&["convert", "--from", "native", "--to", "ub"], Some("convert")),
    (&["convert", "--from", "native", "--to", "claude", "--force", "--output", "out.json"], Some("convert")),
    (&["init", "--user"], Some("init")),
    (&["init", "--user"], Some("init")),
    (&["init", "--dry-run"], Some("init")),
    (&["init", "--from", "native", "bad.json"], Some("init")),
    (&["install", "claude", "cline", "amp"], Some("install")),
    (&["install", "gemini", "--project", "--dry-run"], Some("install")),
    (&["doctor"], Some("doctor")),
    (&["doctor", "--require", "claude,amp", "--fix"], Some("doctor")),
    (&["status", "--effective"], Some("effective")),
    (&["status", "--no-versions"], Some("status")),
    (&["status", "claude", "amp", "gemini", "--no-versions"], Some("status")),
    (&["uninstall"], Some("install")),
    (&["uninstall", "codex", "--project"], Some("install")),
    (&["trust"], Some("trust")),
    (&["trust", "list"], Some("trust")),
    (&["trust", "approve", "denies", "--yes"], Some("trust-done")),
    (&["trust", "lock"], Some("trust-lock")),
    (&["trust", "check"], Some("trust")),
    (&["trust", "check", "--lock"], Some("trust")),
    (&["trust", "revoke", "denies"], Some("trust-done")),
    (&["events"], Some("events")),
    (&["events", "--as", "ub"], Some("events")),
    (&["events", "stop", "--as", "docker-agent"], Some("events")),
    (&["say", "ask", "sure", "--as", "claude", "--event", "UserPromptSubmit"], Some("say")),
    (&["say", "deny", "no", "--as", "ub"], Some("say")),
    (&["record", "start", "--output", "week.jsonl"], Some("record-status")),
    (&["record", "status"], Some("record-status")),
    (&["record", "stop"], Some("record-status")),
    (&["record", "status"], Some("record-status")),
    (&["serve", "status"], Some("serve-status")),
    (&["coverage"], Some("coverage")),
    (&["coverage", "--agent", "claude", "--since", "1h", "--fail-on", "not-judged"], Some("coverage")),
    (&["log"], Some("log")),
    (&["log", "--denied", "--agent", "claude", "--hook", "denies"], Some("log")),
    (&["approvals"], Some("approvals")),
    (&["approvals", "--all"], Some("approvals")),
    (&["audit", "tail"], Some("audit")),
    (&["audit", "show", "1"], Some("audit")),
    (&["audit", "dry-runs"], Some("audit-dry-runs")),
    (&["audit", "export"], Some("audit")),
    (&["audit", "verify"], Some("audit")),
    (&["replay", "kept.json"], Some("replay")),
    (&["replay", "kept.json", "--dry-run", "--only-changed"], Some("replay")),
    (&["get", "a.b"], None),
];

/// Replaces the placeholder of a time by a number.
fn timed(json: &str) -> String {
    json.replace("\"duration_ms\": N", "\"duration_ms\": 1")
}

#[test]
fn json_output_matches_its_schema() {
    let place = place();
    let kept = place.run(&["run", "PreToolUse", "--input", r#"{"command":"deny"}"#, "--json"]);
    place.write("kept.json", &(timed(&kept.stdout) + "no event\n"));
    place.write("home/.config/checkrein/hooks.yaml", "audit: true\nhooks: []\n");
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"deny"}}"#;
    assert_eq!(place.run_with(&["hook", "claude"], sent).code, 0);
    let schema = |name: &str| -> Value { serde_json::from_str(&place.run(&["schema", name]).stdout).unwrap() };
    for (call, name) in CALLS {
        let ran = place.run_with(&[*call, &["--json"]].concat(), r#"{"a":{"b":[1]}}"#);
        let value: Value = serde_json::from_str(&timed(&ran.stdout)).unwrap_or_else(|_| panic!("{call:?}: {ran:?}"));
        let Some(name) = name else { continue };
        let validator = jsonschema::validator_for(&schema(name)).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{call:?}: {value:#}");
        // A schema that accepts everything would check nothing.
        assert!(!validator.is_valid(&Value::Bool(true)), "{name}");
    }
    let many = place.run(&["run", "PreToolUse", "--as", "native", "--as", "claude", "--json"]).stdout;
    let validator = jsonschema::validator_for(&schema("record")).unwrap();
    let many: Vec<Value> = serde_json::from_str(&timed(&many)).unwrap();
    assert!(many.len() == 2 && many.iter().all(|record| validator.is_valid(record)));
}

#[test]
fn every_command_has_json() {
    let called: BTreeSet<_> = CALLS.iter().map(|(call, _)| call[0]).collect();
    for command in commands() {
        let help = place().run(&[&command, "--help"]).stdout;
        let has = help.lines().any(|line| line.trim_start().starts_with("--json"));
        assert_eq!(has, !WITHOUT_JSON.contains(&command.as_str()), "{command}");
        // `simulate` and `test` have their own tests.
        let elsewhere = ["simulate", "test"].contains(&command.as_str());
        assert!(!has || elsewhere || called.contains(command.as_str()), "{command} --json is not tested");
    }
}

#[test]
fn help_of_every_command_has_an_example() {
    let commands = commands();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in &commands {
        let ran = place().run(&[command, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("Example:\n  "), "{command}: {}", ran.stdout);
        assert!(ran.stdout.contains(&format!("checkrein {command}")), "{command}: {}", ran.stdout);
        let short = place().run(&[command, "-h"]).stdout;
        assert!(short.lines().next().is_some_and(|line| !line.is_empty()), "{command}");
    }
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let place = place();
    let input = |word: &str| format!(r#"{{"command":"{word}"}}"#);
    for (word, code) in [("fine", 0), ("deny", 2), ("halt", 2), ("ask", 3), ("fail", 4)] {
        for call in
            [&["run", "PreToolUse", "--input", &input(word)][..], &["try", word], &["try", word, "--as", "codex"]]
        {
            let ran = place.run(call);
            assert_eq!(ran.code, code, "{call:?}: {ran:?}");
        }
    }
    for (call, code) in [
        (&["explain", "PreToolUse"][..], 0),
        (&["explain", "NoSuchEvent"], 64),
        (&["explain"], 64),
        (&["list", "--dir", "none"], 64),
        (&["check", "--strict"], 1),
        (&["check"], 1),
        (&["check", "--allow", "script-missing"], 0),
        (&["check", "bad.json"], 1),
        (&["bench", "NoSuchEvent"], 64),
        (&["convert", "--from", "native", "--to", "ub"], 1),
        (&["convert", "--from", "claude", "--to", "native"], 1),
        (&["convert", "--from", "native", "--to", "native"], 0),
        (&["try", "ls"], 0),
        (&["try", "--tool", "Read", "--path", "a", "--as", "codex"], 1),
        (&["try"], 64),
        (&["packs"], 0),
        (&["packs", "show", "git", "--source"], 0),
        (&["packs", "show", "gti"], 64),
        (&["facts", "ls"], 0),
        (&["facts"], 64),
        (&["facts", "ls", "--as", "none"], 64),
        (&["facts", "ls", "--event", "Stop"], 64),
        (&["facts", "--input", "[]"], 64),
        (&["try", "ls", "--as", "none"], 64),
        (&["try", "ls", "--event", "Stop"], 64),
        (&["try", "ls", "--event", "NoSuchEvent"], 64),
        (&["init", "--project", "--dry-run"], 0),
        (&["init"], 1),
        (&["init", "--project", "--yes"], 1),
        (&["init", "--from", "claude"], 1),
        (&["init", "x.json"], 64),
        (&["install", "claude"], 0),
        (&["install", "claude"], 0),
        (&["install", "amp"], 1),
        (&["install", "none"], 64),
        (&["install", "claude", "--user", "--project"], 64),
        (&["status", "claude", "--no-versions"], 0),
        (&["doctor", "--require", "claude"], 1),
        (&["doctor", "--require", "none"], 64),
        (&["uninstall", "claude"], 0),
        (&["uninstall", "claude"], 0),
        (&["simulate"], 0),
        (&["simulate", "none.yaml"], 64),
        (&["simulate", "--what"], 64),
        (&["events", "NoSuchEvent"], 64),
        (&["coverage"], 1),
        (&["coverage", "--agent", "none"], 64),
        (&["coverage", "--fail-on", "none"], 64),
        (&["coverage", "--since", "soon"], 64),
        (&["log", "-n", "x"], 64),
        (&["audit", "tail"], 1),
        (&["audit"], 64),
        (&["record", "status"], 0),
        (&["record", "stop"], 0),
        (&["record"], 64),
        (&["replay", "none.jsonl"], 64),
        (&["replay", "bad.json"], 1),
        (&["replay"], 64),
        (&["schema", "none"], 64),
        (&["say", "halt"], 64),
        (&["completions", "none"], 64),
        (&["man", "--dir", "bad.json/x"], 1),
        (&["--version"], 0),
        (&["--help"], 0),
        (&[], 64),
        // `interrupt.rs` tests the codes of signals.
    ] {
        assert_eq!(place.run(call).code, code, "{call:?}: {:?}", place.run(call));
    }
    assert_eq!(place.run_with(&["get", "none"], "{}").code, 1);
    assert_eq!(place.run_with(&["get", "a"], r#"{"a":1}"#).code, 0);
}
