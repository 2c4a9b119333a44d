//! Readers of session files: damaged, cut and hostile input never panics and never invents calls.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use checkrein_tools::coverage::{
    FORMATS, Filter, Format, Outcome, Places, Report, Session, Setup, ToolCall, read_bytes, read_file,
};
use proptest::prelude::*;

/// A file of each format with one call per line, or in one document.
const SAMPLES: &[(&str, &str)] = &[
    (
        "claude",
        r#"{"type":"assistant","sessionId":"s","version":"2.1.0","cwd":"/p","agentId":"a1","timestamp":"2026-11-17T15:48:12.425Z","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","sessionId":"s","version":"2.1.0","agentId":"a1","permissionDecision":{"decision":"reject","source":"hook"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"no","is_error":true}]}}
{"type":"api-request","agentId":"a1","querySource":"agent:builtin:Explore"}
{"type":"attachment","agentId":"a1","attachment":{"type":"hook_cancelled","hookEvent":"PreToolUse","toolUseID":"t1","command":"checkrein hook claude","timedOut":true,"timeoutMs":60000}}
"#,
    ),
    (
        "codex",
        r#"{"timestamp":"2026-11-17T15:51:32.477Z","ordinal":0,"type":"session_meta","payload":{"id":"c","session_id":"s","parent_thread_id":"s","cli_version":"0.166.0","agent_nickname":"P","subagent_history_start_ordinal":1}}
{"ordinal":2,"type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"text(await tools.exec_command({}))"}}
{"ordinal":3,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","ls"]}}}
{"ordinal":4,"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":"Command blocked by PreToolUse hook: R. Command: rm x"}]}}
{"ordinal":5,"type":"response_item","payload":{"type":"function_call","call_id":"c2","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}"}}
"#,
    ),
    (
        "copilot",
        r#"{"type":"session.start","data":{"sessionId":"s","version":1,"copilotVersion":"1.0.102"}}
{"type":"subagent.started","data":{"agentType":"task"},"agentId":"a"}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}},"agentId":"a"}
{"type":"permission.requested","data":{"permissionRequest":{"toolCallId":"c"}},"agentId":"a"}
{"type":"hook.end","data":{"hookType":"preToolUse","success":false,"output":{"c":"x"}},"agentId":"a"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"code":"denied"}},"agentId":"a"}
"#,
    ),
    (
        "gemini",
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-17T15:54:24.926Z","kind":"main"}
{"id":"m","type":"gemini","timestamp":"2026-11-17T15:54:25.045Z","toolCalls":[{"id":"c","name":"invoke_agent","args":{},"status":"success","agentId":"a","resultDisplay":{"agentName":"g","recentActivity":[{"id":"c2","type":"tool_call","content":"run_shell_command","args":"{\"command\":\"ls\"}","status":"error"}]}}]}
"#,
    ),
    (
        "qwen",
        r#"{"type":"assistant","sessionId":"s","version":"0.24.4","message":{"parts":[{"text":"x"},{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"ls"}}}]}}
{"type":"tool_result","sessionId":"s","toolCallResult":{"callId":"c","status":"error","executionStatus":"not_started"}}
{"type":"system","sessionId":"s","systemPayload":{"uiEvent":{"event.name":"qwen-code.tool_call","call_id":"c","function_name":"f","function_args":{},"status":"success","prompt_id":"s#general-call_0#1"}}}
"#,
    ),
    (
        "grok",
        r#"{"type":"assistant","content":"x","tool_calls":[{"id":"c","name":"run_terminal_command","arguments":"{\"command\":\"ls\"}"}]}
{"type":"tool_result","tool_call_id":"c","content":"done"}
"#,
    ),
    (
        "cline",
        r#"{"version":1,"agent":"lead","sessionId":"s","origin":{"version":"3.0.65"},"messages":[{"content":[{"type":"tool_use","id":"c","name":"run_commands","input":{"commands":["ls"]}}],"ts":1794931917611},{"content":[{"type":"tool_result","tool_use_id":"c","content":[{"success":true}]}]}]}"#,
    ),
];

fn format(agent: &str) -> &'static Format {
    Format::of(agent).unwrap()
}

/// Reads the text of one session file.
fn session(agent: &str, text: &str) -> Session {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.jsonl");
    std::fs::write(&path, text).unwrap();
    read_file(format(agent), &path).remove(0)
}

fn outcomes(session: &Session) -> Vec<Outcome> {
    session.calls.iter().map(|call| call.outcome).collect()
}

