//! Gemini CLI 0.61.0.

use std::time::Duration;

use checkrein_core::payload::{ModelCall, Notification};
use checkrein_core::{HookState, Target};
use checkrein_dialects::agents::gemini::DIALECT;

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let shell = "run_shell_command";
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call(shell), Opinion::none(), "", "", 0, ""),
            ("an allow spares no question", call(shell), Opinion::allow(), "", "", 0, ""),
            ("native deny", call(shell), Opinion::deny("no"), r#"{"decision":"deny","reason":"no"}"#, "", 0, ""),
            (
                "ask runs the tool without a user",
                call(shell),
                Opinion::ask("sure?"),
                r#"{"decision":"deny","reason":"Needs the user's confirmation, and Gemini CLI hooks cannot ask for it: tell the user to run it. (sure?)"}"#,
                "",
                0,
                "so this was denied",
            ),
            ("the run ends", call(shell), Opinion::halt("end"), r#"{"continue":false,"stopReason":"end"}"#, "", 0, ""),
            (
                "a rewrite is merged",
                call(shell),
                Opinion::rewrite_input(json(r#"{"command":"pwd","description":"d"}"#)),
                r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd","description":"d"}}}"#,
                "",
                0,
                "",
            ),
            (
                "a merge keeps a field that only describes",
                call(shell),
                Opinion::rewrite_input(json(r#"{"command":"pwd"}"#)),
                r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd"}}}"#,
                "",
                0,
                "",
            ),
            (
                "a merge removes nothing",
                call(shell),
                Opinion::rewrite_input(json(r#"{"description":"d"}"#)),
                r#"{"decision":"deny","reason":"Blocked: hook `h` (code) changes the input. Gemini CLI lets hooks set fields of the input, but not remove `command`. Call the tool again with this input: {\"description\":\"d\"}"}"#,
                "",
                0,
                "so this was denied",
            ),
            ("no context before a tool", call(shell), Opinion::context("c"), "", "", 0, "cannot send context"),
            (
                "context after a tool",
                done(shell),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            (
                "feedback replaces the output",
                done(shell),
                Opinion::deny("bad"),
                r#"{"decision":"deny","reason":"bad"}"#,
                "",
                0,
                "",
            ),
            ("a prompt", prompt(), Opinion::deny("no"), r#"{"decision":"deny","reason":"no"}"#, "", 0, ""),
            ("go on", stop(), Opinion::deny("tests"), r#"{"decision":"deny","reason":"tests"}"#, "", 0, ""),
            (
                "context at the start",
                start(),
                Opinion::context("c"),
                r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#,
                "",
                0,
                "",
            ),
            ("compression cannot be stopped", compaction(), Opinion::deny("no"), "", "", 0, "is dropped"),
            ("a message", prompt(), Opinion::none().with_message("m"), r#"{"systemMessage":"m"}"#, "", 0, ""),
            (
                "a replacement of the model response applies with a deny",
                Event::before_model(ModelCall::new()),
                Opinion::rewrite_output(json(r#"{"text":"hi"}"#)),
                r#"{"hookSpecificOutput":{"llm_response":{"text":"hi"}},"decision":"deny"}"#,
                "",
                0,
                "",
            ),
        ],
    );
}

/// "unparsable text on exit 0 becomes allow + system message"
#[test]
fn plain_text_is_a_message_for_the_user() {
    let reply = |stdout: &str, stderr: &str| {
        Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(stdout).stderr(stderr))
    };
    for event in [start(), call("run_shell_command"), Event::notification(Notification::new())] {
        for reply in [reply("hi", ""), reply("", "hi"), reply("{\"decision\":\"den", "")] {
            let heard = DIALECT.read(&event, reply, false).unwrap();
            assert_eq!((heard.decision().is_block(), heard.messages().len(), heard.contexts().len()), (false, 1, 0));
        }
    }
}

#[test]
fn model_calls_are_events() {
    let sent = json(
        r#"{"hook_event_name":"BeforeModel","llm_request":{"model":"m","messages":[{"role":"user","content":"x"}],"config":{},"toolConfig":{"mode":"ANY"}}}"#,
    );
    let event = DIALECT.event(&sent, None).unwrap();
    assert_eq!(event.original(Target::Messages).unwrap().as_str(), r#"[{"role":"user","content":"x"}]"#);
}

const FILE: &str = r#"{
  // Settings can have comments.
  "ui": {"theme": "x"},
  "hooksConfig": {"enabled": true, "disabled": ["log"]},
  "hooks": {
    "BeforeTool": [{"matcher": "write_.*", "sequential": true, "hooks": [
      {"type": "command", "name": "guard", "command": "./guard.sh", "timeout": 5000, "env": {"A": "b"}}
    ]}],
    "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "name": "log", "command": "date"}]}]
  }
}"#;

#[test]
fn files_are_decoded_and_encoded() {
    let decoded = decode(&DIALECT, "settings.json", FILE);
    assert_eq!(problems(&decoded), []);
    let [guard, log] = &decoded.hooks[..] else { panic!("{:?}", decoded.hooks) };
    assert_eq!((guard.info.id.as_str(), guard.timeout), ("guard", Some(Duration::from_secs(5))), "milliseconds");
    assert!(guard.info.declares_rewrites, "of a group that runs one after the other");
    assert!(guard.matcher.matches("overwrite_x"), "patterns are searched for");
    assert_eq!(log.state, HookState::Disabled);
    assert!(!log.matcher.matches("startup2"), "sources are compared whole");

    let plain = decode(
        &DIALECT,
        "settings.json",
        r#"{"hooks":{"AfterTool":[{"matcher":"x","hooks":[{"type":"command","name":"n","command":"c","timeout":1500}]}]}}"#,
    );
    assert_round_trip(&DIALECT, "settings.json", &plain);
}

#[test]
fn broken_files_are_reported_with_locations() {
    for (text, expected) in [
        ("{\"hooks\": {\n  \"PreToolUse\": []}}", vec![("unknown-event", 2, 3), ("closed-gate", 2, 3)]),
        (
            "{\"hooks\": {\"BeforeTool\": [{\"hooks\": [\n  {\"type\": \"command\", \"command\": \"x\", \"timeout\": \"5\"}]}]}}",
            vec![("wrong-type", 2, 50), ("closed-gate", 2, 3)],
        ),
        ("{\"hooksConfig\": {\"disabled\": [\n  \"absent\"]}}", vec![("no-effect", 2, 3)]),
        (
            "{\"hooks\": {\"Notification\": [\n  {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
            vec![("matcher-ignored", 2, 15)],
        ),
    ] {
        assert_eq!(problems(&decode(&DIALECT, "settings.json", text)), expected, "{text}");
    }
    let off = decode(&DIALECT, "settings.json", r#"{"hooksConfig": {"enabled": false}}"#);
    assert_eq!(off.settings.disable_all, Some(true));
}
