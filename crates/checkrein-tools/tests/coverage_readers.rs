//! Readers of session files: damaged, cut and hostile input never panics and never invents calls.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use checkrein_tools::coverage::{FORMATS, Format, read_bytes, read_file};
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
