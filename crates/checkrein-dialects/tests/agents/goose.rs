//! goose 1.50.0.

use checkrein_core::{EventKind, FailureKind, FailurePolicy};
use checkrein_dialects::agents::goose::DIALECT;

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let block = |reason: &str| format!(r#"{{"decision":"block","reason":"{reason}"}}"#);
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call("shell"), Opinion::none(), "", "", 0, ""),
            ("hooks cannot allow", call("shell"), Opinion::allow(), "", "", 0, ""),
            ("native deny", call("shell"), Opinion::deny("no"), &block("no"), "", 0, ""),
            (
                "it cannot ask",
                call("shell"),
                Opinion::ask("sure?"),
                &block(
                    "Needs the user's confirmation, and goose hooks cannot ask for it: tell the user to run it. (sure?)",
                ),
                "",
                0,
                "so this was denied",
            ),
            (
                "continue is ignored",
                call("shell"),
                Opinion::halt("no"),
                &block("no (goose hooks cannot halt; stop and tell the user)"),
                "",
                0,
                "so this was denied",
            ),
            (
                "no rewrite",
                call("shell"),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                &block(
                    "Blocked: hook `h` (code) changes the input. goose does not let hooks change the input. Call the tool again with this input: {\\\"command\\\":\\\"pwd\\\"}",
                ),
                "",
                0,
                "so this was denied",
            ),
            ("no context", call("shell"), Opinion::context("c"), "", "", 0, "cannot send context"),
            ("no context after a tool", done("shell"), Opinion::context("c"), "", "", 0, "cannot send context"),
            ("a prompt cannot be stopped", prompt(), Opinion::deny("no"), "", "", 0, "is dropped"),
            ("go on", stop(), Opinion::deny("tests"), &block("tests"), "", 0, ""),
            ("no context at the start", start(), Opinion::context("c"), "", "", 0, "cannot send context"),
        ],
    );
}

/// "`matcher_context` says what the matcher saw"
#[test]
fn matchers_see_the_subject_of_the_event() {
    let capture =
        |event: &str, more: &str| json(&format!(r#"{{"event":"{event}","session_id":"s",{more},"working_dir":"/w"}}"#));
    for (sent, seen) in [
        (
            capture(
                "BeforeShellExecution",
                r#""matcher_context":"echo hi","tool_name":"shell","tool_input":{"command":"echo hi"}"#,
            ),
            "echo hi",
        ),
        (
            capture(
                "AfterFileEdit",
                r#""matcher_context":"/w/a","tool_name":"write","tool_input":{"path":"/w/a","content":"x"}"#,
            ),
            "/w/a",
        ),
        (
            capture("PreToolUse", r#""matcher_context":"shell","tool_name":"shell","tool_input":{"command":"ls"}"#),
            "shell",
        ),
        (json(r#"{"event":"UserPromptSubmit","session_id":"s","matcher_context":"hello","message":"hello"}"#), "hello"),
    ] {
        let event = DIALECT.event(&sent, None).unwrap();
        assert_eq!(DIALECT.subject(&event).as_deref(), Some(seen));
        let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        assert!(RawJson::parse_bytes(&bytes).unwrap().semantically_eq(&sent));
    }
}

/// "`\"on_failure\":\"block\"` … turn these into BLOCK"
#[test]
fn failures_block_with_on_failure() {
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"shell","hooks":[{"type":"command","command":"${PLUGIN_ROOT}/guard","timeout":5,"on_failure":"block"}]}]}}"#;
    let decoded = decode(&DIALECT, "hooks.json", text);
    assert_eq!(problems(&decoded), []);
    assert_eq!(decoded.hooks[0].info.on_failure, Some(FailurePolicy::Closed));
    assert_eq!(
        DIALECT.failure_effect(&EventKind::PreToolUse, FailureKind::Exit),
        FailurePolicy::Open,
        "unless it does"
    );
    assert_eq!(DIALECT.host.failure_switch, Some(("on_failure", "\"block\"")));
    assert_round_trip(&DIALECT, "hooks.json", &decoded);
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        (
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"type\": \"command\", \"command\": \"x\", \"on_failure\": \"deny\"}]}]}}",
            vec![("unknown-value", 2, 53), ("closed-gate", 2, 3)],
        ),
        ("{\"hooks\": {\n  \"PreTolUse\": []}}", vec![("unknown-event", 2, 3), ("closed-gate", 2, 3)]),
        ("{\"hooks\": {\"Stop\": [\n  {\"hooks\": 5}]}}", vec![("wrong-type", 2, 13)]),
    ] {
        assert_eq!(problems(&decode(&DIALECT, "hooks.json", text)), expected, "{text}");
    }
}
