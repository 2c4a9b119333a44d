use checkrein_core::{ConcurrentRewrites, Decision, EventKind, FailureKind, FailurePolicy, Opinion, RunOrder};
use checkrein_dialects::agents::vscode::DIALECT;

use super::HookEffect::{Fails, To};
use super::*;

const COMMON: &str =
    r#""timestamp":"2026-08-19T10:00:00.000Z","session_id":"s","transcript_path":"/t.jsonl","cwd":"/home/ann/project""#;

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        ("SessionStart", EventKind::SessionStart, r#""source":"new""#),
        ("UserPromptSubmit", EventKind::PromptSubmit, r#""prompt":"go""#),
        (
            "PreToolUse",
            EventKind::PreToolUse,
            r#""tool_name":"create_file","tool_input":{"filePath":"/a","content":"x"},"tool_use_id":"t""#,
        ),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#""tool_name":"run_in_terminal","tool_input":{},"tool_use_id":"t","tool_response":"done""#,
        ),
        ("PreCompact", EventKind::PreCompact, r#""trigger":"auto""#),
        ("SubagentStart", EventKind::SubagentStart, r#""agent_id":"a","agent_type":"Plan""#),
        ("SubagentStop", EventKind::SubagentStop, r#""agent_id":"a","agent_type":"Plan","stop_hook_active":false"#),
        ("Stop", EventKind::Stop, r#""stop_hook_active":true"#),
    ] {
        assert_payload_round_trip(&DIALECT, &kind, &format!(r#"{{"hook_event_name":"{name}",{COMMON},{own}}}"#));
    }
    let call =
        format!(r#"{{"hook_event_name":"PreToolUse",{COMMON},"tool_name":"run_in_terminal","tool_input":{{}}}}"#);
    let event = DIALECT.event(&json(&call), None).unwrap();
    assert_eq!(event.tool_aliases().collect::<Vec<_>>(), ["Bash"], "hooks for Bash match it");
}

#[test]
fn verdicts_are_rendered() {
    assert_claude_replies(&DIALECT);
    assert_rendered(
        &DIALECT,
        &[
            (
                &gate(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}"#,
                0,
            ),
            (&prompt(), Opinion::deny("no"), "!no [2]", 0),
            (
                &start(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
                0,
            ),
            (
                &stop(),
                Opinion::deny("go on"),
                r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"go on"}}"#,
                0,
            ),
        ],
    );
}

#[test]
fn replies_are_read() {
    assert_claude_exits(&DIALECT);
    for (event, code, stdout, expected) in [
        (&gate(), 0, "text", To(Decision::NoOpinion)),
        (
            &gate(),
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            To(Decision::Ask),
        ),
        (&gate(), 0, r#"{"continue":false,"stopReason":"s"}"#, To(Decision::Halt)),
        // The exit code applies, whatever the output.
        (&gate(), 2, r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, To(Decision::Deny)),
        (
            &stop(),
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"r"}}"#,
            To(Decision::Deny),
        ),
        // A key of another event is dropped.
        (
            &gate(),
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"}}"#,
            Fails(FailureKind::Schema, FailurePolicy::Open),
        ),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    assert_eq!(
        (DIALECT.rules.order, DIALECT.rules.concurrent_rewrites),
        (RunOrder::Sequential, ConcurrentRewrites::LastInOrder)
    );
}

#[test]
fn hook_files_are_read_and_written() {
    let text = r#"{"hooks": {
  "PreToolUse": [
    {"type": "command", "command": "./any.sh", "linux": "./linux.sh", "windows": "guard.ps1", "timeout": 5, "env": {"A": "b"}},
    {"matcher": "", "hooks": [{"type": "command", "command": "./claude.sh"}]}
  ]
}}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!(problems(&decoded), []);
    assert_eq!(decoded.hooks.len(), 2);
    let first = format!("{:?}", decoded.hooks[0].handler);
    assert_eq!(first.contains("./linux.sh"), cfg!(target_os = "linux"), "{first}");
    // Copilot's spelling.
    let copilot = r#"{"version": 1, "hooks": {
  "preToolUse": [{"type": "command", "bash": "./guard.sh", "powershell": "guard.ps1", "timeoutSec": 7}],
  "userPromptSubmitted": [{"bash": "./log.sh"}],
  "sessionEnd": [{"bash": "./log.sh"}],
  "agentStop": [{"bash": "./check.sh"}]
}}"#;
    let decoded = decode(&DIALECT, copilot);
    assert_eq!(problems(&decoded), []);
    let kinds: Vec<_> = decoded.hooks.iter().map(|spec| spec.kinds[0].name()).collect();
    assert_eq!(kinds, ["pre_tool_use", "prompt_submit", "stop"]);
    assert_eq!(decoded.hooks[0].timeout.map(|time| time.as_secs()), Some(7));

    assert_problems(
        &DIALECT,
        [
            (
                "{\"hooks\":{\"PreToolUse\":[\n{\"matcher\":\"edit\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
                &[("matcher-ignored", 2)],
            ),
            ("{\"hooks\":{\"PreToolUse\":[\n{\"type\":\"command\"}]}}", &[("bad-command", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\n\"PreToolUze\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)]),
        ],
    );
}
