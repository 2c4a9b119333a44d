use checkrein_core::{Decision, EventKind, FailureKind, FailurePolicy, Opinion, RewriteMode};
use checkrein_dialects::agents::crush::DIALECT;

use super::HookEffect::{Fails, To};
use super::*;

#[test]
fn payloads_round_trip() {
    let sent = r#"{"event":"PreToolUse","session_id":"s","cwd":"/a","tool_name":"bash","tool_input":{"command":"ls"}}"#;
    let event = assert_payload_round_trip(&DIALECT, &EventKind::PreToolUse, sent);
    assert_eq!(event.tool_aliases().collect::<Vec<_>>(), ["Bash"]);
}

#[test]
fn verdicts_are_rendered() {
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), r#"{"decision":"allow"}"#, 0),
            (&gate(), Opinion::deny("no"), r#"{"decision":"deny","reason":"no"}"#, 0),
            (
                &gate(),
                Opinion::ask("?"),
                r#"{"decision":"deny","reason":"Needs the user's confirmation, and Crush hooks cannot ask for it: tell the user to run it. (?)"}"#,
                1,
            ),
            (&gate(), Opinion::halt("enough"), r#"{"halt":true,"reason":"enough"}"#, 0),
            (
                &gate(),
                Opinion::rewrite_input(json(r#"{"command":"ls -l"}"#)),
                r#"{"updated_input":{"command":"ls -l"}}"#,
                0,
            ),
            (&gate(), Opinion::context("c"), r#"{"context":"c"}"#, 0),
            // Crush has no messages for the user.
            (&gate(), Opinion::none().with_message("m"), "", 1),
        ],
    );
    // A merge cannot remove a field.
    let without = render(&DIALECT, &gate(), &Opinion::rewrite_input(json(r#"{"other":1}"#)));
    assert!(without.stdout.contains(r#""decision":"deny""#), "{without:?}");
}

#[test]
fn replies_are_read() {
    for (code, stdout, expected) in [
        (0, "", To(Decision::NoOpinion)),
        (0, "text", To(Decision::NoOpinion)),
        (0, r#"{"version":1,"decision":"allow"}"#, To(Decision::Allow)),
        (0, r#"{"decision":"deny","reason":"r"}"#, To(Decision::Deny)),
        (0, r#"{"halt":true,"reason":"r"}"#, To(Decision::Halt)),
        (
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
            To(Decision::Deny),
        ),
        (2, "", To(Decision::Deny)),
        (2, r#"{"decision":"allow"}"#, To(Decision::Deny)),
        (49, "", To(Decision::Halt)),
        (1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        (1, r#"{"decision":"deny"}"#, Fails(FailureKind::Exit, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, &gate(), code, stdout, "why"), expected, "{code} {stdout}");
    }
    for text in [r#"{"updated_input":{"a":1}}"#, r#"{"updated_input":"{\"a\":1}"}"#] {
        let rewrites = read(&DIALECT, &gate(), text);
        let rewrite = &rewrites.rewrites()[0];
        assert_eq!(rewrite.mode, RewriteMode::Merge);
        assert!(rewrite.value.semantically_eq(&json(r#"{"a":1}"#)), "{text}");
    }
    assert_eq!(read(&DIALECT, &gate(), r#"{"context":["a","b"]}"#).contexts(), ["a", "b"]);
}

#[test]
fn hook_files_are_read_and_written() {
    let text = r#"{
  "providers": {},
  "hooks": {
    "PreToolUse": [{"name": "guard", "matcher": "^(edit|write)$", "command": "./guard.sh", "timeout": 5}],
    "pre_tool_use": [{"command": "./log.sh"}]
  }
}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2), "names are not particular about case and `_`");
    assert_eq!(decoded.hooks[0].info.id, "guard");
    assert_eq!(decoded.hooks[1].timeout_for(&EventKind::PreToolUse).as_secs(), 30);
    assert_round_trip(&DIALECT, text);
    assert_problems(
        &DIALECT,
        [
            ("{\"hooks\":{\"PreToolUse\":[\n{\"matcher\":\"bash\"}]}}", &[("missing-key", 2), ("closed-gate", 2)]),
            (
                "{\"hooks\":{\"PreToolUse\":[\n{\"command\":\"x\",\"matcher\":\"[\"}]}}",
                &[("bad-matcher", 2), ("closed-gate", 2)],
            ),
            ("{\"hooks\":{\n\"PostToolUse\":[]}}", &[("unknown-event", 2)]),
        ],
    );
}
