use checkrein_core::payload::ToolCall;
use checkrein_core::{Decision, Event, EventKind, Opinion};
use checkrein_dialects::agents::devin::DIALECT;

use super::HookEffect::To;
use super::*;

fn request() -> Event {
    Event::permission_request(ToolCall::new("exec", json(r#"{"command":"ls"}"#)))
}

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        ("SessionStart", EventKind::SessionStart, ""),
        ("SessionEnd", EventKind::SessionEnd, ""),
        ("UserPromptSubmit", EventKind::PromptSubmit, r#","prompt":"go""#),
        ("PreToolUse", EventKind::PreToolUse, r#","tool_name":"exec","tool_input":{"command":"ls"}"#),
        ("PermissionRequest", EventKind::PermissionRequest, r#","tool_name":"write","tool_input":{}"#),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#","tool_name":"exec","tool_input":{},"tool_response":{"success":false,"output":"","error":"e"}"#,
        ),
        ("Stop", EventKind::Stop, r#","last_assistant_message":"done","stop_hook_active":false"#),
        ("PostCompaction", EventKind::PostCompact, ""),
    ] {
        assert_payload_round_trip(
            &DIALECT,
            &kind,
            &format!(r#"{{"hook_event_name":"{name}","session_id":"s","prompt_id":"p"{own}}}"#),
        );
    }
}

#[test]
fn verdicts_are_rendered() {
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), "", 0),
            (&request(), Opinion::allow(), r#"{"decision":"approve"}"#, 0),
            (&gate(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, 0),
            (&request(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, 0),
            (
                &gate(),
                Opinion::ask("?"),
                r#"{"decision":"block","reason":"Needs the user's confirmation, and Devin hooks cannot ask for it: tell the user to run it. (?)"}"#,
                1,
            ),
            (
                &gate(),
                Opinion::halt("enough"),
                r#"{"decision":"block","reason":"enough (Devin hooks cannot halt; stop and tell the user)"}"#,
                1,
            ),
            (
                &gate(),
                Opinion::rewrite_input(json("{}")),
                r#"{"decision":"block","reason":"Blocked: hook `h` (code) changes the input. Devin does not let hooks change the input. Call the tool again with this input: {}"}"#,
                1,
            ),
            (&gate(), Opinion::context("c"), "", 1),
            (&start(), Opinion::context("c"), "", 1),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#, 0),
            (&done(), Opinion::deny("wrong"), "", 1),
        ],
    );
}

#[test]
fn replies_are_read() {
    assert_claude_exits(&DIALECT);
    for (event, code, stdout, expected) in [
        (&gate(), 0, r#"{"decision":"deny","reason":"r"}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"decision":"block","reason":"r"}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"decision":"approve"}"#, To(Decision::NoOpinion)),
        (&request(), 0, r#"{"decision":"approve"}"#, To(Decision::Allow)),
        (&stop(), 0, r#"{"decision":"block","reason":"r"}"#, To(Decision::Deny)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
}

#[test]
fn hook_files_are_read_and_written() {
    let bare = r#"{
  "PreToolUse": [{"matcher": "^exec$", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5}]}],
  "Stop": [{"hooks": [{"type": "prompt", "prompt": "is it done?"}]}]
}"#;
    let decoded = decode(&DIALECT, bare);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2), "hooks.v1.json is the events themselves");
    let claude = r#"{"permissions": {}, "hooks": {
  "PreToolUse": [{"hooks": [{"type": "command", "command": "x", "async": false, "statusMessage": "m"}]}],
  "SubagentStop": [{"hooks": [{"type": "command", "command": "x"}]}]
}}"#;
    let decoded = decode(&DIALECT, claude);
    assert_eq!(
        (problems(&decoded), decoded.hooks.len()),
        (vec![], 1),
        "Claude Code's files, as far as they are for it"
    );
    assert_round_trip(&DIALECT, bare);
    assert_problems(
        &DIALECT,
        [
            (
                "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[\n{\"command\":\"x\"}]}]}}",
                &[("missing-key", 2), ("closed-gate", 2)],
            ),
            ("{\n\"PreToolUze\":[]}", &[("unknown-event", 2), ("closed-gate", 2)]),
            ("[\n]", &[("wrong-type", 1)]),
        ],
    );
}
