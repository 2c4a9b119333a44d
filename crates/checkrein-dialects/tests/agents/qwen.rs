//! Qwen Code 0.24.4.

use std::time::Duration;

use checkrein_core::payload::InstructionsLoaded;
use checkrein_core::{EventKind, Matcher};
use checkrein_dialects::agents::qwen::DIALECT;

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let shell = "run_shell_command";
    let deny = |reason: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"{reason}"}}}}"#
        )
    };
    let rewrite = || Opinion::rewrite_input(json(r#"{"command":"pwd"}"#));
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call(shell), Opinion::none(), "", "", 0, ""),
            (
                "allow",
                call(shell),
                Opinion::allow(),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
                "",
                0,
                "",
            ),
            ("native deny", call(shell), Opinion::deny("no"), &deny("no"), "", 0, ""),
            (
                "the nested ask survives",
                call(shell),
                Opinion::ask("sure?"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
                "",
                0,
                "",
            ),
            (
                "continue stops the tool, not the run",
                call(shell),
                Opinion::halt("no"),
                &deny("no (Qwen Code hooks cannot halt at PreToolUse; stop and tell the user)"),
                "",
                0,
                "so this was denied",
            ),
            (
                "no rewrite before a tool",
                call(shell),
                rewrite(),
                &deny(
                    "Blocked: hook `h` (code) changes the input. Qwen Code does not let hooks change the input at PreToolUse. Call the tool again with this input: {\\\"command\\\":\\\"pwd\\\"}",
                ),
                "",
                0,
                "so this was denied",
            ),
            ("no context before a tool", call(shell), Opinion::context("c"), "", "", 0, "cannot send context"),
            (
                "a rewrite at a request",
                request(shell),
                rewrite().with_decision(checkrein_core::Decision::Allow),
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"pwd"}}}}"#,
                "",
                0,
                "",
            ),
            (
                "context after a tool",
                done(shell),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            (
                "after a tool a block is nothing",
                done(shell),
                Opinion::deny("bad"),
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"bad"}}"#,
                "",
                0,
                "as context",
            ),
            ("a prompt", prompt(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, "", 0, ""),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"block","reason":"tests"}"#, "", 0, ""),
            (
                "context at the start",
                start(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
        ],
    );
}

/// "after-tool exit 2: nothing"; "stop … exit 2: yes"; "prompt hook exit 2: blocked"
#[test]
fn exit_2_blocks_where_observed() {
    let failed = |event: &Event| outcome(&DIALECT, event, End::Exit(2, "", "R")).is_some();
    assert!(failed(&stop()) && failed(&prompt()) && failed(&request("edit")));
    assert!(!failed(&done("edit")));
}

const FILE: &str = r#"{
  "hooks": {
    "PreToolUse": [{"matcher": "Shell|write_file", "sequential": true, "hooks": [
      {"type": "command", "name": "guard", "command": "./guard.sh", "timeout": 2000, "shell": "bash"}
    ]}],
    "Stop": [{"hooks": [{"type": "http", "url": "https://example.com/stop", "timeout": 20}]}]
  }
}"#;

#[test]
fn timeouts_have_two_units() {
    let decoded = decode(&DIALECT, "settings.json", FILE);
    assert_eq!(problems(&decoded), []);
    let times: Vec<_> = decoded.hooks.iter().map(|hook| hook.timeout.unwrap()).collect();
    assert_eq!(times, [Duration::from_secs(2), Duration::from_secs(20)], "milliseconds and seconds");
    assert_eq!(DIALECT.timeout(&EventKind::Stop, "http"), Duration::from_secs(600));
    assert!(decoded.hooks[0].info.declares_rewrites);
    let plain = FILE.replace("\"sequential\": true, ", "");
    assert_round_trip(&DIALECT, "settings.json", &decode(&DIALECT, "settings.json", &plain));
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        (
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"type\": \"function\"}]}]}}",
            vec![("unknown-handler", 2, 12), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"type\": \"command\", \"command\": \"x\", \"timeout\": 0}]}]}}",
            vec![("bad-time", 2, 50), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"Stop\": [\n  {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
            vec![("matcher-ignored", 2, 15)],
        ),
    ] {
        assert_eq!(problems(&decode(&DIALECT, "settings.json", text)), expected, "{text}");
    }
}

/// "InstructionsLoaded on the path"; "display-name aliases (`Shell`, `WriteFile`, …) match too"
#[test]
fn matchers_compare_the_same_text_as_the_agent() {
    let event = Event::instructions_loaded(InstructionsLoaded::new("/home/ann/QWEN.md").load_reason("session_start"));
    assert_eq!(DIALECT.subject(&event).as_deref(), Some("/home/ann/QWEN.md"));
    assert_eq!(DIALECT.common_names("run_shell_command"), ["Bash", "Shell"]);
    let matcher = Matcher::compile(DIALECT.grammar(&EventKind::Notification), Some("idle_prompt")).unwrap();
    assert!(matcher.matches("idle_prompt") && !matcher.matches("idle_prompt2"));
}
