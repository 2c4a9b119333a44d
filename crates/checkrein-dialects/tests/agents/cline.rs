//! Cline CLI 3.0.65.

use checkrein_core::{Decision, EventKind, HookState};
use checkrein_dialects::agents::cline::{DIALECT, EXTENSION};
use checkrein_dialects::{CommandLine, HandlerSpec};

use super::*;

#[test]
fn verdicts_are_rendered_for_the_agent() {
    let cancel = |reason: &str| format!(r#"{{"cancel":true,"errorMessage":"{reason}"}}"#);
    assert_rendered(
        &DIALECT,
        &[
            ("no opinion", call("run_commands"), Opinion::none(), "", "", 0, ""),
            ("hooks cannot allow", call("run_commands"), Opinion::allow(), "", "", 0, ""),
            (
                "a denial ends the run",
                call("run_commands"),
                Opinion::deny("no"),
                &cancel("no"),
                "",
                0,
                "so the agent was stopped",
            ),
            ("and that is a halt", call("run_commands"), Opinion::halt("no"), &cancel("no"), "", 0, ""),
            (
                "native rewrite",
                call("run_commands"),
                Opinion::rewrite_input(json(r#"{"commands":["pwd"]}"#)),
                r#"{"overrideInput":{"commands":["pwd"]}}"#,
                "",
                0,
                "",
            ),
            ("context before a tool", call("run_commands"), Opinion::context("c"), r#"{"context":"c"}"#, "", 0, ""),
            ("context after a tool", done("run_commands"), Opinion::context("c"), r#"{"context":"c"}"#, "", 0, ""),
            ("a stop is final", stop(), Opinion::deny("tests"), "", "", 0, "is dropped"),
            ("prompts never fire", prompt(), Opinion::deny("no"), "", "", 0, "is dropped"),
        ],
    );
    // "`ask`, headless: runs"
    let event = call("run_commands");
    let answer = DIALECT.render_verdict(&event, &verdict(&event, &Opinion::ask("sure?")));
    assert!(answer.stdout.starts_with(r#"{"cancel":true"#), "{}", answer.stdout);
}

/// "Control lines `HOOK_CONTROL<TAB>{json}` (last wins), otherwise whole stdout as JSON"
#[test]
fn answers_may_be_in_lines() {
    let heard = |stdout: &str| outcome(&DIALECT, &call("editor"), End::Exit(0, stdout, ""));
    let line = "HOOK_CONTROL\t";
    assert_eq!(heard(&format!("log\n{line}{{\"cancel\":true,\"errorMessage\":\"R\"}}\nlog")).as_deref(), Some("R"));
    assert_eq!(heard(&format!("{line}{{\"cancel\":true}}\n{line}{{}}")), None, "the last wins");
    let reply = ProcessReply::new(ProcessExit::Code(0)).stdout("{\"review\":true}");
    assert_eq!(DIALECT.read(&call("editor"), Reply::Process(reply), false).unwrap().decision(), Decision::Ask);
}

/// "twin `preToolUse.parameters` has every value JSON-encoded as a string"
#[test]
fn tool_call_has_two_formats() {
    let sent = json(
        r#"{"hookName":"tool_call","taskId":"t","sessionContext":{"rootSessionId":"s"},"workspaceRoots":["/w"],
            "tool_call":{"id":"c-1","name":"run_commands","input":{"commands":["ls"],"n":9007199254740993}},
            "preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"ls\"]","n":"9007199254740993"}}}"#,
    );
    let event = DIALECT.event(&sent, None).unwrap();
    assert_eq!(event.kind(), EventKind::PreToolUse);
    assert_eq!((event.tool_name(), event.tool_aliases().collect()), (Some("run_commands"), vec!["Bash"]));
    assert_eq!(event.envelope.session_id.as_deref(), Some("s"));
    let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let again = RawJson::parse_bytes(&bytes).unwrap();
    assert!(again.semantically_eq(&sent), "{again}");

    let sent = json(
        r#"{"hookName":"PreToolUse","taskId":"t","preToolUse":{"toolName":"execute_command","parameters":{"command":"\"ls\"","timeout":"5"}}}"#,
    );
    let event = EXTENSION.event(&sent, None).unwrap();
    assert_eq!(event.tool_input().unwrap().as_str(), r#"{"command":"ls","timeout":5}"#);
}

#[test]
fn hook_files_are_programs() {
    let script = |file: &str, executable| DIALECT.decode_script(file, Scope::Project, executable);
    for file in ["/w/.clinerules/hooks/PreToolUse", "/w/.clinerules/hooks/pretooluse.sh"] {
        let decoded = script(file, true);
        assert_eq!(problems(&decoded), []);
        let [hook] = &decoded.hooks[..] else { panic!("{file}") };
        assert_eq!((hook.kinds.as_slice(), hook.background), (&[EventKind::PreToolUse][..], false));
        let HandlerSpec::Command(command) = &hook.handler else { panic!("{file}") };
        assert_eq!(command.run, CommandLine::Argv(vec![file.to_owned()]));
    }
    assert!(script("/w/TaskStart", true).hooks[0].background, "these run in the background");
    for file in ["/w/README.md", "/w/lib.sh", "/w/PreToolUse.bak"] {
        assert!(script(file, true).hooks.is_empty(), "{file}");
    }
    let broken = script("/w/PreToolUse", false);
    assert_eq!(problems(&broken).iter().map(|fault| fault.0).collect::<Vec<_>>(), ["not-executable", "closed-gate"]);
    assert!(matches!(broken.hooks[0].state, HookState::Broken(_)));
    let misspelt = script("/w/PreToolUs", true);
    assert_eq!(problems(&misspelt).iter().map(|fault| fault.0).collect::<Vec<_>>(), ["unknown-event", "closed-gate"]);
}

/// Source: `agent_end` has `turn: {outputText, status}`, `agent_error` has `error: {name, message, stack}`.
#[test]
fn ends_of_tasks_have_their_data() {
    let base = r#""clineVersion":"3.0.65","timestamp":"t","taskId":"c","sessionContext":{"rootSessionId":"s"},"workspaceRoots":["/w"],"userId":"u","agent_id":"a","iteration":2"#;
    let read = |rest: &str| {
        let sent = json(&format!("{{{base},{rest}}}"));
        let event = DIALECT.event(&sent, None).unwrap();
        let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let again = RawJson::parse_bytes(&bytes).unwrap();
        (event.kind(), event.to_json(), again.semantically_eq(&sent))
    };
    let (kind, event, is_same) = read(
        r#""hookName":"agent_end","turn":{"outputText":"done","status":"completed"},"taskComplete":{"taskMetadata":{}}"#,
    );
    assert_eq!((kind, is_same), (EventKind::Stop, true));
    assert!(event.contains(r#""last_assistant_message":"done""#), "{event}");
    let (kind, event, is_same) = read(
        r#""hookName":"agent_error","error":{"name":"ApiError","message":"no key","stack":"at x"},"taskCancel":{"taskMetadata":{}}"#,
    );
    assert_eq!((kind, is_same), (EventKind::Error, true));
    assert!(event.contains(r#""error":"no key","error_type":"ApiError","error_details":"at x""#), "{event}");
    // Other forms of the same fields.
    let (_, event, _) = read(r#""hookName":"agent_end","turn":3"#);
    assert!(event.contains(r#""turn":3"#), "{event}");
    let (_, event, _) = read(r#""hookName":"agent_error","error":"no key""#);
    assert!(event.contains(r#""error":"no key""#), "{event}");
    let (_, event, _) = read(r#""hookName":"agent_error","error":["no key"]"#);
    assert!(event.contains(r#""agent_sent_error":["no key"]"#), "{event}");
}