#[test]
fn samples_have_calls() {
    for (agent, text) in SAMPLES {
        assert!(read_bytes(format(agent), text.as_bytes()) > 0, "{agent}");
    }
}

#[test]
fn no_cut_or_flipped_byte_panics() {
    for (agent, text) in SAMPLES {
        let bytes = text.as_bytes();
        let most = read_bytes(format(agent), bytes);
        for end in 0..bytes.len() {
            assert!(read_bytes(format(agent), &bytes[..end]) <= most, "{agent} {end}");
            let mut flipped = bytes.to_vec();
            flipped[end] ^= 0x15;
            read_bytes(format(agent), &flipped);
        }
    }
}

#[test]
fn odd_files_are_no_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.jsonl");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for bytes in [
        &b""[..],
        b"\n\n",
        b"\xff\xfe\x00",
        b"{}",
        b"null\ntrue\n[]\n\"x\"\n",
        deep.as_bytes(),
        b"SQLite format 3\0garbage",
    ] {
        std::fs::write(&path, bytes).unwrap();
        for format in FORMATS {
            for session in read_file(format, &path) {
                assert!(session.calls.is_empty(), "{}", format.agent);
                let is_silent = bytes.trim_ascii().is_empty() && session.problem.is_none();
                assert!(is_silent || session.problem.is_some(), "{} {session:?}", format.agent);
            }
        }
    }
    for missing in ["missing", "."] {
        for format in FORMATS {
            let read = read_file(format, &dir.path().join(missing));
            assert!(
                read.iter().all(|session| session.problem.is_some() && session.calls.is_empty()),
                "{}",
                format.agent
            );
        }
    }
}

#[test]
fn long_lines_are_skipped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.jsonl");
    let line = SAMPLES[0].1;
    let long = format!(r#"{{"type":"assistant","message":{{"content":"{}"}}}}"#, "x".repeat(20 << 20));
    std::fs::write(&path, format!("{line}{long}\n{}", line.replace("t1", "t2"))).unwrap();
    let sessions = read_file(format("claude"), &path);
    assert_eq!((sessions[0].calls.len(), sessions[0].broken_lines), (2, 1));
}

#[test]
fn number_of_calls_is_bounded() {
    let mut text = String::new();
    for number in 0..50_010 {
        text += &format!(
            "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"version\":\"2.1\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\
             \"id\":\"{number}\",\"name\":\"Bash\",\"input\":{{}}}}]}}}}\n"
        );
    }
    assert_eq!(read_bytes(format("claude"), text.as_bytes()), 50_000);
}

const GEMINI: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-17T15:54:24.926Z","kind":"main"}
{"id":"m","type":"gemini","toolCalls":[{"id":"c","name":"f","args":{},"status":"success"}]}
"#;

const COPILOT: &str = r#"{"type":"session.start","data":{"sessionId":"s","version":1,"copilotVersion":"1.0.102"}}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true}}
"#;

const QWEN: &str = r#"{"type":"assistant","sessionId":"s","version":"0.24.4","message":{"parts":[{"functionCall":{"id":"c","name":"f","args":{}}}]}}
{"type":"tool_result","sessionId":"s","toolCallResult":{"callId":"c","status":"success","executionStatus":"success"}}
"#;

#[test]
fn results_of_unknown_shapes_are_unknown() {
    for (agent, text, old, new) in [
        ("gemini", GEMINI, "\"status\":\"success\"", "\"status\":\"done\""),
        ("gemini", GEMINI, "\"status\":\"success\"", "\"state\":\"success\""),
        ("qwen", QWEN, "\"status\":\"success\"", "\"status\":\"done\""),
        ("qwen", QWEN, "\"status\":\"success\"", "\"state\":\"success\""),
        ("copilot", COPILOT, "\"success\":true", "\"ok\":true"),
    ] {
        assert_eq!(outcomes(&session(agent, text)), [Outcome::Ran], "{agent}");
        let found = session(agent, &text.replace(old, new));
        assert_eq!(outcomes(&found), [Outcome::Unknown], "{agent} {new}");
        assert!(found.unknown_blocks + found.broken_lines > 0, "{agent} {new}: {found:?}");
    }
    // A call that is not done has a known status.
    for status in ["validating", "scheduled", "executing", "awaiting_approval"] {
        let found = session("gemini", &GEMINI.replace("success", status));
        assert_eq!((outcomes(&found), found.unknown_blocks), (vec![Outcome::Pending], 0), "{status}");
    }
}

