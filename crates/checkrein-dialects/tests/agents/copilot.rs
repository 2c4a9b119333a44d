//! GitHub Copilot CLI 1.0.102, with both payload formats.

use checkrein_core::EventKind;
use checkrein_core::payload::PromptExpansion;
use checkrein_dialects::agents::{copilot, copilot_pascal};
use checkrein_dialects::payload::PayloadError;
use checkrein_dialects::{CommandLine, HandlerSpec};

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let rewrite = || Opinion::rewrite_input(json(r#"{"command":"pwd"}"#));
    assert_rendered(
        &copilot::DIALECT,
        &[
            (
                "allow skips the question",
                call("bash"),
                Opinion::allow(),
                r#"{"permissionDecision":"allow"}"#,
                "",
                0,
                "",
            ),
            (
                "native deny",
                call("bash"),
                Opinion::deny("no"),
                r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#,
                "",
                0,
                "",
            ),
            (
                "ask",
                call("bash"),
                Opinion::ask("sure?"),
                r#"{"permissionDecision":"ask","permissionDecisionReason":"sure?"}"#,
                "",
                0,
                "",
            ),
            (
                "continue is ignored",
                call("bash"),
                Opinion::halt("no"),
                r#"{"permissionDecision":"deny","permissionDecisionReason":"no (Copilot CLI hooks cannot halt; stop and tell the user)"}"#,
                "",
                0,
                "so this was denied",
            ),
            (
                "a rewrite with allow",
                call("bash"),
                rewrite().with_decision(checkrein_core::Decision::Allow),
                r#"{"permissionDecision":"allow","modifiedArgs":{"command":"pwd"}}"#,
                "",
                0,
                "",
            ),
            (
                "a rewrite needs a decision, and allow would skip the question",
                call("bash"),
                rewrite(),
                r#"{"permissionDecision":"deny","permissionDecisionReason":"Blocked: hook `h` (code) changes the input. Copilot CLI ignores a new input unless a hook also allows the call. Call the tool again with this input: {\"command\":\"pwd\"}"}"#,
                "",
                0,
                "so this was denied",
            ),
            ("context before a tool", call("bash"), Opinion::context("c"), r#"{"additionalContext":"c"}"#, "", 0, ""),
            ("a request", request("bash"), Opinion::deny("no"), r#"{"behavior":"deny","message":"no"}"#, "", 0, ""),
            ("context after a tool", done("bash"), Opinion::context("c"), r#"{"additionalContext":"c"}"#, "", 0, ""),
            (
                "text becomes a result",
                done("bash"),
                Opinion::rewrite_output(json("\"short\"")),
                r#"{"modifiedResult":{"resultType":"success","textResultForLlm":"short"}}"#,
                "",
                0,
                "",
            ),
            (
                "a result stays one",
                done("bash"),
                Opinion::rewrite_output(json(r#"{"resultType":"failure","textResultForLlm":"x"}"#)),
                r#"{"modifiedResult":{"resultType":"failure","textResultForLlm":"x"}}"#,
                "",
                0,
                "",
            ),
            ("a prompt cannot be stopped", prompt(), Opinion::deny("no"), "", "", 0, "is dropped"),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"block","reason":"tests"}"#, "", 0, ""),
            ("context at the start", start(), Opinion::context("c"), r#"{"additionalContext":"c"}"#, "", 0, ""),
            ("compaction cannot be stopped", compaction(), Opinion::deny("no"), "", "", 0, "is dropped"),
        ],
    );
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    assert_rendered(
        &copilot_pascal::DIALECT,
        &[
            ("Claude-shape deny", call("Bash"), Opinion::deny("no"), deny, "", 0, ""),
            (
                "a rewrite with allow",
                call("Bash"),
                rewrite().with_decision(checkrein_core::Decision::Allow),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"pwd"}}}"#,
                "",
                0,
                "",
            ),
            (
                "a rewrite without a decision: the agent asks its own question about the new input",
                call("Bash"),
                rewrite(),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}}"#,
                "",
                0,
                "",
            ),
            (
                "ask loses a new input, so both together are a deny",
                call("Bash"),
                rewrite().with_decision(checkrein_core::Decision::Ask).with_reason("sure?"),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Blocked: hook `h` (code) changes the input. Copilot CLI drops a new input when it asks the user. Call the tool again with this input: {\"command\":\"pwd\"}"}}"#,
                "",
                0,
                "so this was denied",
            ),
            (
                "the text of a result in the other format",
                done("Bash"),
                Opinion::rewrite_output(json(r#"{"result_type":"success","text_result_for_llm":"x"}"#)),
                r#"{"modifiedResult":{"resultType":"success","textResultForLlm":"x"}}"#,
                "",
                0,
                "",
            ),
            (
                "an output without a text is lost",
                done("Bash"),
                Opinion::rewrite_output(json(r#"{"lines":3}"#)),
                "",
                "",
                0,
                "ignores a new output whose shape differs",
            ),
            (
                "a permission request has the other format",
                request("bash"),
                Opinion::deny("no"),
                r#"{"behavior":"deny","message":"no"}"#,
                "",
                0,
                "",
            ),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"block","reason":"tests"}"#, "", 0, ""),
        ],
    );
    let expansion = Event::prompt_expansion(PromptExpansion::new("p"));
    let answer = copilot::DIALECT.render_verdict(&expansion, &verdict(&expansion, &Opinion::rewrite_prompt("q")));
    assert_eq!(answer.stdout, r#"{"modifiedTransformedPrompt":"q"}"#);
}

/// "stop hook `decision:block` / exit 2: yes / **no**"; "prompt hook exit 2: not blocked"; "after-tool exit 2: user only"
#[test]
fn exit_codes_block_only_tools_and_requests() {
    let failed = |event: &Event| outcome(&copilot::DIALECT, event, End::Exit(2, "", "R"));
    assert_eq!(failed(&call("bash")).as_deref(), Some("R"));
    assert_eq!(failed(&request("bash")).as_deref(), Some("R"));
    for event in [stop(), prompt(), done("bash")] {
        assert_eq!(failed(&event), None, "{}", event.kind());
    }
    // "a non-zero exit denies even when stdout says `permissionDecision:"allow"`"
    let allowed = outcome(&copilot::DIALECT, &call("bash"), End::Exit(1, r#"{"permissionDecision":"allow"}"#, ""));
    assert!(allowed.is_some());
}

/// "object; older versions: JSON string"
#[test]
fn tool_input_may_be_a_string_with_json() {
    let event = |args: &str| {
        let payload = format!(r#"{{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{args}}}"#);
        copilot::DIALECT.event(&json(&payload), Some("preToolUse"))
    };
    let input = |args: &str| event(args).unwrap().tool_input().unwrap().as_str().to_owned();
    assert_eq!(input(r#""{\"command\":\"rm x\"}""#), r#"{"command":"rm x"}"#);
    assert_eq!(input(r#"{"command":"rm x"}"#), r#"{"command":"rm x"}"#);
    // Patches stay text.
    assert_eq!(input(r#""*** Begin Patch""#), r#""*** Begin Patch""#);
    assert_eq!(input(r#""17""#), r#""17""#);
    // Ambiguous or invalid JSON is an error.
    assert!(event(r#""{\"command\":\"ls\",\"command\":\"rm x\"}""#).is_err());
    assert!(event(r#"" {\"command\":""#).is_err());
}

#[test]
fn payloads_have_no_event_name() {
    let payload = json(r#"{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":"ls"}}"#);
    let error = copilot::DIALECT.event(&payload, None).unwrap_err();
    assert_eq!(error, PayloadError::NoName { field: "" });
    assert_eq!(error.to_string(), "the payload does not name its event, and no name was given");
    let event = copilot::DIALECT.event(&payload, Some("preToolUse")).unwrap();
    assert_eq!(event.tool_aliases().collect::<Vec<_>>(), ["Bash"]);
    for (dialect, kind, named) in [
        (&copilot::DIALECT, EventKind::PreToolUse, false),
        (&copilot::DIALECT, EventKind::PermissionRequest, true),
        (&copilot::DIALECT, EventKind::Notification, true),
        (&copilot_pascal::DIALECT, EventKind::PreToolUse, true),
    ] {
        assert_eq!(dialect.names_event(&kind), named, "{} {kind}", dialect.name);
    }
    // Payloads with an event name are recognized by it in both forms.
    for dialect in [&copilot::DIALECT, &copilot_pascal::DIALECT] {
        let payload = json(r#"{"hookName":"permissionRequest","sessionId":"s","toolName":"edit","toolInput":{}}"#);
        assert_eq!(dialect.event(&payload, None).unwrap().kind(), EventKind::PermissionRequest);
    }
}

const FILE: &str = r#"{
  "version": 1,
  "hooks": {
    "preToolUse": [
      {"type": "command", "bash": "./guard.sh", "powershell": "guard.ps1", "cwd": "scripts", "timeoutSec": 5, "matcher": "bash|edit"},
      {"matcher": "view", "hooks": [{"type": "command", "command": "look"}]}
    ],
    "PreToolUse": [{"command": "./claude-guard.sh", "matcher": "Bash"}],
    "sessionEnd": [{"type": "http", "url": "https://example.com/end"}]
  }
}"#;

#[test]
fn files_are_decoded_and_encoded() {
    let decoded = decode(&copilot::DIALECT, "hooks.json", FILE);
    assert_eq!(problems(&decoded), []);
    let dialects: Vec<_> = decoded.hooks.iter().map(|hook| hook.dialect.name).collect();
    assert_eq!(
        dialects,
        ["copilot", "copilot", "copilot@pascal", "copilot"],
        "the case of a name chooses the language"
    );
    let HandlerSpec::Command(guard) = &decoded.hooks[0].handler else { panic!("no command") };
    assert!(
        matches!(&guard.run, CommandLine::Shell { text, shell: Some(shell) } if text == "./guard.sh" && shell[0] == "bash")
    );
    assert!(decoded.hooks[0].matcher.matches("edit") && !decoded.hooks[0].matcher.matches("edits"), "anchored");

    assert_round_trip(&copilot::DIALECT, "hooks.json", &decoded);
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        ("{\"hooks\": {\n  \"pretooluse\": []}}", vec![("unknown-event", 2, 3), ("closed-gate", 2, 3)]),
        (
            "{\"hooks\": {\"preToolUse\": [\n  {\"type\": \"command\", \"powershell\": \"x\"}]}}",
            vec![("bad-command", 2, 3), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"preToolUse\": [\n  {\"type\": \"prompt\", \"prompt\": \"x\"}]}}",
            vec![("handler-not-here", 2, 12), ("closed-gate", 2, 3)],
        ),
        (
            "{\"hooks\": {\"preToolUse\": [\n  {\"command\": \"x\", \"matcher\": \"(\"}]}}",
            vec![("bad-matcher", 2, 31), ("closed-gate", 2, 3)],
        ),
    ] {
        assert_eq!(problems(&decode(&copilot::DIALECT, "hooks.json", text)), expected, "{text}");
    }
}

/// "a name or `|` list → equality with runtime *or* Claude name; anything else → case-sensitive regex anchored"
#[test]
fn pascal_matchers_match_both_names() {
    let sent = json(
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Write","tool_input":{"path":"a"}}"#,
    );
    let event = copilot_pascal::DIALECT.event(&sent, None).unwrap();
    assert_eq!(event.tool_aliases().collect::<Vec<_>>(), ["create"]);
    let matcher = checkrein_core::Matcher::compile(&copilot_pascal::DIALECT.matcher, Some("Wr.*")).unwrap();
    assert!(matcher.matches("Write") && !matcher.matches("xWrite"));
}
