use checkrein_core::{Decision, EventKind, FailureKind, FailurePolicy, Opinion, Scope};
use checkrein_dialects::agents::amazon_q::DIALECT;
use checkrein_dialects::config::DecodeOptions;
use checkrein_dialects::{HandlerSpec, Shell};
use checkrein_document::Format;

use super::HookEffect::{Fails, To};
use super::*;

#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        ("agentSpawn", EventKind::SessionStart, ""),
        ("userPromptSubmit", EventKind::PromptSubmit, r#","prompt":"go""#),
        ("preToolUse", EventKind::PreToolUse, r#","tool_name":"fs_read","tool_input":{"operations":[]}"#),
        (
            "postToolUse",
            EventKind::PostToolUse,
            r#","tool_name":"fs_read","tool_input":{},"tool_response":{"success":true,"result":["x"]}"#,
        ),
        ("stop", EventKind::Stop, ""),
    ] {
        assert_payload_round_trip(&DIALECT, &kind, &format!(r#"{{"hook_event_name":"{name}","cwd":"/a"{own}}}"#));
    }
}

#[test]
fn verdicts_are_rendered() {
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), "", 0),
            (&gate(), Opinion::deny("no"), "!no [2]", 0),
            (
                &gate(),
                Opinion::ask("?"),
                "!Needs the user's confirmation, and Amazon Q hooks cannot ask for it: tell the user to run it. (?) [2]",
                1,
            ),
            (&gate(), Opinion::halt("enough"), "!enough (Amazon Q hooks cannot halt; stop and tell the user) [2]", 1),
            (
                &gate(),
                Opinion::rewrite_input(json("{}")),
                "!Blocked: hook `h` (code) changes the input. Amazon Q does not let hooks change the input. Call the tool again with this input: {} [2]",
                1,
            ),
            (&gate(), Opinion::context("c"), "", 1),
            // Plain text is context.
            (&start(), Opinion::context("c"), "c", 0),
            (&prompt(), Opinion::context("c"), "c", 0),
            // Prompts and stops cannot be blocked.
            (&prompt(), Opinion::deny("no"), "", 1),
            (&stop(), Opinion::deny("go on"), "", 1),
        ],
    );
}

#[test]
fn replies_are_read() {
    for (event, code, stdout, expected) in [
        (&gate(), 0, r#"{"decision":"block"}"#, To(Decision::NoOpinion)),
        (&gate(), 2, "", To(Decision::Deny)),
        (&gate(), 1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        (&prompt(), 2, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    assert_eq!(read(&DIALECT, &prompt(), r#"{"a":1}"#).contexts(), [r#"{"a":1}"#]);
    assert_eq!((DIALECT.process.shell, DIALECT.process.output_cap), (Shell::Bash, 10_240));
}

const FILE: &str = r#"{
  "name": "mine",
  "tools": ["*"],
  "hooks": {
    "preToolUse": [{"matcher": "fs_*", "command": "./guard.sh", "timeout_ms": 1500, "max_output_size": 2048}],
    "agentSpawn": [{"command": "git status"}]
  }
}"#;

#[test]
fn hook_files_are_read_and_written() {
    let decoded = decode(&DIALECT, FILE);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2));
    assert_eq!(decoded.hooks[0].timeout.map(|time| time.as_millis()), Some(1500));
    let HandlerSpec::Command(command) = &decoded.hooks[0].handler else { panic!("no command") };
    assert_eq!(command.output_cap, Some(2048));
    assert_round_trip(&DIALECT, FILE);
    let of_agent = |agent: &str| {
        let options = DecodeOptions::default().agent(agent);
        DIALECT.decode_with("mine.json", Scope::User, FILE, Format::Json, &options).hooks.len()
    };
    assert_eq!((of_agent("mine"), of_agent("other")), (2, 0), "hooks belong to an agent");

    for (pattern, tool, fits) in [
        ("*", "fs_read", true),
        ("*", "@git/status", true),
        ("fs_*", "fs_write", true),
        ("fs_*", "execute_bash", false),
        ("@git", "@git/status", true),
        ("@git", "@github/status", false),
        ("@git/status", "@git/status", true),
        ("@git/status", "@git/push", false),
        ("@builtin", "fs_read", true),
        ("@builtin", "@git/status", false),
    ] {
        let text = format!(r#"{{"hooks":{{"preToolUse":[{{"command":"x","matcher":"{pattern}"}}]}}}}"#);
        assert_eq!(decode(&DIALECT, &text).hooks[0].matcher.matches(tool), fits, "{pattern} {tool}");
    }
    assert_problems(
        &DIALECT,
        [
            ("{\"hooks\":{\"preToolUse\":[\n{\"command\":\"x\",\"cache_ttl_seconds\":60}]}}", &[("no-effect", 2)]),
            (
                "{\"hooks\":{\"preToolUse\":[{\"command\":\"x\",\n\"timeout_ms\":\"1s\"}]}}",
                &[("wrong-type", 2), ("closed-gate", 1)],
            ),
            ("{\"hooks\":{\"preToolUse\":[\n{\"matcher\":\"*\"}]}}", &[("missing-key", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\n\"PreToolUse\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)]),
        ],
    );
}
