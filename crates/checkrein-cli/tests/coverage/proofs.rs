//! Proofs of calls: a record of another event, of another sub-agent or of an unknown result proves nothing.

use serde_json::{Value, json};

use super::common::Place;
use super::{Agent, LATER, SESSION, SINCE, TIME, call, counts, look, place};

const SETTINGS: &str = "home/.claude/settings.json";

/// Adds a line to a file of Claude Code.
fn add(place: &Place, file: &str, more: &Value) {
    let mut line = json!({"sessionId": SESSION, "version": "2.1.325", "cwd": "/p", "timestamp": LATER});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let before = std::fs::read_to_string(place.path(file)).unwrap_or_default();
    place.write(file, &format!("{before}{line}\n"));
}

/// State and reason of a command.
fn state(report: &Value, command: &str) -> (String, String) {
    let calls = report["calls"].as_array().unwrap();
    let call = calls.iter().find(|call| call["command"] == command).unwrap_or_else(|| panic!("{command}: {report:#}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&call["state"]), text(&call["reason"]["code"]))
}

#[test]
fn permission_request_does_not_prove_the_event_before_a_tool() {
    let place = place();
    place.write(SETTINGS, "{}\n");
    assert_eq!(place.run(&["install", "claude"]).code, 0);
    let mut settings: Value = serde_json::from_str(&place.read(SETTINGS)).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("PreToolUse");
    place.write(SETTINGS, &settings.to_string());
    let event = |name: &str| {
        json!({"session_id": SESSION, "hook_event_name": name, "source": "startup", "tool_name": "Bash",
            "tool_input": {"command": "forbidden"}})
        .to_string()
    };
    place.run_with(&["hook", "claude"], &event("SessionStart"));
    place.run_with(&["hook", "claude"], &event("PermissionRequest"));
    let claude = Agent::named("claude");
    claude.write(&place, &[call("a", "forbidden", 0, true)]);
    claude.edit(&place, TIME, LATER);
    let (code, report) = look(&place, &["--fail-on", "not-judged"]);
    assert_eq!((code, state(&report, "forbidden")), (1, ("not-judged".to_owned(), "entry_missing".to_owned())));
}

#[test]
fn records_of_the_main_agent_do_not_prove_calls_of_a_sub_agent() {
    let claude = Agent::named("claude");
    let place = place();
    // Two records of the main agent have the same short id; the second call is not in the file.
    claude.play(&place, &[call("call_0", "echo lost", 1, true)]);
    claude.play(&place, &[call("call_0", "echo one", 1, true)]);
    let file = "home/.claude/projects/-p/session/subagents/agent-a1.jsonl";
    let tool = |command: &str| {
        json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": [{"type": "tool_use",
            "id": "call_0", "name": "Bash", "input": {"command": command}}]}})
    };
    let result = json!({"type": "user", "isSidechain": true, "agentId": "a1",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "call_0", "content": "x"}]}});
    add(&place, file, &tool("rm -rf sub"));
    add(&place, file, &result);
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 0, 0, 1, 0], "{report:#}");
    assert_eq!(state(&report, "rm -rf sub").0, "not-judged");
    // Not even with the same input.
    place.write(file, "");
    add(&place, file, &tool("echo lost"));
    add(&place, file, &result);
    assert_eq!(state(&look(&place, &[]).1, "echo lost").0, "not-judged");
}

#[test]
fn second_delivery_of_a_call_does_not_prove_that_of_a_sub_agent() {
    let copilot = Agent::named("copilot");
    let place = place();
    copilot.play(&place, &[call("call_0", "rm -rf build", 2, true)]);
    let text = place.read(copilot.file);
    let of_subagent: String = text
        .lines()
        .filter(|line| line.contains("tool.execution"))
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["agentId"] = "sub-1".into();
            format!("{line}\n")
        })
        .collect();
    place.write(copilot.file, &format!("{text}{of_subagent}"));
    let (_, report) = look(&place, &[]);
    let [calls, judged, twice, _, not_judged, _] = counts(&report);
    assert_eq!((calls, judged + twice, not_judged), (2, 1, 1), "{report:#}");
    // The hooks of a sub-agent get its id as the session.
    let payload = (copilot.payload)(&call("call_0", "rm -rf build", 1, true)).to_string().replace(SESSION, "sub-1");
    place.run_with(&[&["hook", "copilot"], copilot.options].concat(), &payload);
    assert_eq!(counts(&look(&place, &[]).1)[4], 0);
}

