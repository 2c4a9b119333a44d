//! Hooks of agents that are implemented from documentation, from files to the verdict, with real processes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{amazon_q, crush, cursor, kiro, windsurf};
use checkrein::document::Format;
use checkrein::{Decision, Engine, RawJson, Scope, Verdict};

/// Verdict for a payload of the agent, with the hooks of one file.
async fn verdict(dialect: &'static Dialect, file: &str, payload: &str) -> Verdict {
    let decoded = dialect.decode("hooks.json", Scope::User, file, Format::Json);
    assert_eq!(decoded.diagnostics, [], "{file}");
    let event = dialect.event(&payload.parse::<RawJson>().unwrap(), None).unwrap();
    let engine = Engine::builder()
        .settle_as(dialect)
        .vars([("PATH", "/usr/local/bin:/usr/bin:/bin")])
        .hooks(decoded.hooks)
        .build();
    engine.fire(event).await
}

#[tokio::test]
async fn cursor_matchers_see_the_command_and_the_event_name() {
    let guard =
        r#"{"command": "echo '{\"permission\":\"deny\",\"agent_message\":\"no net\"}'", "matcher": "curl|wget"}"#;
    let file = format!(r#"{{"version": 1, "hooks": {{"beforeShellExecution": [{guard}]}}}}"#);
    for (command, decision) in [("curl example.org", Decision::Deny), ("ls", Decision::NoOpinion)] {
        let payload = format!(r#"{{"hook_event_name":"beforeShellExecution","command":"{command}","cwd":"/"}}"#);
        let verdict = verdict(&cursor::DIALECT, &file, &payload).await;
        assert_eq!(verdict.decision(), decision, "{command}");
    }
    for (matcher, decision) in [("Stop", Decision::Deny), ("UserPromptSubmit", Decision::NoOpinion)] {
        let hook = format!(r#"{{"command": "echo '{{\"followup_message\":\"go on\"}}'", "matcher": "{matcher}"}}"#);
        let file = format!(r#"{{"version": 1, "hooks": {{"stop": [{hook}]}}}}"#);
        let verdict = verdict(&cursor::DIALECT, &file, r#"{"hook_event_name":"stop","status":"completed"}"#).await;
        assert_eq!(verdict.decision(), decision, "{matcher}");
    }
}

#[tokio::test]
async fn cursor_hook_sets_its_failure_policy() {
    for (switch, decision) in [("", Decision::NoOpinion), (r#", "failClosed": true"#, Decision::Deny)] {
        let file = format!(r#"{{"version": 1, "hooks": {{"preToolUse": [{{"command": "exit 1"{switch}}}]}}}}"#);
        let payload = r#"{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{}}"#;
        assert_eq!(verdict(&cursor::DIALECT, &file, payload).await.decision(), decision, "{switch}");
    }
}

#[tokio::test]
async fn crush_runs_a_shell_command_as_a_guard() {
    let line = r#"case $CRUSH_TOOL_INPUT_COMMAND in rm*) echo $CRUSH_EVENT $CRUSH_TOOL_NAME >&2; exit 49;; esac"#;
    let file = format!(r#"{{"hooks": {{"PreToolUse": [{{"command": {}}}]}}}}"#, RawJson::string(line));
    for (command, decision) in [("rm -rf /", Decision::Halt), ("ls", Decision::NoOpinion)] {
        let payload =
            format!(r#"{{"event":"PreToolUse","cwd":"/","tool_name":"bash","tool_input":{{"command":"{command}"}}}}"#);
        let verdict = verdict(&crush::DIALECT, &file, &payload).await;
        assert_eq!(verdict.decision(), decision, "{command}");
        if decision == Decision::Halt {
            assert_eq!(verdict.reason(), Some("PreToolUse bash"));
        }
    }
}

#[tokio::test]
async fn windsurf_stops_at_the_first_block() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let second = RawJson::string(&format!("touch {}", trace.display()));
    let file = format!(
        r#"{{"hooks": {{"pre_run_command": [{{"command": "grep -q 'rm -rf' && {{ echo no >&2; exit 2; }}"}}, {{"command": {second}}}]}}}}"#
    );
    let payload = r#"{"agent_action_name":"pre_run_command","tool_info":{"command_line":"rm -rf /","cwd":"/"}}"#;
    let verdict = verdict(&windsurf::DIALECT, &file, payload).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("no")));
    assert!(!trace.exists(), "the second hook ran");
}

#[tokio::test]
async fn output_of_amazon_q_and_kiro_hooks_is_context() {
    // `[[` needs bash.
    let command = r#"[[ $USER_PROMPT == go ]] && echo main"#;
    let command = RawJson::string(command);
    let agent = format!(r#"{{"name": "mine", "hooks": {{"userPromptSubmit": [{{"command": {command}}}]}}}}"#);
    let payload = r#"{"hook_event_name":"userPromptSubmit","cwd":"/","prompt":"go"}"#;
    let heard = verdict(&amazon_q::DIALECT, &agent, payload).await;
    assert_eq!(heard.context()[0].text, "main");

    let action = format!(r#"{{"type": "command", "command": {command}}}"#);
    let file = format!(
        r#"{{"version": "v1", "hooks": [{{"name": "b", "trigger": "UserPromptSubmit", "action": {action}}}]}}"#
    );
    let payload = r#"{"hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"go"}"#;
    let heard = verdict(&kiro::DIALECT, &file, payload).await;
    assert_eq!(heard.context()[0].text, "main");
}
