use checkrein_core::payload::Task;
use checkrein_core::{Decision, Event, EventKind, FailureKind, FailurePolicy, HookState, Opinion};
use checkrein_dialects::agents::kiro::DIALECT;

use super::HookEffect::{Fails, To};
use super::*;

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        ("SessionStart", EventKind::SessionStart, ""),
        ("UserPromptSubmit", EventKind::PromptSubmit, r#","prompt":"go""#),
        ("PreToolUse", EventKind::PreToolUse, r#","tool_name":"shell","tool_input":{"command":"ls"}"#),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#","tool_name":"write","tool_input":{},"tool_response":{"success":true,"result":[]}"#,
        ),
        ("Stop", EventKind::Stop, ""),
        ("PostFileSave", EventKind::FileSaved, r#","file_path":"src/a.rs""#),
        ("PreTaskExec", EventKind::PreSpecTask, ""),
        ("Manual", EventKind::Manual, ""),
    ] {
        assert_payload_round_trip(&DIALECT, &kind, &format!(r#"{{"hook_event_name":"{name}","cwd":"/a"{own}}}"#));
    }
}

#[test]
fn verdicts_are_rendered() {
    let task = Event::pre_spec_task(Task::new());
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), "", 0),
            (&gate(), Opinion::deny("no"), "!no [2]", 0),
            (
                &gate(),
                Opinion::ask("?"),
                "!Needs the user's confirmation, and Kiro hooks cannot ask for it: tell the user to run it. (?) [2]",
                1,
            ),
            (
                &gate(),
                Opinion::rewrite_input(json("{}")),
                "!Blocked: hook `h` (code) changes the input. Kiro does not let hooks change the input. Call the tool again with this input: {} [2]",
                1,
            ),
            (&prompt(), Opinion::deny("no"), "!no [2]", 0),
            (&prompt(), Opinion::context("c"), "c", 0),
            (&prompt(), Opinion::deny("no").with_context("c"), "!no [2]", 1),
            (&task, Opinion::deny("no"), "!no [2]", 0),
            (&start(), Opinion::context("c"), "c", 0),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#, 0),
        ],
    );
}

#[test]
fn replies_are_read() {
    for (event, code, stdout, expected) in [
        (&gate(), 0, r#"{"decision":"block"}"#, To(Decision::NoOpinion)),
        (&gate(), 2, "", To(Decision::Deny)),
        (&prompt(), 2, "", To(Decision::Deny)),
        (&stop(), 0, r#"{"decision":"block","reason":"r"}"#, To(Decision::Deny)),
        (&stop(), 2, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        (&gate(), 1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    assert_eq!(read(&DIALECT, &start(), "some text").contexts(), ["some text"]);
}

const FILE: &str = r#"{
  "version": "v1",
  "hooks": [
    {"name": "guard", "trigger": "PreToolUse", "matcher": "^(shell|write)$", "action": {"type": "command", "command": "./guard.sh"}, "timeout": 5},
    {"name": "tests", "trigger": "PostFileSave", "matcher": "\\.rs$", "action": {"type": "agent", "prompt": "run the tests"}, "enabled": false},
    {"name": "slow", "trigger": "Manual", "action": {"type": "command", "command": "./slow.sh"}, "timeout": 0}
  ]
}"#;

#[test]
fn hook_files_are_read_and_written() {
    let decoded = decode(&DIALECT, FILE);
    assert_eq!(problems(&decoded), []);
    let seen: Vec<_> = decoded
        .hooks
        .iter()
        .map(|spec| (spec.info.id.as_str(), spec.handler.kind().name(), spec.state == HookState::Disabled))
        .collect();
    assert_eq!(seen, [("guard", "command", false), ("tests", "agent", true), ("slow", "command", false)]);
    assert!(decoded.hooks[2].timeout.is_some_and(|time| time.as_secs() >= 3600), "0 is no limit");
    assert_round_trip(&DIALECT, FILE);

    assert_problems(
        &DIALECT,
        [
            ("{\"version\":\"v2\",\n\"hooks\":[]}", &[("unknown-version", 1)]),
            (
                "{\"version\":\"v1\",\"hooks\":[\n{\"trigger\":\"PreToolUse\"}]}",
                &[("missing-key", 2), ("closed-gate", 2)],
            ),
            (
                "{\"hooks\":[\n{\"action\":{\"type\":\"command\",\"command\":\"x\"}}]}",
                &[("missing-key", 2), ("closed-gate", 2)],
            ),
            (
                "{\"hooks\":[{\n\"trigger\":\"PreToolUze\",\"action\":{\"type\":\"command\",\"command\":\"x\"}}]}",
                &[("unknown-event", 2), ("closed-gate", 2)],
            ),
            (
                "{\"hooks\":[{\"trigger\":\"PreToolUse\",\"action\":{\n\"type\":\"comand\"}}]}",
                &[("unknown-handler", 2), ("closed-gate", 1)],
            ),
            (
                "{\"hooks\":[{\"trigger\":\"PreToolUse\",\n\"matcher\":\"(\",\"action\":{\"type\":\"command\",\"command\":\"x\"}}]}",
                &[("bad-matcher", 2), ("closed-gate", 1)],
            ),
            ("{\"hooks\":\n{}}", &[("wrong-type", 2)]),
        ],
    );
    assert!(decode(&DIALECT, "{\"hooks\":{}}").unreadable, "a file of which nothing is known closes its gates");
}