#[test]
fn denied_call_with_an_unknown_result_cannot_be_told() {
    for (agent, old, new) in [
        ("gemini", "\"status\":\"success\"", "\"status\":\"done\""),
        ("qwen", "\"status\":\"success\"", "\"status\":\"done\""),
        ("copilot", "tool.execution_complete", "tool.execution_done"),
        ("claude", "\"type\":\"user\"", "\"type\":\"user_v2\""),
    ] {
        let agent = Agent::named(agent);
        let place = place();
        agent.play(&place, &[call("a", "forbidden a", 1, true)]);
        assert_eq!(state(&look(&place, &[]).1, "forbidden a").0, "not-obeyed");
        agent.edit(&place, old, new);
        let (code, report) = look(&place, &["--fail-on", "cannot-tell"]);
        let expected = ("cannot-tell".to_owned(), "result_unknown".to_owned());
        assert_eq!((code, state(&report, "forbidden a")), (1, expected), "{}", agent.name);
        assert!(report["summary"].as_str().unwrap().contains("not fully readable"), "{report:#}");
        // A call that was never delivered is no call in flight.
        place.write("home/.local/state/checkrein/decisions.jsonl", "");
        let now = jiff_now();
        agent.edit(&place, TIME, &now);
        if ["gemini", "qwen"].contains(&agent.name) {
            assert_eq!(look(&place, &[]).1["counts"]["calls"], 1, "{}", agent.name);
        }
    }
}

fn jiff_now() -> String {
    let now = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.000Z"]).output().unwrap();
    String::from_utf8(now.stdout).unwrap().trim().to_owned()
}

#[test]
fn session_of_unknown_lines_is_listed() {
    let place = place();
    Agent::named("claude").play(&place, &[call("a", "ls", 1, true)]);
    let file = "home/.claude/projects/-p/other.jsonl";
    let call = json!({"content": [{"type": "tool_use", "id": "x", "name": "Bash", "input": {}}]});
    add(&place, file, &json!({"type": "assistant_v2", "sessionId": "other", "message": call}));
    let (code, report) = look(&place, &["--fail-on", "cannot-tell"]);
    assert_eq!((code, &report["unclear_sessions"]), (1, &1.into()), "{report:#}");
    // Lines without a message are not seen as calls, but the session is not hidden.
    place.write(file, "");
    add(&place, file, &json!({"type": "new-line", "sessionId": "other"}));
    let sessions = look(&place, &[]).1["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 2, "{sessions:#}");
}

#[test]
fn linked_directory_is_one_place() {
    let place = place();
    Agent::named("claude").play(&place, &[call("a", "ls", 1, true)]);
    let projects = place.path("home/.claude/projects");
    std::os::unix::fs::symlink(projects.join("-p"), projects.join("-q")).unwrap();
    let (_, report) = look(&place, &[]);
    assert_eq!(report["summary"], "1 of 1 tool call judged; 1 place could not be read", "{report:#}");
}

#[test]
fn summary_counts_other_input_among_judged_calls_only() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &[call("a", "ls", 1, true), call("b", "forbidden b", 1, true), call("c", "ls c", 1, true)]);
    claude.write(&place, &[call("a", "rm -rf x", 1, true), call("b", "rm b", 1, true), call("c", "ls c", 1, true)]);
    let (_, report) = look(&place, &[]);
    assert_eq!(report["counts"]["other_input"], 1, "{report:#}");
    assert_eq!(
        report["summary"],
        "2 of 3 tool calls judged (1 of these with another input than the session file has); 1 by Claude Code ran against the answer"
    );
    let shown = place.run(&["coverage", "--since", SINCE]).stdout;
    assert!(shown.contains("2 of 3 tool calls judged"), "{shown}");
}

#[test]
fn json_has_no_characters_that_change_the_terminal() {
    let claude = Agent::named("claude");
    let place = place();
    let command = "echo \u{202e}txt \u{9b}31m \u{e0041}";
    claude.write(&place, &[call("a", command, 0, true)]);
    let ran = place.run(&["coverage", "--since", SINCE, "--json"]);
    let is_odd = |c: &char| !c.is_ascii() || c.is_ascii_control() && *c != '\n';
    assert_eq!(ran.stdout.chars().find(is_odd), None, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let shown = report["calls"][0]["command"].as_str().unwrap();
    assert!(shown.contains('\u{202e}'), "the value is the same: {shown}");
}
