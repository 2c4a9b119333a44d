use checkrein_core::payload::ToolCall;
use checkrein_core::{ChainEnd, Decision, Event, EventKind, FailureKind, FailurePolicy, Opinion, RunOrder};
use checkrein_dialects::agents::windsurf::DIALECT;

use super::HookEffect::{Fails, To};
use super::*;

#[test]
fn payloads_round_trip() {
    for (name, kind, info) in [
        ("pre_user_prompt", EventKind::PromptSubmit, r#"{"user_prompt":"go"}"#),
        ("pre_run_command", EventKind::PreShell, r#"{"command_line":"rm -rf x","cwd":"/a"}"#),
        ("post_run_command", EventKind::PostShell, r#"{"command_line":"ls","cwd":"/a"}"#),
        (
            "pre_mcp_tool_use",
            EventKind::PreMcp,
            r#"{"mcp_server_name":"db","mcp_tool_name":"query","mcp_tool_arguments":{"sql":"x"}}"#,
        ),
        (
            "post_mcp_tool_use",
            EventKind::PostMcp,
            r#"{"mcp_server_name":"db","mcp_tool_name":"query","mcp_tool_arguments":{},"mcp_result":"[]"}"#,
        ),
        ("pre_read_code", EventKind::PreFileRead, r#"{"file_path":"/a/.env"}"#),
        ("post_read_code", EventKind::PostFileRead, r#"{"file_path":"/a"}"#),
        (
            "pre_write_code",
            EventKind::PreFileWrite,
            r#"{"file_path":"/a","edits":[{"old_string":"a","new_string":"b"}]}"#,
        ),
        ("post_write_code", EventKind::PostFileWrite, r#"{"file_path":"/a","edits":[]}"#),
        ("post_cascade_response", EventKind::Stop, r#"{"response":"done"}"#),
        ("post_cascade_response_with_transcript", EventKind::AgentResponse, r#"{"transcript_path":"/t.jsonl"}"#),
        ("post_setup_worktree", EventKind::WorktreeCreated, r#"{"worktree_path":"/w","root_workspace_path":"/a"}"#),
    ] {
        let sent = format!(
            r#"{{"agent_action_name":"{name}","trajectory_id":"t","execution_id":"e","timestamp":"2026-04-01T00:00:00Z","model":"m","tool_info":{info}}}"#
        );
        let event = assert_payload_round_trip(&DIALECT, &kind, &sent);
        assert_eq!(event.envelope.session_id.as_deref(), Some("t"));
    }
    let sent = r#"{"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":"/a"}}"#;
    let event = DIALECT.event(&json(sent), None).unwrap();
    assert!(event.tool_input().unwrap().semantically_eq(&json(r#"{"command":"ls"}"#)));
    assert_eq!((event.tool_name(), event.tool_aliases().collect()), (Some("run_command"), vec!["Bash"]));
}

#[test]
fn verdicts_are_rendered() {
    let shell = Event::pre_shell(ToolCall::new("run_command", json(r#"{"command":"ls"}"#)));
    assert_rendered(
        &DIALECT,
        &[
            (&shell, Opinion::none(), "", 0),
            (&shell, Opinion::allow(), "", 0),
            (&shell, Opinion::deny("no"), "!no [2]", 0),
            (
                &shell,
                Opinion::ask("sure?"),
                "!Needs the user's confirmation, and Windsurf hooks cannot ask for it: tell the user to run it. (sure?) [2]",
                1,
            ),
            (&shell, Opinion::halt("enough"), "!enough (Windsurf hooks cannot halt; stop and tell the user) [2]", 1),
            (
                &shell,
                Opinion::rewrite_input(json(r#"{"command":"x"}"#)),
                "!Blocked: hook `h` (code) changes the input. Windsurf does not let hooks change the input. Call the tool again with this input: {\"command\":\"x\"} [2]",
                1,
            ),
            (&prompt(), Opinion::deny("no"), "!no [2]", 0),
            (&prompt(), Opinion::context("c"), "", 1),
            (&stop(), Opinion::deny("go on"), "", 1),
        ],
    );
}

#[test]
fn replies_are_read() {
    let shell = Event::pre_shell(ToolCall::new("run_command", json("{}")));
    for (event, code, stdout, expected) in [
        (&shell, 0, r#"{"decision":"block"}"#, To(Decision::NoOpinion)),
        (&shell, 2, "", To(Decision::Deny)),
        (&shell, 1, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
        (&prompt(), 2, "", To(Decision::Deny)),
        (&stop(), 2, "", Fails(FailureKind::Exit, FailurePolicy::Open)),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
    assert_eq!((DIALECT.rules.order, DIALECT.rules.chain_end), (RunOrder::Sequential, ChainEnd::FirstBlock));
}

#[test]
fn hook_files_are_read_and_written() {
    let text = r#"{"hooks": {
  "pre_run_command": [{"command": "./guard.sh", "powershell": "guard.ps1", "show_output": true, "working_directory": "tools"}],
  "post_write_code": [{"command": "./format.sh"}]
}}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2));
    assert_round_trip(&DIALECT, text);
    assert_problems(
        &DIALECT,
        [
            ("{\"hooks\":{\"pre_run_command\":[\n{\"comand\":\"x\"}]}}", &[("missing-key", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\n\"pre_run_comand\":[{\"command\":\"x\"}]}}", &[("unknown-event", 2), ("closed-gate", 2)]),
            ("{\"hooks\":{\"pre_read_code\":[{\"command\":\"x\",\n\"timeout\":3}]}}", &[("unknown-key", 2)]),
            ("{\"hooks\":{\"pre_read_code\":[\n7]}}", &[("wrong-type", 2), ("closed-gate", 2)]),
        ],
    );
}
