use checkrein_core::payload::{SubagentStop, ToolCall};
use checkrein_core::{Decision, Event, EventKind, FailureKind, FailurePolicy, HookState, Opinion, RawJson, Target};
use checkrein_dialects::agents::cursor::DIALECT;

use super::HookEffect::{Fails, To};
use super::*;

const COMMON: &str = r#""conversation_id":"c-1","generation_id":"g-1","model":"m","cursor_version":"3.1.0",
    "workspace_roots":["/home/ann/project","/home/ann/other"],"user_email":null,"transcript_path":null"#;

#[test]
fn payloads_round_trip() {
    for (event, kind, own) in [
        (
            "preToolUse",
            EventKind::PreToolUse,
            r#""tool_name":"Shell","tool_input":{"command":"npm i"},"tool_use_id":"t","cwd":"/home/ann/project/a","agent_message":"m""#,
        ),
        (
            "postToolUse",
            EventKind::PostToolUse,
            r#""tool_name":"Shell","tool_input":{"command":"npm i"},"tool_output":"{\"exitCode\":0}","tool_use_id":"t","cwd":"/a","duration":5432"#,
        ),
        (
            "postToolUse",
            EventKind::PostToolUse,
            r#""tool_name":"Shell","tool_input":{},"tool_use_id":"t","cwd":"/a","duration":48.25"#,
        ),
        (
            "postToolUseFailure",
            EventKind::PostToolFailure,
            r#""tool_name":"Shell","tool_input":{},"tool_use_id":"t","cwd":"/a","error_message":"late","failure_type":"timeout","duration":5000,"is_interrupt":false"#,
        ),
        ("beforeShellExecution", EventKind::PreShell, r#""command":"rm -rf x","cwd":"/a","sandbox":false"#),
        (
            "afterShellExecution",
            EventKind::PostShell,
            r#""command":"ls","output":"a\nb","duration":12,"sandbox":false"#,
        ),
        (
            "beforeMCPExecution",
            EventKind::PreMcp,
            r#""tool_name":"query","tool_input":"{\"sql\":\"select 1\"}","url":"https://db.example""#,
        ),
        (
            "afterMCPExecution",
            EventKind::PostMcp,
            r#""tool_name":"query","tool_input":"{}","result_json":"{\"rows\":[]}","duration":3"#,
        ),
        ("beforeReadFile", EventKind::PreFileRead, r#""file_path":"/a/.env","content":"K=1","attachments":[]"#),
        (
            "afterFileEdit",
            EventKind::PostFileWrite,
            r#""file_path":"/a/b.rs","edits":[{"old_string":"a","new_string":"b"}]"#,
        ),
        ("beforeTabFileRead", EventKind::PreTabRead, r#""file_path":"/a/b.rs","content":"x""#),
        (
            "afterTabFileEdit",
            EventKind::PostTabEdit,
            r#""file_path":"/a/b.rs","edits":[{"old_string":"a","new_string":"b","range":{},"old_line":"a","new_line":"b"}]"#,
        ),
        (
            "beforeSubmitPrompt",
            EventKind::PromptSubmit,
            r#""prompt":"go","attachments":[{"type":"file","file_path":"/a"}]"#,
        ),
        ("afterAgentResponse", EventKind::AgentResponse, r#""text":"done""#),
        ("afterAgentThought", EventKind::AgentThought, r#""text":"hm","duration_ms":5000"#),
        ("stop", EventKind::Stop, r#""status":"completed","loop_count":0"#),
        (
            "sessionStart",
            EventKind::SessionStart,
            r#""session_id":"c-1","is_background_agent":false,"composer_mode":"agent""#,
        ),
        (
            "sessionEnd",
            EventKind::SessionEnd,
            r#""session_id":"c-1","reason":"window_close","duration_ms":45,"is_background_agent":false,"final_status":"x","error_message":"e""#,
        ),
        (
            "preCompact",
            EventKind::PreCompact,
            r#""trigger":"auto","context_usage_percent":85,"context_tokens":120000,"context_window_size":128000,"message_count":45,"messages_to_compact":30,"is_first_compaction":true"#,
        ),
        (
            "subagentStart",
            EventKind::SubagentStart,
            r#""subagent_id":"a","subagent_type":"explore","task":"look","parent_conversation_id":"p","tool_call_id":"t","subagent_model":"m2","is_parallel_worker":false,"git_branch":"main""#,
        ),
        (
            "subagentStop",
            EventKind::SubagentStop,
            r#""subagent_type":"explore","status":"completed","summary":"s","duration_ms":7,"message_count":1,"tool_call_count":2,"loop_count":0,"modified_files":[],"agent_transcript_path":null"#,
        ),
        ("workspaceOpen", EventKind::WorkspaceOpen, ""),
    ] {
        let own = if own.is_empty() { String::new() } else { format!(",{own}") };
        let event =
            assert_payload_round_trip(&DIALECT, &kind, &format!(r#"{{"hook_event_name":"{event}",{COMMON}{own}}}"#));
        assert_eq!(event.envelope.session_id.as_deref(), Some("c-1"));
        assert!(event.envelope.cwd.is_some(), "the first folder of the workspace is the default");
    }
    let shell = format!(r#"{{"hook_event_name":"beforeShellExecution",{COMMON},"command":"ls","cwd":"/a"}}"#);
    let event = DIALECT.event(&json(&shell), None).unwrap();
    assert_eq!((event.tool_name(), event.envelope.cwd.as_deref()), (Some("Shell"), Some("/a")));
    assert!(event.tool_input().unwrap().semantically_eq(&json(r#"{"command":"ls"}"#)));
}

#[test]
fn events_of_other_agents_are_translated() {
    let event = Event::pre_shell(ToolCall::new("Bash", json(r#"{"command":"ls","timeout":5}"#)))
        .within(checkrein_core::Envelope::new().session_id("s").cwd("/a"));
    let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let expected = r#"{"hook_event_name":"beforeShellExecution","conversation_id":"s","workspace_roots":["/a"],"transcript_path":null,"command":"ls","cwd":"/a"}"#;
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn verdicts_are_rendered() {
    let shell = Event::pre_shell(ToolCall::new("Shell", json(r#"{"command":"ls"}"#)));
    let subagent = Event::subagent_stop(SubagentStop::new());
    let unasked = r#"{"permission":"deny","user_message":"Needs the user's confirmation, and Cursor hooks cannot ask for it at preToolUse: tell the user to run it. (sure?)","agent_message":"Needs the user's confirmation, and Cursor hooks cannot ask for it at preToolUse: tell the user to run it. (sure?)"}"#;
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), r#"{"permission":"allow"}"#, 0),
            (&gate(), Opinion::deny("no"), r#"{"permission":"deny","user_message":"no","agent_message":"no"}"#, 0),
            (&shell, Opinion::deny("no"), r#"{"permission":"deny","user_message":"no","agent_message":"no"}"#, 0),
            (
                &shell,
                Opinion::ask("sure?"),
                r#"{"permission":"ask","user_message":"sure?","agent_message":"sure?"}"#,
                0,
            ),
            (&gate(), Opinion::ask("sure?"), unasked, 1),
            (
                &gate(),
                Opinion::rewrite_input(json(r#"{"command":"ls -l"}"#)),
                r#"{"updated_input":{"command":"ls -l"}}"#,
                0,
            ),
            (&gate(), Opinion::context("c"), "", 1),
            (&done(), Opinion::context("c"), r#"{"additional_context":"c"}"#, 0),
            (&done(), Opinion::rewrite_output(RawJson::string("x")), "", 1),
            (&start(), Opinion::context("c"), r#"{"additional_context":"c"}"#, 0),
            (&prompt(), Opinion::deny("no"), r#"{"continue":false,"user_message":"no"}"#, 0),
            (&prompt(), Opinion::allow(), "", 0),
            (&stop(), Opinion::deny("tests fail"), r#"{"followup_message":"tests fail"}"#, 0),
            (&subagent, Opinion::deny("go on"), r#"{"followup_message":"go on"}"#, 0),
            // After the event, the reason goes to the model.
            (&done(), Opinion::deny("late"), r#"{"additional_context":"late"}"#, 1),
        ],
    );
    let unexplained = render(&DIALECT, &gate(), &Opinion::deny(""));
    assert!(unexplained.stdout.contains("without a reason"), "{unexplained:?}");
    let halted = render(&DIALECT, &gate(), &Opinion::halt("enough"));
    assert!(halted.stdout.contains(r#""permission":"deny""#) && halted.notes.len() == 1, "{halted:?}");
}

#[test]
fn replies_are_read() {
    let shell = Event::pre_shell(ToolCall::new("Shell", json("{}")));
    for (event, code, stdout, expected) in [
        (&gate(), 0, "", To(Decision::NoOpinion)),
        (&gate(), 0, r#"{"permission":"allow"}"#, To(Decision::Allow)),
        (&gate(), 0, r#"{"permission":"deny","user_message":"u","agent_message":"a"}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"permission":"ask"}"#, To(Decision::Ask)),
        (&shell, 0, r#"{"permission":"ask"}"#, To(Decision::Ask)),
        // From the documentation of early 2026.
        (&gate(), 0, r#"{"decision":"deny","reason":"r"}"#, To(Decision::Deny)),
        (&prompt(), 0, r#"{"continue":false,"user_message":"u"}"#, To(Decision::Deny)),
        (&stop(), 0, r#"{"followup_message":"go on"}"#, To(Decision::Deny)),
        (&stop(), 0, r#"{"followup_message":""}"#, To(Decision::NoOpinion)),
        (&gate(), 2, "", To(Decision::Deny)),
        (&prompt(), 2, "", To(Decision::Deny)),
        (&gate(), 1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        // The exit code decides.
        (&gate(), 1, r#"{"permission":"deny"}"#, Fails(FailureKind::Exit, FailurePolicy::Open)),
        (&gate(), 0, r#"{"permission":"#, Fails(FailureKind::Parse, FailurePolicy::Closed)),
        (&gate(), 0, r#"{"permission":"perhaps"}"#, Fails(FailureKind::Schema, FailurePolicy::Closed)),
        (&done(), 0, r#"{"additional"#, Fails(FailureKind::Parse, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    let denied = read(&DIALECT, &gate(), r#"{"permission":"deny","user_message":"u","agent_message":"a"}"#);
    assert_eq!(denied.reason(), Some("a"), "what is for the model");
    let rewritten = read(&DIALECT, &gate(), r#"{"permission":"allow","updated_input":{"command":"x"}}"#);
    assert!(rewritten.rewrites().iter().any(|rewrite| rewrite.target == Target::Input));
    assert_eq!(DIALECT.failure_effect(&EventKind::PreToolUse, FailureKind::Timeout), FailurePolicy::Open);
}

const FILE: &str = r#"{
  "version": 1,
  "hooks": {
    "beforeShellExecution": [
      {"command": "./guard.sh", "matcher": "curl|wget", "timeout": 5, "failClosed": true},
      {"type": "prompt", "prompt": "is this safe?", "model": "m"}
    ],
    "stop": [{"command": "./check.sh"}]
  }
}"#;

#[test]
fn hook_files_are_read_and_written() {
    let decoded = decode(&DIALECT, FILE);
    assert_eq!(problems(&decoded), []);
    let seen: Vec<_> = decoded
        .hooks
        .iter()
        .map(|spec| (spec.handler.kind().name(), spec.timeout.map(|time| time.as_secs()), spec.info.on_failure))
        .collect();
    let expected = [("command", Some(5), Some(FailurePolicy::Closed)), ("prompt", None, None), ("command", None, None)];
    assert_eq!(seen, expected);
    assert_round_trip(&DIALECT, FILE);

    assert_problems(
        &DIALECT,
        [
            (
                "{\"version\":1,\"hooks\":{\n\"preToolUse\":[{\"comand\":\"x\"}]}}",
                &[("missing-key", 2), ("closed-gate", 2)],
            ),
            (
                "{\"hooks\":{\"preToolUse\":[\n{\"command\":\"x\",\"matcher\":\"(\"}]}}",
                &[("bad-matcher", 2), ("closed-gate", 2)],
            ),
            ("{\"hooks\":{\n\"PreToolUse\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\"stop\":[{\"command\":\"x\",\n\"failClosed\":\"yes\"}]}}", &[("wrong-type", 2)]),
            ("{\"hooks\":{\"stop\":[{\"command\":\"x\",\n\"loop_limit\":3}]}}", &[("no-effect", 2)]),
            ("{\n\"preToolUse\":[{\"command\":\"x\"}]}", &[("misplaced", 2), ("closed-gate", 2), ("unknown-key", 2)]),
        ],
    );
    let broken = decode(&DIALECT, "{\"hooks\":{\"beforeReadFile\":[{\"type\":\"command\"}]}}");
    assert!(matches!(broken.hooks[0].state, HookState::Broken(_)));
}
