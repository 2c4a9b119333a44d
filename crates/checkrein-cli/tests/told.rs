//! Logs and messages of `checkrein hook` match the answer that the agent receives.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

const USER: &str = "home/.config/checkrein/hooks.yaml";

/// A place with an audit log and these hooks of the user.
fn place(hooks: &str) -> Place {
    Place::untrusted(&[(USER, &format!("audit: true\nhooks:\n{hooks}"))])
}

fn event(agent_event: &str, rest: &Value) -> String {
    let mut event = json!({"session_id": "s", "hook_event_name": agent_event});
    for (key, value) in rest.as_object().unwrap() {
        event[key] = value.clone();
    }
    event.to_string()
}

fn bash(agent_event: &str, tool: &str) -> String {
    event(agent_event, &json!({"tool_name": tool, "tool_input": {"command": "git push", "description": "d"}}))
}

/// The record of the last line of the audit log.
fn last_record(place: &Place) -> Value {
    let (code, lines) = place.run_json(&["audit", "tail", "-n", "1", "--json"]);
    assert_eq!(code, 0, "{lines}");
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    lines[0]["record"].clone()
}

#[test]
fn log_has_the_verdict_and_the_answer() {
    let ask = "  - {id: ask, event: PreToolUse, command: checkrein say ask sure}\n".replace(
        "checkrein say ask sure",
        r#"'echo ''{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'''"#,
    );
    let place = place(&ask);
    let ran = place.run_with(&["hook", "codex"], &bash("PreToolUse", "Bash"));
    assert!(ran.stdout.contains("Codex hooks cannot ask for it: tell the user to run `checkrein approve "), "{ran:?}");
    assert_eq!(ran.stderr, "checkrein: Codex hooks cannot ask, so this was denied\n");
    let record = last_record(&place);
    assert_eq!((&record["verdict"]["decision"], &record["told"]["decision"]), (&json!("ask"), &json!("deny")));
    assert_eq!(record["told"]["notes"], json!(["Codex hooks cannot ask, so this was denied"]));
    let tail = place.run(&["audit", "tail"]).stdout;
    assert!(
        tail.ends_with(
            "codex  pre_tool_use Bash  ask: sure? (told deny: Codex hooks cannot ask, so this was denied, by ask)\n"
        ),
        "{tail}"
    );
    // Claude Code asks, so that there is nothing to add.
    place.run_with(&["hook", "claude"], &bash("PreToolUse", "Bash"));
    assert_eq!(last_record(&place)["told"], json!({"decision": "ask"}));
    assert!(place.run(&["audit", "tail", "-n", "1"]).stdout.ends_with("ask: sure? (by ask)\n"));
}

