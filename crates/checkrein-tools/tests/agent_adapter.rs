//! Agent adapter: managed hooks and the audit log.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test may panic")]

#[path = "../../checkrein/tests/sources/common.rs"]
#[allow(dead_code, reason = "each test uses its own part")]
mod common;

use std::time::Duration;

use checkrein::audit::{AuditLog, EntryKind};
use checkrein::dialects::agents::{claude, native};
use checkrein::hook_files::Sources;
use checkrein::{Engine, FailurePolicy};
use checkrein_tools::agent_adapter::AgentAdapter;

use common::{MANAGED, PROJECT, USER, World, tool_call};

fn adapter(world: &World, sources: Sources) -> AgentAdapter {
    AgentAdapter::new(&claude::DIALECT).sources(sources).dir(world.path("project")).state(world.path("state"))
}

const SENT: &[u8] =
    br#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;

#[test]
fn project_hook_cannot_use_up_the_run_of_a_managed_once_hook() {
    let once = r#"{"protect_self": false, "hooks": [{"id": "guard", "event": "PreToolUse", "matcher": "Bash", "once": true, "command": "exit 2"}]}"#;
    let world = World::with(&[(MANAGED, once)]);
    // A project hook with the same command, for all tools.
    world.write(PROJECT, r#"{"hooks": [{"id": "guard", "event": "PreToolUse", "once": true, "command": "exit 2"}]}"#);
    let adapter = adapter(&world, world.sources());
    for _ in 0..3 {
        let response = adapter.answer(SENT);
        assert!(response.answer.stdout.contains(r#""permissionDecision":"deny""#), "{response:?}");
    }
    assert!(world.codes(&world.load()).contains(&format!("{MANAGED} no-effect")), "the ignored `once` is reported");
}

#[test]
fn broken_managed_hook_fails_closed_despite_fail_open() {
    for broken in ["{", r#"{"hooks": [{"event": "PreToolUse", "command": 7}]}"#] {
        let world = World::with(&[(MANAGED, broken)]);
        let response = adapter(&world, world.sources()).on_failure(FailurePolicy::Open).answer(SENT);
        assert!(response.answer.stdout.contains(r#""permissionDecision":"deny""#), "{broken}: {response:?}");
    }
}

#[test]
fn managed_audit_log_cannot_be_disabled_or_moved() {
    let world =
        World::with(&[(USER, r#"{"audit": {"path": "/tmp/elsewhere.jsonl"}}"#), (PROJECT, r#"{"audit": false}"#)]);
    let log = world.path("log.jsonl").display().to_string();
    world.write(MANAGED, format!(r#"{{"audit": {{"path": "{log}", "on_failure": "closed"}}, "hooks": []}}"#));
    let loaded = world.load();
    assert_eq!(loaded.audit.as_ref().unwrap().path.as_deref(), Some(log.as_str()));
    world.write(USER, r#"{"audit": false, "hooks": [{"event": "PreToolUse", "command": "true"}]}"#);
    let _ = adapter(&world, world.sources()).answer(SENT);
    assert!(std::fs::read_to_string(&log).unwrap().contains("pre_tool_use"));
}

#[test]
fn audit_log_follows_the_settings_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hooks.yaml");
    let text = "audit: {path: logs/audit.jsonl, on_failure: closed, max_size: 64MiB, max_age: 30d}\nhooks: [{id: guard, event: PreToolUse, command: 'exit 2'}]\n";
    std::fs::write(&config, text).unwrap();
    let sources = Sources::of_files(&native::DIALECT, [&config]);
    let loaded = sources.load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let settings = loaded.audit.unwrap();
    assert_eq!((settings.max_size, settings.max_age), (Some(64 << 20), Some(Duration::from_secs(30 * 24 * 3600))));
    assert!(settings.closed);
    let log = AuditLog::new(dir.path().join("logs/audit.jsonl"));
    let adapter = AgentAdapter::new(&claude::DIALECT).sources(sources.clone());
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    assert!(adapter.answer(sent.as_bytes()).answer.stdout.contains("deny"));
    assert!(adapter.answer(b"{\"hook_event_name\":\"PreToolUse\"").answer.stdout.contains("deny"));
    adapter.answer(br#"{"hook_event_name":"Stop"}"#);
    let lines: Vec<_> = log.lines().unwrap().map(|line| line.unwrap().entry).collect();
    let seen: Vec<_> = lines.iter().map(|entry| (entry.kind, entry.agent.as_deref().unwrap())).collect();
    assert_eq!(seen, [(EntryKind::Fire, "claude"), (EntryKind::Refusal, "claude")]);
    assert!(lines[1].reason.as_ref().unwrap().contains("not valid JSON"));
    // An engine with the same files writes to the same log.
    Engine::builder().sources(sources).build().fire_blocking(tool_call("Bash", r#"{"command": "ls"}"#));
    assert_eq!(log.lines().unwrap().count(), 3);
    // If the log cannot be written, the gate is closed.
    std::fs::remove_dir_all(dir.path().join("logs")).unwrap();
    std::fs::write(dir.path().join("logs"), "").unwrap();
    std::fs::write(&config, text.replace("exit 2", "true")).unwrap();
    let response = adapter.answer(sent.as_bytes());
    assert!(response.answer.stdout.contains("deny"), "{response:?}");
}
