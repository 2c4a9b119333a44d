//! Letta Code 0.32.18.

use std::time::Duration;

use checkrein_dialects::agents::letta::DIALECT;

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call("Bash"), Opinion::none(), "", "", 0, ""),
            ("exit 2 alone denies", call("Bash"), Opinion::deny("no"), "", "no", 2, ""),
            (
                "it cannot ask",
                call("Bash"),
                Opinion::ask("sure?"),
                "",
                "Needs the user's confirmation, and Letta Code hooks cannot ask for it: tell the user to run it. (sure?)",
                2,
                "so this was denied",
            ),
            (
                "continue is ignored",
                call("Bash"),
                Opinion::halt("no"),
                "",
                "no (Letta Code hooks cannot halt; stop and tell the user)",
                2,
                "so this was denied",
            ),
            (
                "a rewrite needs no decision",
                call("Bash"),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                r#"{"hookSpecificOutput":{"updatedInput":{"command":"pwd"}}}"#,
                "",
                0,
                "",
            ),
            ("no context before a tool", call("Bash"), Opinion::context("c"), "", "", 0, "cannot send context"),
            (
                "context after a tool",
                done("Bash"),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            ("feedback after a tool", done("Bash"), Opinion::deny("bad"), "", "bad", 2, ""),
            ("a prompt", prompt(), Opinion::deny("no"), "", "no", 2, ""),
            ("context is what is printed", prompt(), Opinion::context("c"), "c", "", 0, ""),
            ("context at the start", start(), Opinion::context("c"), "c", "", 0, ""),
            ("go on", stop(), Opinion::deny("tests"), "", "tests", 2, ""),
            ("an exit code of 0 allows", request("Bash"), Opinion::allow(), "", "", 0, ""),
            ("a request", request("Bash"), Opinion::deny("no"), "", "no", 2, ""),
        ],
    );
}

/// "allow: exit 0 on PermissionRequest": no opinion must not become an allow.
#[test]
fn no_opinion_is_not_an_allow() {
    let event = request("Bash");
    let answer = DIALECT.render_verdict(&event, &verdict(&event, &Opinion::none()));
    assert_eq!((answer.exit, answer.stdout.as_str()), (1, ""));
    let reply = ProcessReply::new(ProcessExit::Code(0));
    let heard = DIALECT.read(&event, Reply::Process(reply), false).unwrap();
    assert_eq!(heard.decision(), checkrein_core::Decision::Allow);
    // At other events, no answer means no opinion.
    let event = call("Bash");
    assert_eq!(DIALECT.render_verdict(&event, &verdict(&event, &Opinion::none())).exit, 0);
}

#[test]
fn files_are_decoded_and_encoded() {
    let text = r#"{"hooks":{"disabled":false,"PreToolUse":[{"matcher":"Bash|Write","hooks":[{"type":"command","command":"./guard.sh","timeout":1500,"quiet":true}]}],"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#;
    let decoded = decode(&DIALECT, "settings.json", text);
    assert_eq!(problems(&decoded), []);
    assert_eq!(decoded.settings.disable_all, Some(false));
    let guard = &decoded.hooks[0];
    assert_eq!(guard.timeout, Some(Duration::from_millis(1500)));
    assert!(guard.matcher.matches("Write") && !guard.matcher.matches("NotebookWrite"), "anchored");
    assert_round_trip(&DIALECT, "settings.json", &decoded);
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        ("{\"hooks\": {\n  \"disabled\": \"yes\"}}", vec![("wrong-type", 2, 15)]),
        (
            "{\"hooks\": {\"PreToolUse\": [\n  {\"matcher\": \"(\", \"hooks\": []}]}}",
            vec![("bad-matcher", 2, 15), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"command\": \"x\"}]}]}}",
            vec![("missing-key", 2, 3), ("closed-gate", 2, 3)],
        ),
    ] {
        assert_eq!(problems(&decode(&DIALECT, "settings.json", text)), expected, "{text}");
    }
}