#[test]
fn input_that_the_agent_did_not_receive_is_not_effective() {
    let place = place(
        "  - {id: safer, event: PreToolUse, rewrites: true, command: 'echo ''{\"updatedInput\":{\"command\":\"git push --dry-run\"}}'''}\n",
    );
    let new = json!({"command": "git push --dry-run"});
    for (agent, sent, told, effective) in [
        ("claude", bash("PreToolUse", "Bash"), "no_opinion", new.clone()),
        ("copilot", bash("PreToolUse", "Bash"), "no_opinion", new.clone()),
        // Codex reads a new input only beside an allow.
        ("codex", bash("PreToolUse", "Bash"), "allow", new.clone()),
        (
            "gemini",
            bash("BeforeTool", "run_shell_command"),
            "no_opinion",
            json!({"command": "git push --dry-run", "description": "d"}),
        ),
        ("qwen", bash("PreToolUse", "run_shell_command"), "deny", Value::Null),
    ] {
        let ran = place.run_with(&["hook", agent], &sent);
        let record = last_record(&place);
        assert_eq!(record["verdict"]["decision"], "no_opinion", "{agent}");
        assert_eq!(record["told"]["decision"], told, "{agent}: {ran:?}");
        assert_eq!(record["verdict"]["effective_input"], effective, "{agent}: {ran:?}");
        assert_eq!(record["told"]["rewrites"].is_null(), effective.is_null(), "{agent}: {record}");
        if told == "deny" {
            assert!(
                ran.stdout.contains("hook `safer` (DIR/home/.config/checkrein/hooks.yaml:3) changes the input"),
                "{ran:?}"
            );
            assert!(ran.stdout.contains(r#"with this input: {\"command\":\"git push --dry-run\"}"#), "{ran:?}");
        }
    }
}

#[test]
fn redaction_is_claimed_only_where_it_happens() {
    let place = place("  - {id: redact, events: [PostToolUse, UserPromptSubmit], builtin: redact_secrets}\n");
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let output = |response: Value| {
        event("PostToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "env"}, "tool_response": response}))
    };
    let claude = place.run_with(&["hook", "claude"], &output(json!({"stdout": key, "stderr": ""})));
    assert!(claude.stdout.contains("redacted 1 AWS access key in the output"), "{claude:?}");
    assert!(
        claude.stdout.contains(r#""updatedToolOutput":{"stderr":"","stdout":"[redacted:aws_access_key]"}"#),
        "{claude:?}"
    );

    let codex = place.run_with(&["hook", "codex"], &output(json!(key)));
    let expected =
        "The output contains what looks like an AWS access key, and Codex does not let hooks change the output.";
    assert!(codex.stdout.contains(expected) && !codex.stdout.contains("redacted"), "{codex:?}");
    let record = last_record(&place);
    // The log itself has no secrets, so that only the claim can be checked.
    assert!(
        record["told"]["rewrites"].is_null() && !record["verdict"]["system_messages"].to_string().contains("redacted")
    );
    assert!(record["hooks"][0]["system_messages"].is_null(), "{record}");

    let prompt = event("UserPromptSubmit", &json!({"prompt": format!("use {key}")}));
    let claude = place.run_with(&["hook", "claude"], &prompt);
    let expected = "Blocked: the prompt contains what looks like an AWS access key. Claude Code does not let hooks edit prompts; \
                    remove the key and send it again. (hook redact, DIR/home/.config/checkrein/hooks.yaml:3)";
    assert_eq!(claude.stdout, format!("{{\"decision\":\"block\",\"reason\":\"{expected}\"}}\n"));
}

#[test]
fn refused_prompt_denies_the_tools_of_its_turn() {
    let place = place(
        "  - {id: polite, event: UserPromptSubmit, command: 'grep -q please || { echo say please >&2; exit 2; }'}\n",
    );
    let prompt = |text: &str| event("UserPromptSubmit", &json!({"prompt": text}));
    let denied = |session: &str| {
        let ran = place.run_with(&["hook", "copilot"], &bash("PreToolUse", "Bash").replace("\"s\"", session));
        ran.stdout.contains("The prompt of this turn was refused") && ran.stdout.contains("say please")
    };
    assert!(!denied("\"s\""));
    let ran = place.run_with(&["hook", "copilot"], &prompt("do it"));
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("Copilot CLI hooks cannot block prompts, so the tools of this turn are denied"),
        "{ran:?}"
    );
    assert_eq!(last_record(&place)["told"]["decision"], "no_opinion");
    assert!(denied("\"s\"") && denied("\"s\"") && !denied("\"other\""));
    assert_eq!(last_record(&place)["told"]["decision"], "deny");
    place.run_with(&["hook", "copilot"], &prompt("please do it"));
    assert!(!denied("\"s\""));
    // Claude Code blocks the prompt itself.
    assert!(place.run_with(&["hook", "claude"], &prompt("do it")).stdout.contains("block"));
    assert_eq!(place.run_with(&["hook", "claude"], &bash("PreToolUse", "Bash")).stdout, "");
}

#[test]
fn denied_command_of_cline_can_end_the_run() {
    let hook = "  - {id: no, event: PreToolUse, command: 'echo no >&2; exit 2'}\n";
    let sent = r#"{"hookName":"tool_call","sessionContext":{"rootSessionId":"s"},"tool_call":{"id":"1","name":"run_commands","input":{"commands":["ls"]}}}"#;
    let place = place(hook);
    let ran = place.run_with(&["hook", "cline"], sent);
    assert_eq!(ran.stdout, "{\"overrideInput\":{\"commands\":[\"echo 'Denied by checkrein: no' >&2; exit 1\"]}}\n");
    assert_eq!(last_record(&place)["told"]["decision"], "deny");
    place.write(USER, &format!("deny_by_command: false\nhooks:\n{hook}"));
    // Another id, because a repeated call gets the same answer.
    let sent = sent.replace(r#""id":"1""#, r#""id":"2""#);
    assert_eq!(place.run_with(&["hook", "cline"], &sent).stdout, "{\"cancel\":true,\"errorMessage\":\"no\"}\n");
}

#[test]
fn waiting_hooks_are_announced_once_in_a_session() {
    let place = Place::untrusted(&[(
        ".checkrein/hooks.yaml",
        "hooks:\n  - {id: a, event: PreToolUse, command: 'true'}\n  - {id: b, event: Stop, command: 'true'}\n",
    )]);
    let text =
        "Tell the user: 2 hooks of this project wait for approval and cannot run; run `checkrein trust` for a review.";
    let start = event("SessionStart", &json!({"source": "startup"}));
    for agent in ["codex", "qwen", "copilot"] {
        let start = start.replace("\"s\"", &format!("\"{agent}\""));
        assert!(place.run_with(&["hook", agent], &start).stdout.contains(text), "{agent}");
        assert!(!place.run_with(&["hook", agent], &start).stdout.contains(text), "{agent}: again");
    }
    let call = r#"{"hookName":"tool_call","sessionContext":{"rootSessionId":"c"},"tool_call":{"id":"1","name":"editor","input":{"path":"a"}}}"#;
    assert!(place.run_with(&["hook", "cline"], call).stdout.contains(text));
    let next = call.replace(r#""id":"1""#, r#""id":"2""#);
    assert!(!place.run_with(&["hook", "cline"], &next).stdout.contains(text));
    // Claude Code shows the warning of each hook.
    let ran = place.run_with(&["hook", "claude"], &bash("PreToolUse", "Bash"));
    let warning = "hook `a` (DIR/.checkrein/hooks.yaml:2) was not run: you have not approved it; `checkrein trust` shows it, \
                   `checkrein trust approve a` approves it";
    assert!(ran.stdout.contains(warning), "{ran:?}");
}
