//! Evidence of session files: results, rejections, damaged lines and unknown parts decide the states of calls.

use serde_json::{Value, json};

use super::common::Place;
use super::{Agent, HOOKS, SESSION, SINCE, TIME, USER, call, counts, look, place};

/// Replaces the result of the call `a` in the session file of Claude Code.
fn set_result(place: &Place, result: &Value) {
    let claude = Agent::named("claude");
    let mut lines: Vec<Value> =
        place.read(claude.file).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = lines.iter_mut().find(|line| line["message"]["content"][0]["tool_use_id"] == "a").unwrap();
    line["message"]["content"][0]["content"] = result.clone();
    line["message"]["content"][0]["is_error"] = json!(true);
    line.as_object_mut().unwrap().remove("toolDenialKind");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    place.write(claude.file, &text);
}

/// State and reason of the first listed call.
fn first(report: &Value) -> (String, String) {
    let call = &report["calls"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&call["state"]), text(&call["reason"]["code"]))
}

#[test]
fn calls_that_the_agent_rejects_are_listed_apart() {
    let claude = Agent::named("claude");
    for (result, state) in [
        ("<tool_use_error>Error: No such tool available: Bash</tool_use_error>", "rejected"),
        ("<tool_use_error>InputValidationError: Bash failed due to the following issues:\nx", "rejected"),
        // Other errors are results of the tool, or errors about another tool.
        ("<tool_use_error>Error: No such tool available: Read</tool_use_error>", "not-judged"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "not-judged"),
        ("Exit code 1\n<tool_use_error>Error: No such tool available: Bash</tool_use_error>", "not-judged"),
    ] {
        let place = place();
        claude.play(&place, &[call("b", "ls", 1, true)]);
        claude.write(&place, &[call("b", "ls", 1, true), call("a", "rm x", 0, true)]);
        set_result(&place, &json!(result));
        let (_, report) = look(&place, &[]);
        assert_eq!(first(&report).0, state, "{result}: {report:#}");
        if state == "rejected" {
            assert_eq!(counts(&report), [2, 1, 0, 0, 0, 0], "{report:#}");
            assert_eq!(report["counts"]["rejected"], 1);
            assert_eq!(
                report["summary"], "1 of 1 tool call judged; 1 was rejected by the agent and never ran",
                "{report:#}"
            );
            let shown = place.run(&["coverage", "--since", SINCE]).stdout;
            assert!(shown.contains("rejected (1): the agent rejected the call; it never ran"), "{shown}");
        }
    }
}

#[test]
fn rejections_of_qwen_are_no_missed_calls() {
    let place = place();
    let qwen = Agent::named("qwen");
    qwen.play(&place, &[call("b", "ls", 1, true)]);
    qwen.write(&place, &[call("b", "ls", 1, true), call("a", "rm x", 0, false)]);
    qwen.edit(&place, "\"not_started\"", "\"not_started\",\"errorType\":\"tool_not_registered\"");
    assert_eq!(look(&place, &[]).1["counts"]["rejected"], 1);
    // A denial without a record is a missed call.
    qwen.edit(&place, "tool_not_registered", "execution_denied");
    assert_eq!(look(&place, &[]).1["counts"]["not_judged"], 1);
}

#[test]
fn output_that_mentions_hook_errors_is_no_denial() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "forbidden a", 1, false)]);
    assert_eq!(counts(&look(&place, &[]).1), [1, 1, 0, 0, 0, 0]);
    set_result(&place, &json!("PreToolUse:Bash hook error: not this"));
    assert_eq!(counts(&look(&place, &[]).1), [1, 1, 0, 0, 0, 0]);
    for output in ["Exit code 1\nfatal: hook error", "fatal: hook error", "x doesn't want to proceed"] {
        set_result(&place, &json!(output));
        assert_eq!(first(&look(&place, &[]).1), ("not-obeyed".to_owned(), "ran_anyway".to_owned()), "{output}");
    }
}

#[test]
fn denied_call_with_a_damaged_result_cannot_be_told() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &[call("a", "forbidden a", 1, false)]);
    let lines = place.read(claude.file);
    let (call, result) = lines.trim_end().rsplit_once('\n').unwrap();
    for damaged in [result[..result.len() / 2].to_owned(), format!("{{\"x\":\"{}\"}}", "x".repeat(9 << 20))] {
        place.write(claude.file, &format!("{call}\n{damaged}\n"));
        assert_eq!(first(&look(&place, &[]).1), ("cannot-tell".to_owned(), "result_unknown".to_owned()));
    }
    // Without a result, the call did not run.
    place.write(claude.file, &format!("{call}\n"));
    assert_eq!(counts(&look(&place, &[]).1), [1, 1, 0, 0, 0, 0]);
}

