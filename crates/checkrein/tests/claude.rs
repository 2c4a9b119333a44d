//! Hooks in Claude Code's dialect, run by the engine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::sync::Arc;

use checkrein::dialects::agents::claude;
use checkrein::document::Format;
use checkrein::handler::{Call, HandlerEnv, HandlerFuture, Reply};
use checkrein::payload::{Prompt, ToolCall};
use checkrein::{
    Decision, Engine, Envelope, Event, Failure, FailureKind, Handler, HookSpec, Opinion, RawJson, Registry, Scope,
};

fn hooks(event: &str, hook: &str) -> Vec<HookSpec> {
    let text = format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{hook}]}}]}}}}"#);
    let decoded = claude::DIALECT.decode("settings.json", Scope::User, &text, Format::Json);
    assert_eq!(decoded.diagnostics, [], "{text}");
    decoded.hooks
}

fn gate() -> Event {
    let call = ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap());
    Event::pre_tool_use(call).within(Envelope::new().session_id("s1"))
}

fn command(text: &str) -> String {
    format!(r#"{{"type":"command","command":{}}}"#, RawJson::string(text))
}

#[tokio::test]
async fn processes_get_the_payload_and_variables_of_claude() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"test "$CLAUDE_PROJECT_DIR" = "$PWD" && test "$CLAUDE_CODE_SESSION_ID" = s1 && test -z "$OTEL_X" && test "$MINE" = yes || exit 0
        grep -q '"hook_event_name":"PreToolUse".*"tool_input":{"command":"ls"}' && { echo seen >&2; exit 2; }"#;
    let engine = Engine::builder()
        .cwd(dir.path().canonicalize().unwrap())
        .vars([("PATH", "/usr/bin:/bin"), ("OTEL_X", "1"), ("MINE", "yes")])
        .hooks(hooks("PreToolUse", &command(script)))
        .build();
    assert_eq!(engine.fire(gate()).await.reason(), Some("seen"));
}

#[tokio::test]
async fn argv_hooks_get_words_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let hook = r#"{"type":"command","command":"sh","args":["-c","echo \"$1|$2\" >&2; exit 2","sh","${CLAUDE_PROJECT_DIR}/x","a  $b"]}"#;
    let engine = Engine::builder().cwd(dir.path()).hooks(hooks("PreToolUse", hook)).build();
    let expected = format!("{}/x|a  $b", dir.path().display());
    assert_eq!(engine.fire(gate()).await.reason(), Some(expected.as_str()));
}

