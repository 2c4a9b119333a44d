use checkrein_core::{Decision, EventKind, Opinion};
use checkrein_dialects::agents::factory::DIALECT;

use super::HookEffect::To;
use super::*;

const COMMON: &str = r#""session_id":"s","transcript_path":"/t.jsonl","cwd":"/a","permission_mode":"auto-low""#;

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        (
            "PreToolUse",
            EventKind::PreToolUse,
            r#""tool_name":"Create","tool_input":{"file_path":"/a/b","content":"x"}"#,
        ),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#""tool_name":"Execute","tool_input":{"command":"ls"},"tool_response":{"success":true}"#,
        ),
        ("Notification", EventKind::Notification, r#""message":"m""#),
        ("UserPromptSubmit", EventKind::PromptSubmit, r#""prompt":"go""#),
        ("Stop", EventKind::Stop, r#""stop_hook_active":true"#),
        ("SubagentStop", EventKind::SubagentStop, r#""stop_hook_active":false"#),
        ("PreCompact", EventKind::PreCompact, r#""trigger":"manual","custom_instructions":"""#),
        ("SessionStart", EventKind::SessionStart, r#""source":"startup""#),
        ("SessionEnd", EventKind::SessionEnd, r#""reason":"other""#),
    ] {
        assert_payload_round_trip(&DIALECT, &kind, &format!(r#"{{"hook_event_name":"{name}",{COMMON},{own}}}"#));
    }
}

#[test]
fn verdicts_are_rendered() {
    assert_claude_replies(&DIALECT);
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::context("c"), "", 1),
            (&prompt(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, 0),
            (
                &prompt(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}"#,
                0,
            ),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#, 0),
            (&start(), Opinion::halt("no"), r#"{"continue":false,"stopReason":"no"}"#, 0),
        ],
    );
}

#[test]
fn replies_are_read() {
    assert_claude_exits(&DIALECT);
    for (event, code, stdout, expected) in [
        (&gate(), 0, r#"{"decision":"approve"}"#, To(Decision::Allow)),
        (&gate(), 0, r#"{"decision":"block","reason":"r"}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, To(Decision::Ask)),
        (&gate(), 0, r#"{"continue":false}"#, To(Decision::Halt)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    assert_eq!(read(&DIALECT, &prompt(), "some text").contexts(), ["some text"]);
    assert!(read(&DIALECT, &gate(), "some text").contexts().is_empty());
}

#[test]
fn hook_files_are_read_and_written() {
    let bare = r#"{
  "PreToolUse": [
    {"matcher": "Execute", "commandRegex": "^git push", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5}]}
  ],
  "Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]
}"#;
    let decoded = decode(&DIALECT, bare);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2), "events are at the top level of hooks.json");
    assert_eq!(
        (decoded.hooks[0].input[0].field.as_str(), decoded.hooks[0].input[0].matcher.pattern()),
        ("command", "^git push")
    );
    let settings = r#"{"model": "x", "hooks": {"PreToolUse": [{"matcher": "Execute", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}"#;
    assert_eq!(decode(&DIALECT, settings).hooks.len(), 1, "and under `hooks` in settings.json");
    assert_round_trip(&DIALECT, settings);
    assert_problems(
        &DIALECT,
        [
            ("{\n\"PreToolUze\":[]}", &[("unknown-event", 2), ("closed-gate", 2)]),
            ("{\n\"hoks\":{\"PreToolUse\":[]}}", &[("unknown-key", 2), ("closed-gate", 2)]),
            ("{\"PreToolUse\":[\n{\"matcher\":\"Edit\"}]}", &[("missing-key", 2), ("closed-gate", 2)]),
            (
                "{\"PreToolUse\":[{\"hooks\":[\n{\"type\":\"http\",\"url\":\"x\"}]}]}",
                &[("unknown-handler", 2), ("closed-gate", 2)],
            ),
            ("{\"model\":\"x\",\"theme\":[]}", &[]),
        ],
    );
}