#[test]
fn other_input_is_listed_and_can_fail() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &[call("a", "ls", 1, true)]);
    assert_eq!(look(&place, &["--fail-on", "other_input"]).0, 0);
    claude.write(&place, &[call("a", "rm -rf x", 1, true)]);
    let (code, report) = look(&place, &["--fail-on", "not-obeyed,other_input"]);
    assert_eq!((code, first(&report)), (1, ("judged".to_owned(), "other_input".to_owned())), "{report:#}");
    let shown = place.run(&["coverage", "--since", SINCE]).stdout;
    assert!(shown.contains("judged (1): its record has another input") && shown.contains("rm -rf x"), "{shown}");
    assert_eq!(place.run(&["coverage", "--fail-on", "nothing"]).code, 64);
}

#[test]
fn call_with_skipped_hooks_is_not_judged() {
    let place = Place::with(&[(USER, &format!("allow_skip: true\n{HOOKS}"))]);
    let claude = Agent::named("claude");
    let one = call("a", "forbidden a", 1, true);
    let mut command = place.command(&["hook", "claude"]);
    command.env("CHECKREIN", "0").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), (claude.payload)(&one).to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    claude.write(&place, &[one]);
    assert_eq!(place.run_json(&["log", "--json"]).1[0]["skipped"], json!(["guard"]));
    let (_, report) = look(&place, &[]);
    assert_eq!(first(&report), ("not-judged".to_owned(), "hooks_skipped".to_owned()), "{report:#}");
}

#[test]
fn places_that_cannot_be_read_are_in_the_result() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    assert_eq!(look(&place, &["--fail-on", "cannot-tell"]).0, 0);
    let path = |name: &str| place.path(&format!("home/.claude/projects/-p/{name}"));
    std::os::unix::fs::symlink(path("session.jsonl"), path("link.jsonl")).unwrap();
    let (code, report) = look(&place, &["--fail-on", "cannot-tell"]);
    assert_eq!((code, &report["summary"]), (1, &"1 of 1 tool call judged; 1 place could not be read".into()));
}

#[test]
fn agents_and_files_without_a_reader_cannot_be_told() {
    let place = place();
    let letta = json!({"event_type": "PreToolUse", "working_directory": "/p", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_call_id": "call_0_0", "agent_id": "agent-1"});
    place.run_with(&["hook", "letta"], &letta.to_string());
    let text = place.run(&["coverage"]).stdout;
    assert!(
        text.contains("cannot tell Letta Code called checkrein, and has no session files that can be read"),
        "{text}"
    );
    // An older chat of Gemini CLI, in one line.
    let old = json!({"sessionId": "s", "projectHash": "h", "startTime": TIME, "lastUpdated": TIME, "messages": []});
    place.write("home/.gemini/tmp/p/chats/session-2026-x.json", &old.to_string());
    let (_, report) = look(&place, &["--agent", "gemini"]);
    assert_eq!(report["unclear_sessions"], 1, "{report:#}");
    assert!(report["sessions"][0]["problems"].to_string().contains("`one document`"), "{report:#}");
}

#[test]
fn unknown_blocks_and_later_versions_are_unclear() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &[call("a", "ls", 1, true), call("b", "ls b", 1, true)]);
    let text = place.read(claude.file);
    let block = json!({"type": "assistant", "sessionId": SESSION, "version": "2.1.325",
        "message": {"content": [{"type": "native_call", "id": "x"}]}});
    place.write(claude.file, &format!("{text}{block}\n"));
    let (code, report) = look(&place, &["--fail-on", "cannot-tell"]);
    assert_eq!((code, &report["unclear_sessions"]), (1, &1.into()), "{report:#}");
    assert!(report["sessions"][0]["problems"].to_string().contains("block native_call"), "{report:#}");
    // The lines of the second call are of an unknown version.
    let lines: Vec<_> = text.lines().collect();
    let (before, after) = lines.split_at(3);
    place.write(claude.file, &format!("{}\n{}\n", before.join("\n"), after.join("\n").replace("2.1.325", "9.0.0")));
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 0, 0, 0, 1], "{report:#}");
    assert_eq!((first(&report).1.as_str(), &report["calls"][0]["command"]), ("session", &"ls b".into()));
}

#[test]
fn filters_change_no_reason() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    claude.edit(&place, "\"cwd\"", "\"entrypoint\":\"cli\",\"cwd\"");
    let other = "0ther000-0000-4000-8000-000000000002";
    let text = place.read(claude.file).replace(SESSION, other).replace("\"cli\"", "\"desktop\"");
    place.write("home/.claude/projects/-p/other.jsonl", &text.replace(TIME, super::LATER).replace("\"a\"", "\"b\""));
    assert_eq!(place.run(&["install", "claude"]).code, 0);
    for more in [&[][..], &["--session", "0ther"]] {
        assert_eq!(first(&look(&place, more).1).1, "other_surface", "{more:?}");
    }
}

