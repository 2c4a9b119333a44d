use checkrein_core::{Decision, EventKind, FailureKind, FailurePolicy, Opinion};
use checkrein_dialects::agents::augment::DIALECT;
use checkrein_dialects::{CommandLine, HandlerSpec};

use super::HookEffect::{Fails, To};
use super::*;

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        ("SessionStart", EventKind::SessionStart, ""),
        ("SessionEnd", EventKind::SessionEnd, ""),
        ("PromptSubmit", EventKind::PromptSubmit, r#","user_prompt":"go""#),
        (
            "PreToolUse",
            EventKind::PreToolUse,
            r#","tool_name":"launch-process","tool_input":{"command":"ls"},"is_mcp_tool":false"#,
        ),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#","tool_name":"save-file","tool_input":{},"is_mcp_tool":false,"file_changes":[{"path":"a","changeType":"create"}]"#,
        ),
        ("Notification", EventKind::Notification, r#","notification_type":"idle","notification_message":"m""#),
        (
            "Stop",
            EventKind::Stop,
            r#","conversation":{"userPrompt":"u","agentTextResponse":"a","agentCodeResponse":[]}"#,
        ),
    ] {
        let sent =
            format!(r#"{{"hook_event_name":"{name}","conversation_id":"c","workspace_roots":["/a","/b"]{own}}}"#);
        let event = assert_payload_round_trip(&DIALECT, &kind, &sent);
        assert_eq!((event.envelope.session_id.as_deref(), event.envelope.cwd.as_deref()), (Some("c"), Some("/a")));
    }
}

#[test]
fn verdicts_are_rendered() {
    let denied = |reason: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"{reason}"}}}}"#
        )
    };
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            // Support of these is not known.
            (&gate(), Opinion::allow(), "", 0),
            (
                &gate(),
                Opinion::ask("?"),
                &denied(
                    "Needs the user's confirmation, and Augment hooks cannot ask for it: tell the user to run it. (?)",
                ),
                1,
            ),
            (
                &gate(),
                Opinion::rewrite_input(json("{}")),
                &denied(
                    "Blocked: hook `h` (code) changes the input. Augment does not let hooks change the input. Call the tool again with this input: {}",
                ),
                1,
            ),
            (&gate(), Opinion::deny("no"), &denied("no"), 0),
            (&gate(), Opinion::halt("enough"), r#"{"continue":false,"stopReason":"enough"}"#, 0),
            (&gate(), Opinion::none().with_message("m"), r#"{"systemMessage":"m"}"#, 0),
            (&prompt(), Opinion::deny("no"), r#"{"continue":false,"stopReason":"no"}"#, 1),
            (
                &start(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
                0,
            ),
            (
                &done(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}"#,
                0,
            ),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#, 0),
        ],
    );
}

#[test]
fn replies_are_read() {
    for (event, code, stdout, expected) in [
        (&gate(), 0, r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, To(Decision::Ask)),
        (&gate(), 0, r#"{"continue":false}"#, To(Decision::Halt)),
        (&gate(), 2, "", To(Decision::Deny)),
        (&stop(), 0, r#"{"decision":"block","reason":"r"}"#, To(Decision::Deny)),
        (&stop(), 2, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        (&gate(), 1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
}

#[test]
fn hook_files_are_read_and_written() {
    let text = r#"{"hooks": {
  "PreToolUse": [{"matcher": "launch-process", "metadata": {"includeUserContext": true}, "hooks": [
    {"type": "command", "command": "/opt/guard.sh", "args": ["--strict"], "timeout": 1500}
  ]}]
}}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 1));
    assert_eq!(decoded.hooks[0].timeout.map(|time| time.as_millis()), Some(1500), "milliseconds");
    let HandlerSpec::Command(command) = &decoded.hooks[0].handler else { panic!("no command") };
    assert!(matches!(&command.run, CommandLine::Argv(words) if words == &["/opt/guard.sh", "--strict"]), "{command:?}");
    let lost = DIALECT.encode(&[&decoded.hooks[0]]).unwrap().lost;
    assert_eq!(lost[0].what, "`metadata` of its group");
    assert_round_trip(&DIALECT, &text.replace(r#""metadata": {"includeUserContext": true}, "#, ""));

    for (pattern, tool, fits) in
        [("process", "launch-process", true), ("mcp:*", "mcp:query", true), ("mcp:*", "view", false)]
    {
        let text = format!(
            r#"{{"hooks":{{"PreToolUse":[{{"matcher":"{pattern}","hooks":[{{"type":"command","command":"x"}}]}}]}}}}"#
        );
        assert_eq!(decode(&DIALECT, &text).hooks[0].matcher.matches(tool), fits, "{pattern} {tool}");
    }
    assert_problems(
        &DIALECT,
        [
            (
                "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[\n{\"type\":\"comand\",\"command\":\"x\"}]}]}}",
                &[("unknown-handler", 2), ("closed-gate", 2)],
            ),
            ("{\"hooks\":{\n\"UserPromptSubmit\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\"PreToolUse\":[{\"metdata\":{},\n\"hooks\":[]}]}}", &[("unknown-key", 1), ("no-hooks", 1)]),
        ],
    );
}