#[test]
fn unknown_lines_that_look_like_calls_or_results_are_counted_apart() {
    let claude = |more: &str| session("claude", &format!("{{\"sessionId\":\"s\",\"version\":\"2.1.0\",{more}}}\n"));
    let progress = |content: &str| {
        claude(&format!(
            r#""type":"progress","data":{{"type":"agent_progress","message":{{"message":{{"content":[{content}]}}}}}}"#
        ))
    };
    for (found, blocks, lines) in [
        (claude(r#""type":"assistant_v2","message":{"content":[]}"#), 1, 0),
        (claude(r#""type":"new-note","text":"x""#), 0, 1),
        (progress(r#"{"type":"tool_use","id":"x","name":"Bash","input":{}}"#), 1, 0),
        (progress(r#"{"type":"text","text":"a \"tool_use\" b"}"#), 0, 0),
        (session("grok", r#"{"type":"tool_output","tool_call_id":"c","content":"x"}"#), 1, 0),
        (session("grok", r#"{"type":"note","content":"x"}"#), 0, 1),
        (session("copilot", r#"{"type":"tool.execution_done","data":{}}"#), 1, 0),
        (session("copilot", r#"{"type":"tool.execution_progress","data":{}}"#), 0, 0),
        (session("copilot", r#"{"type":"new.event","data":{}}"#), 0, 1),
        (session("qwen", &QWEN.replace("tool_result", "tool_outcome")), 1, 0),
        (session("gemini", &GEMINI.replace("\"type\":\"gemini\"", "\"type\":\"model\"")), 1, 0),
    ] {
        assert_eq!((found.unknown_blocks, found.unknown_lines), (blocks, lines), "{found:?}");
    }
}

/// A rollout of Codex with these items.
fn rollout(items: &[&str]) -> Session {
    let head = r#"{"type":"session_meta","payload":{"id":"s","session_id":"s","cli_version":"0.166.0"}}"#;
    session("codex", &format!("{head}\n{}\n", items.join("\n")))
}

const SCRIPT: &str =
    r#"{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"c","name":"exec","input":"x"}}"#;

#[test]
fn all_calls_in_scripts_of_codex_are_listed() {
    let item = |item: &str| format!(r#"{{"type":"event_msg","payload":{{"type":"item_completed","item":{item}}}}}"#);
    let found = rollout(&[
        SCRIPT,
        &item(r#"{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","ls"]}"#),
        &item(r#"{"type":"FileChange","id":"exec-2","changes":{"/etc/passwd":{"type":"add"}},"status":"completed"}"#),
        &item(
            r#"{"type":"McpToolCall","id":"exec-3","server":"s","tool":"t","arguments":{"a":1},"status":"completed"}"#,
        ),
        &item(r#"{"type":"AgentMessage","id":"m"}"#),
    ]);
    let calls: Vec<_> = found.calls.iter().map(|call| (&*call.tool, call.unclear.is_some())).collect();
    assert_eq!(calls, [("exec_command", false), ("apply_patch", true), ("mcp__s__t", true)]);
    assert_eq!((found.calls[1].command.as_deref(), found.unknown_blocks), (Some("/etc/passwd"), 0));
    let found = rollout(&[SCRIPT, &item(r#"{"type":"NewToolCall","id":"exec-4"}"#)]);
    assert_eq!((found.unknown_blocks, found.unknown_kinds), (1, vec!["item NewToolCall".to_owned()]));
    // An ordinary patch has an item with its own id, which is no further call.
    let patch = r#"{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"x"}}"#;
    let found = rollout(&[patch, &item(r#"{"type":"FileChange","id":"p","changes":{}}"#)]);
    assert_eq!(found.calls.len(), 1);
}

#[test]
fn words_of_a_command_of_codex_are_one_command() {
    let call = |arguments: &str| {
        let item = serde_json::json!({"type": "response_item", "payload": {"type": "function_call", "call_id": "c",
            "name": "exec_command", "arguments": arguments}});
        rollout(&[&item.to_string()]).calls.remove(0)
    };
    let digest = |arguments: &str| call(arguments).digest;
    assert_eq!(digest(r#"{"cmd":["bash","-lc","ls -l"]}"#), digest(r#"{"cmd":"ls -l"}"#));
    assert_ne!(digest(r#"{"cmd":["ls","-l"]}"#), digest(r#"{"cmd":"ls -l"}"#));
}

#[test]
fn quoted_denials_are_no_denials() {
    let result = |output: &str| {
        let call = r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"exec_command","arguments":"{}"}}"#;
        let result = serde_json::json!({"type": "response_item", "payload": {"type": "function_call_output",
            "call_id": "c", "output": output}});
        rollout(&[call, &result.to_string()]).calls.remove(0).outcome
    };
    assert_eq!(result("Command blocked by PreToolUse hook: no. Command: rm x"), Outcome::Denied);
    assert_eq!(result("Tool call blocked by PreToolUse hook: no. Tool: x"), Outcome::Denied);
    assert_eq!(result("Exit code: 0\nOutput:\nCommand blocked by PreToolUse hook: no"), Outcome::Ran);
    let gemini = |display: &str| {
        let display = serde_json::json!(display).to_string();
        let new = format!("\"status\":\"error\",\"resultDisplay\":{display}");
        outcomes(&session("gemini", &GEMINI.replace("\"status\":\"success\"", &new)))
    };
    assert_eq!(gemini("Tool execution blocked: no"), [Outcome::Denied]);
    assert_eq!(gemini("x\nTool execution blocked: no"), [Outcome::Ran]);
}

/// Session files of Claude Code with these lines.
fn claude(lines: &[&str]) -> Session {
    let envelope = r#""sessionId":"s","version":"2.1.325""#;
    let text: String = lines.iter().map(|line| format!("{{{envelope},{line}}}\n")).collect();
    session("claude", &text)
}

fn claude_call(more: &str, id: &str) -> String {
    format!(
        r#""type":"assistant",{more}"message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}"#
    )
}

#[test]
fn only_known_sources_of_decisions_of_claude_tell_about_questions() {
    for (source, asked) in [
        ("user", Some(true)),
        ("user_permanent", Some(true)),
        ("user_temporary", Some(true)),
        ("user_abort", Some(true)),
        ("config", Some(false)),
        ("hook", None),
        ("classifier", None),
    ] {
        let result = format!(
            r#""type":"user","permissionDecision":{{"decision":"accept","source":"{source}"}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"c","content":"x"}}]}}"#
        );
        let found = claude(&[&claude_call("", "c"), &result]);
        assert_eq!(found.calls[0].asked, asked, "{source}");
    }
}

#[test]
fn sub_agents_of_claude_have_their_names_from_both_files() {
    let result = r#""type":"user","toolUseResult":{"status":"completed","agentId":"a1","agentType":"Explore"},"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#;
    // The result is in the session file, and the calls are in a file of the sub-agent.
    let dir = tempfile::tempdir().unwrap();
    let projects = dir.path().join(".claude/projects/-p");
    std::fs::create_dir_all(projects.join("s/subagents")).unwrap();
    let line = |text: &str| format!("{{\"sessionId\":\"s\",\"version\":\"2.1.325\",{text}}}\n");
    let call = claude_call(r#""isSidechain":true,"agentId":"a1","#, "c");
    std::fs::write(projects.join("s.jsonl"), line(&claude_call("", "t")) + &line(result)).unwrap();
    std::fs::write(projects.join("s/subagents/agent-a1.jsonl"), line(&call)).unwrap();
    let look = |filter| {
        let state = tempfile::tempdir().unwrap();
        let audit = checkrein::audit::AuditLog::new(state.path().join("audit.jsonl"));
        let log = checkrein_tools::decision_log::DecisionLog::in_state_directory(state.path());
        Report::look(&Places::in_home(dir.path()), &log, &audit, &filter, &Setup::default()).unwrap()
    };
    let report = look(Filter::default());
    let kinds: Vec<_> = report.calls.iter().filter_map(|call| call.subagent.as_ref()?.kind.as_deref()).collect();
    assert_eq!(kinds, ["Explore"], "{report:#?}");
}

#[test]
fn side_chains_without_an_id_are_sub_agents() {
    let found = claude(&[&claude_call(r#""isSidechain":true,"#, "c"), &claude_call(r#""isSidechain":false,"#, "d")]);
    let is_subagent = |call: &ToolCall| call.subagent.is_some();
    assert_eq!(found.calls.iter().map(is_subagent).collect::<Vec<_>>(), [true, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_panic(which in 0..FORMATS.len(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_bytes(&FORMATS[which], &bytes);
    }

    #[test]
    fn no_mixed_lines_panic(which in 0..SAMPLES.len(), other in 0..SAMPLES.len(), cut in 0usize..400, insert in "\\PC{0,20}") {
        let (agent, text) = SAMPLES[which];
        let other = SAMPLES[other].1;
        let at = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= cut).last().unwrap_or(0);
        read_bytes(format(agent), format!("{}{insert}{other}{}", &text[..at], &text[at..]).as_bytes());
    }
}
