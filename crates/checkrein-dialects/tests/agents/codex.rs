//! Codex 0.166.0.

use std::time::Duration;

use checkrein_core::{EventKind, Matcher, Opinion};
use checkrein_dialects::agents::codex::DIALECT;

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call("Bash"), Opinion::none(), "", "", 0, ""),
            ("a bare allow is an error", call("Bash"), Opinion::allow(), "", "", 0, ""),
            ("native deny", call("Bash"), Opinion::deny("no"), deny, "", 0, ""),
            (
                "it cannot ask",
                call("Bash"),
                Opinion::ask("sure?"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Needs the user's confirmation, and Codex hooks cannot ask for it: tell the user to run it. (sure?)"}}"#,
                "",
                0,
                "so this was denied",
            ),
            (
                "continue is rejected before a tool",
                call("Bash"),
                Opinion::halt("no"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no (Codex hooks cannot halt at PreToolUse; stop and tell the user)"}}"#,
                "",
                0,
                "so this was denied",
            ),
            (
                "a rewrite needs an allow",
                call("Bash"),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"},"permissionDecision":"allow"}}"#,
                "",
                0,
                "",
            ),
            (
                "context before a tool",
                call("Bash"),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            (
                "allow at a permission request",
                request("Bash"),
                Opinion::allow(),
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
                "",
                0,
                "",
            ),
            (
                "reserved fields of a request are not used",
                request("Bash"),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Blocked: hook `h` (code) changes the input. Codex does not let hooks change the input at PermissionRequest. Call the tool again with this input: {\"command\":\"pwd\"}"}}}"#,
                "",
                0,
                "does not let hooks change the input",
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
            ("a prompt", prompt(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, "", 0, ""),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"block","reason":"tests"}"#, "", 0, ""),
            ("halt at a stop", stop(), Opinion::halt("end"), r#"{"continue":false,"stopReason":"end"}"#, "", 0, ""),
            (
                "no block before compaction",
                compaction(),
                Opinion::deny("no"),
                r#"{"continue":false,"stopReason":"no"}"#,
                "",
                0,
                "so the agent was stopped",
            ),
            (
                "context at the start",
                start(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            ("no context at a stop", stop(), Opinion::context("c"), "", "", 0, "cannot send context"),
        ],
    );
}

/// "Output objects are strict: one unknown key voids the whole answer."
#[test]
fn unknown_key_makes_the_answer_invalid() {
    let deny = |more: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}{more}}}"#
        )
    };
    let heard = |answer: &str| outcome(&DIALECT, &call("Bash"), End::Exit(0, answer, ""));
    assert_eq!(heard(&deny("")).as_deref(), Some("no"));
    for (fact, answer) in [
        ("an unknown key", deny(r#","x":1"#)),
        ("continue is unsupported here", deny(r#","continue":false"#)),
        ("stopReason is unsupported here", deny(r#","stopReason":"x""#)),
        (
            "no reason",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#.to_owned(),
        ),
        ("a blank reason", r#"{"decision":"block","reason":" "}"#.to_owned()),
        ("the event of another", deny("").replace("PreToolUse", "Stop")),
        ("approve is unsupported", r#"{"decision":"approve"}"#.to_owned()),
    ] {
        assert_eq!(heard(&answer), None, "{fact}: the agent runs the tool");
        let reply = ProcessReply::new(ProcessExit::Code(0)).stdout(answer.as_str());
        assert!(
            DIALECT.read(&call("Bash"), Reply::Process(reply), false).is_err(),
            "{fact}: the failure is reported: {answer}"
        );
    }
}

#[test]
fn plain_text_depends_on_the_event() {
    let heard = |event: &Event| {
        DIALECT.read(event, Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout("hi")), false)
    };
    for event in [start(), prompt()] {
        assert_eq!(heard(&event).unwrap().contexts().first().map(String::as_str), Some("hi"));
    }
    assert_eq!(heard(&call("Bash")).unwrap(), Opinion::none());
    assert_eq!(heard(&stop()).unwrap_err().kind, FailureKind::Parse);
}

const FILE: &str = r#"{
  "description": "ours",
  "hooks": {
    "PreToolUse": [{"matcher": "Bash|apply_patch", "hooks": [
      {"type": "command", "command": "./guard.sh", "commandWindows": "guard.cmd", "timeout": 0, "statusMessage": "looking"}
    ]}],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "bye", "timeout": 600}]}]
  }
}"#;

#[test]
fn files_are_decoded_and_encoded() {
    let decoded = decode(&DIALECT, "hooks.json", FILE);
    assert_eq!(problems(&decoded), []);
    let [guard, bye] = &decoded.hooks[..] else { panic!("{:?}", decoded.hooks) };
    assert_eq!(guard.timeout, Some(Duration::from_secs(1)), "`0` is one second");
    assert_eq!(bye.timeout_for(&EventKind::SessionEnd), Duration::from_secs(3), "600 is cut down to 3");
    let without_timeout = checkrein_dialects::HookSpec::shell("h", EventKind::SessionEnd, "x").dialect(&DIALECT);
    assert_eq!(without_timeout.timeout_for(&EventKind::SessionEnd), Duration::from_secs(1));
    assert_round_trip(&DIALECT, "hooks.json", &decoded);

    let toml = "model = \"gpt-5.5\"\n[hooks.state.\"x:0\"]\ntrusted_hash = \"sha256:0\"\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"x\"\n";
    let decoded = decode(&DIALECT, "config.toml", toml);
    assert_eq!(problems(&decoded), []);
    assert_eq!(decoded.hooks.len(), 1);
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        (r#"{"hooks": {}, "model": "x"}"#, vec![("unknown-key", 1, 15)]),
        (
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"type\": \"http\", \"url\": \"https://x\"}]}]}}",
            vec![("unknown-handler", 2, 12), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"SessionEnd\": [{\"hooks\": [\n  {\"type\": \"mcp_tool\", \"server\": \"s\", \"tool\": \"t\"}]}]}}",
            vec![("handler-not-here", 2, 12)],
        ),
        (
            "{\"hooks\": {\"PreToolUse\": [\n  {\"matcher\": \"(\", \"hooks\": []}]}}",
            vec![("bad-matcher", 2, 15), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"Stop\": [\n  {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
            vec![("matcher-ignored", 2, 15)],
        ),
    ] {
        assert_eq!(problems(&decode(&DIALECT, "hooks.json", text)), expected, "{text}");
    }
}

#[test]
fn names_match_exactly_and_patterns_match_anywhere() {
    for (pattern, tool, fits) in [
        ("Bash", "Bash", true),
        ("Bash", "BashOutput", false),
        ("Bash|Edit", "Edit", true),
        ("mcp__.*", "x_mcp__a", true),
        ("*", "anything", true),
        ("", "anything", true),
        // A comma is not a separator, so this is a pattern.
        ("Bash,Edit", "Bash", false),
    ] {
        let matcher = Matcher::compile(&DIALECT.matcher, Some(pattern)).unwrap();
        assert_eq!(matcher.matches(tool), fits, "{pattern} {tool}");
    }
}

/// "matcher aliases: `Write`,`Edit` → apply_patch; `Agent` → spawn_agent"
#[test]
fn tools_match_their_canonical_names() {
    let patch = json(
        r#"{"session_id":"s","transcript_path":null,"cwd":"/","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch"}}"#,
    );
    let event = DIALECT.event(&patch, None).unwrap();
    assert_eq!((event.tool_name(), event.tool_aliases().collect()), (Some("apply_patch"), vec!["Edit", "Write"]));
    assert_eq!(DIALECT.common_names("collaborationspawn_agent"), ["Agent"]);
}
