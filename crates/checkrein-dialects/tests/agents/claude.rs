//! Claude Code 2.1.325 as a host: rendered verdicts.

use checkrein_dialects::ExitReason;
use checkrein_dialects::agents::claude::DIALECT;

use super::*;

/// A denial is JSON. With an exit code, the model would read the whole command line before the reason.
#[test]
fn verdicts_are_rendered_for_the_agent() {
    let inside = |event: &str, rest: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{event}",{rest}}}}}"#);
    let before = |rest: &str| inside("PreToolUse", rest);
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call("Bash"), Opinion::none(), "", "", 0, ""),
            ("allow", call("Bash"), Opinion::allow(), &before(r#""permissionDecision":"allow""#), "", 0, ""),
            (
                "native deny",
                call("Bash"),
                Opinion::deny("no"),
                &before(r#""permissionDecision":"deny","permissionDecisionReason":"no""#),
                "",
                0,
                "",
            ),
            (
                "ask",
                call("Bash"),
                Opinion::ask("sure?"),
                &before(r#""permissionDecision":"ask","permissionDecisionReason":"sure?""#),
                "",
                0,
                "",
            ),
            ("the run ends", call("Bash"), Opinion::halt("end"), r#"{"continue":false,"stopReason":"end"}"#, "", 0, ""),
            (
                "a rewrite needs no decision",
                call("Bash"),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                &before(r#""updatedInput":{"command":"pwd"}"#),
                "",
                0,
                "",
            ),
            (
                "context before a tool",
                call("Bash"),
                Opinion::context("c"),
                &before(r#""additionalContext":"c""#),
                "",
                0,
                "",
            ),
            (
                "a request",
                request("Bash"),
                Opinion::deny("no"),
                &inside("PermissionRequest", r#""decision":{"behavior":"deny","message":"no"}"#),
                "",
                0,
                "",
            ),
            (
                "feedback after a tool",
                done("Bash"),
                Opinion::deny("bad"),
                r#"{"decision":"block","reason":"bad"}"#,
                "",
                0,
                "",
            ),
            (
                "context after a tool",
                done("Bash"),
                Opinion::context("c"),
                &inside("PostToolUse", r#""additionalContext":"c""#),
                "",
                0,
                "",
            ),
            ("a prompt", prompt(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, "", 0, ""),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"block","reason":"tests"}"#, "", 0, ""),
            (
                "context at the start",
                start(),
                Opinion::context("c"),
                &inside("SessionStart", r#""additionalContext":"c""#),
                "",
                0,
                "",
            ),
        ],
    );
    assert_eq!(DIALECT.host.exit_reason, ExitReason::WithCommandLine);
    assert_eq!(DIALECT.host.failure_switch, Some(("onFailure", "\"block\"")));
}

/// "after-tool exit 2: stderr added for model"; "prompt blocked"; "stop … yes / yes"
#[test]
fn exit_2_blocks_where_observed() {
    for event in [call("Bash"), done("Bash"), prompt(), stop()] {
        assert_eq!(outcome(&DIALECT, &event, End::Exit(2, "", "R")).as_deref(), Some("R"), "{}", event.kind());
    }
}