#[test]
fn selection_is_named_and_project_may_be_gone() {
    let place = place();
    Agent::named("claude").play(&place, &[call("a", "ls", 1, true)]);
    let none = place.run(&["coverage", "--since", SINCE, "--agent", "claude", "--session", "zzz"]);
    assert!(
        none.code == 1 && none.stderr.contains("of Claude Code, with a session id that starts with `zzz`"),
        "{none:?}"
    );
    // The directory `/p` does not exist.
    assert_eq!(counts(&look(&place, &["--project", "/p"]).1)[0], 1);
    assert_eq!(counts(&look(&place, &["--project", "/q"]).1)[0], 0);
}

#[test]
fn verbose_output_lists_all_calls_with_ids_that_differ() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls a", 1, true)]);
    let other = SESSION.replace("000000000001", "000000000002");
    place.write("home/.claude/projects/-p/other.jsonl", &place.read(claude.file).replace(SESSION, &other));
    let (_, report) = place.run_json(&["-v", "coverage", "--since", SINCE, "--json"]);
    assert_eq!(report["calls"].as_array().unwrap().len(), 2, "{report:#}");
    let shown = place.run(&["-v", "coverage", "--since", SINCE]).stdout;
    assert!(shown.contains("judged (1)") && shown.contains("ls a"), "{shown}");
    assert!(shown.contains(SESSION) && shown.contains(&other), "{shown}");
}

#[test]
fn stop_note_has_calls_before_a_large_result_and_calls_that_were_not_obeyed() {
    let place = place();
    let claude = Agent::named("claude");
    let event = |name: &str| {
        json!({"session_id": SESSION, "hook_event_name": name, "source": "startup", "stop_hook_active": false,
            "transcript_path": place.path(claude.file)})
        .to_string()
    };
    place.run_with(&["hook", "claude"], &event("SessionStart"));
    let calls = [call("a", "rm a", 0, true), call("b", "forbidden b", 1, true), call("c", "ls c", 1, true)];
    claude.play(&place, &calls);
    let text = place.read(claude.file).replace(TIME, super::LATER);
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
    place.write(claude.file, &format!("{before}\n{}\n", last.replace("done", &"x".repeat(300_000))));
    let stop = place.run_with(&["hook", "claude"], &event("Stop"));
    let text = serde_json::from_str::<Value>(&stop.stdout).unwrap()["systemMessage"].as_str().unwrap().to_owned();
    assert!(text.contains("was not judged by checkrein: Bash `rm a`"), "{text}");
    assert!(text.contains("ran against the answer of checkrein: Bash `forbidden b`"), "{text}");
}

#[test]
fn grok_has_times_and_results_only_in_its_updates() {
    let place = place();
    let grok = "home/.grok/sessions/%2Fp/s";
    let payload = json!({"hookEventName": "pre_tool_use", "sessionId": "s", "cwd": "/p", "toolName": "run_terminal_command",
        "toolUseId": "call_grok_0000000000001", "toolInput": {"command": "forbidden"}, "toolInputTruncated": false});
    let denied = place.run_with(&["hook", "grok"], &payload.to_string());
    assert!(denied.stdout.contains("deny") || denied.code == 2, "{denied:?}");
    let entry = place.run_json(&["log", "--json"]).1[0].clone();
    assert_eq!((&entry["session"], &entry["call"]), (&"s".into(), &"call_grok_0000000000001".into()), "{entry:#}");
    let write = |result: &str, updates: &str| {
        let call = json!({"type": "assistant", "content": "", "tool_calls": [{"id": "call_grok_0000000000001",
            "name": "run_terminal_command", "arguments": "{\"command\":\"forbidden\"}"}]});
        let result = json!({"type": "tool_result", "tool_call_id": "call_grok_0000000000001", "content": result});
        place.write(&format!("{grok}/chat_history.jsonl"), &format!("{call}\n{result}\n"));
        place.write(&format!("{grok}/updates.jsonl"), updates);
        let summary = json!({"info": {"id": "s", "cwd": "/p"}, "created_at": TIME, "chat_format_version": 1});
        place.write(&format!("{grok}/summary.json"), &summary.to_string());
    };
    let update = json!({"timestamp": 1_794_931_692, "method": "session/update", "params": {"sessionId": "s",
        "update": {"sessionUpdate": "tool_call_update", "toolCallId": "call_grok_0000000000001", "status": "completed"},
        "_meta": {"agentTimestampMs": 1_794_931_692_425_u64}}})
    .to_string();
    write("Everything up-to-date", "");
    assert_eq!(first(&look(&place, &[]).1), ("cannot-tell".to_owned(), "result_unknown".to_owned()));
    write("Everything up-to-date", &update);
    let (_, report) = look(&place, &[]);
    assert_eq!(first(&report), ("not-obeyed".to_owned(), "ran_anyway".to_owned()), "{report:#}");
    assert!(report["calls"][0]["time"].as_str().unwrap().starts_with("2026-11-17T"), "{report:#}");
    write("Tool call denied by hook", "");
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [1, 1, 0, 0, 0, 0], "{report:#}");
    assert!(report["sessions"][0].get("first").is_none(), "the time of a call is not known: {report:#}");
}