#[tokio::test]
async fn failures_are_open_unless_the_hook_fails_closed() {
    for (hook, decision) in [
        (command("exit 1"), Decision::NoOpinion),
        (command("kill -9 $$"), Decision::NoOpinion),
        (command("exit 1").replace("}", r#","onFailure":"block"}"#), Decision::Deny),
        (command("sleep 100").replace("}", r#","timeout":0.1}"#), Decision::NoOpinion),
        (command("sleep 100").replace("}", r#","timeout":0.1,"onFailure":"block"}"#), Decision::Deny),
        (r#"{"type":"command","command":"/no/such/program","args":[]}"#.to_owned(), Decision::NoOpinion),
    ] {
        let engine = Engine::builder()
            .vars([("PATH", "/usr/bin:/bin")])
            .settle_as(&claude::DIALECT)
            .hooks(hooks("PreToolUse", &hook))
            .build();
        let verdict = engine.fire(gate()).await;
        assert_eq!(verdict.decision(), decision, "{hook}");
        assert_eq!(verdict.warnings().len(), 1, "{hook}: never silent");
    }
}

#[tokio::test]
async fn context_over_the_limit_goes_to_a_file() {
    let hook = command("head -c 20000 /dev/zero | tr '\\0' x");
    let engine = Engine::builder().hooks(hooks("UserPromptSubmit", &hook)).build();
    let verdict = engine.fire(Event::prompt_submit(Prompt::new("hi"))).await;
    let text = &verdict.context()[0].text;
    assert!(text.chars().count() < 2_500, "{}", text.len());
    let path = text.split("read the full text in ").nth(1).unwrap().trim_end_matches(')');
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x".repeat(20_000));
    std::fs::remove_file(path).unwrap();
}

struct Judge;

impl Handler for Judge {
    fn call<'a>(&'a self, _: &'a Call) -> HandlerFuture<'a> {
        Box::pin(async { Ok(Reply::Opinion(Opinion::deny("the model said no"))) })
    }
}

#[tokio::test]
async fn prompt_hooks_use_a_handler_of_the_host() {
    let hook = r#"{"type":"prompt","prompt":"is $ARGUMENTS fine?"}"#;
    let engine = Engine::builder().hooks(hooks("PreToolUse", hook)).build();
    assert!(engine.problems()[0].to_string().contains("unknown_handler"), "{:?}", engine.problems());
    let verdict = engine.fire(gate()).await;
    let kinds: Vec<_> = verdict.failures().map(|(_, failure)| failure.kind).collect();
    assert_eq!(kinds, [FailureKind::UnknownHandler]);

    let mut registry = Registry::new();
    let make = |_: &HookSpec, _: &HandlerEnv| -> Result<Arc<dyn Handler>, Failure> { Ok(Arc::new(Judge)) };
    registry.register("prompt", make).unwrap();
    let engine = Engine::builder().registry(registry).hooks(hooks("PreToolUse", hook)).build();
    assert_eq!(engine.fire(gate()).await.reason(), Some("the model said no"));
}

#[tokio::test]
async fn undeclared_rewrites_are_composed() {
    let rewrite = |input: &str| {
        command(&format!(r#"echo '{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{input}}}}}'"#))
    };
    let both = format!(
        "{},{}",
        rewrite(r#"{"command":"ls","timeout":5}"#),
        rewrite(r#"{"command":"ls","description":"look"}"#)
    );
    let verdict = Engine::builder().hooks(hooks("PreToolUse", &both)).build().fire(gate()).await;
    assert_eq!(verdict.failures().count(), 0, "{verdict:?}");
    let effective = verdict.effective_input().unwrap();
    let expected: RawJson = r#"{"command":"ls","timeout":5,"description":"look"}"#.parse().unwrap();
    assert!(effective.semantically_eq(&expected), "{effective}");
    // Two values for one field are a conflict, never a race.
    let clash = format!("{},{}", rewrite(r#"{"command":"a"}"#), rewrite(r#"{"command":"b"}"#));
    let verdict = Engine::builder().hooks(hooks("PreToolUse", &clash)).build().fire(gate()).await;
    let kinds: Vec<_> = verdict.failures().map(|(_, failure)| failure.kind).collect();
    assert!(kinds.contains(&FailureKind::Conflict), "{kinds:?}");
}

#[tokio::test]
async fn conflicting_rewrites_cancel_the_allow() {
    let allow = |input: &str| {
        let answer = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{input}}}}}"#
        );
        command(&format!("echo '{answer}'"))
    };
    let both = format!("{},{}", allow(r#"{"command":"ls --color"}"#), allow(r#"{"command":"sandbox ls"}"#));
    let engine = Engine::builder().settle_as(&claude::DIALECT).hooks(hooks("PreToolUse", &both)).build();
    let verdict = engine.fire(gate()).await;
    assert_eq!(verdict.decision(), Decision::NoOpinion, "{verdict:?}");
    assert_eq!(verdict.effective_input(), None);
}

#[tokio::test]
async fn missing_working_directory_does_not_open_the_gate() {
    let engine = Engine::builder().hooks(hooks("PreToolUse", &command("echo no >&2; exit 2"))).build();
    let verdict = engine.fire(gate().within(Envelope::new().cwd("/no/such/directory"))).await;
    assert_eq!(verdict.reason(), Some("no"));
}

#[tokio::test]
async fn foreground_copy_of_a_duplicate_hook_runs() {
    let background = command("exit 2").replace('}', r#","async":true}"#);
    let text = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{background},{}]}}]}}}}"#, command("exit 2"));
    let decoded = claude::DIALECT.decode("settings.json", Scope::User, &text, Format::Json);
    let verdict = Engine::builder().hooks(decoded.hooks).build().fire(gate()).await;
    assert!(verdict.decision().is_block());
}

#[tokio::test]
async fn model_matchers_compare_the_canonical_name() {
    use checkrein::payload::ModelSwitch;
    let text = r#"{"hooks":{"PreModelSwitch":[{"matcher":"claude-opus-4-8","hooks":[{"type":"command","command":"exit 2"}]}]}}"#;
    let decoded = claude::DIALECT.decode("settings.json", Scope::User, text, Format::Json);
    let engine = Engine::builder().hooks(decoded.hooks).build();
    for (model, blocked) in
        [("claude-opus-4-8", true), ("claude-opus-4-8[1m]", true), ("opus", true), ("claude-haiku-4-5", false)]
    {
        let verdict = engine.fire(Event::pre_model_switch(ModelSwitch::new(model))).await;
        assert_eq!(verdict.decision().is_block(), blocked, "{model}");
    }
}
