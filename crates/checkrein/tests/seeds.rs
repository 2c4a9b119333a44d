//! Hooks from files of three agents, with real processes, settled by the rules of those agents.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use checkrein::payload::{Stop, ToolCall, ToolFailure};
use checkrein::{Decision, Engine, Envelope, Event, FailureKind, RawJson, Scope, Verdict};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::{claw, evva, ub};
use checkrein_document::Format;

/// An engine with the hooks of one file, in a directory.
fn engine(dialect: &'static Dialect, text: &str, format: Format, dir: &Path, vars: &[(&str, &str)]) -> Engine {
    let decoded = dialect.decode("config", Scope::User, text, format);
    // A `PATH` of the machine may have entries that hooks do not get, which is a warning in the verdict.
    let host = [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let own = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Engine::builder().hooks(decoded.hooks).settle_as(dialect).cwd(dir).vars(host.into_iter().chain(own)).build()
}

fn call(input: RawJson) -> Event {
    Event::pre_tool_use(ToolCall::new("write", input).tool_use_id("t-1"))
        .within(Envelope::new().session_id("s-1").turn(3_u64))
}

fn file(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

fn kinds(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

#[tokio::test]
async fn ub_blocks_on_request_and_runs_all_hooks() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
hooks:
  pre_tool_call:
    - command: [sh, -c, "echo no >&2; exit 7"]
      on_failure: block
    - command: [sh, -c, "exit 3"]
    - command: [sh, -c, "touch ran"]
"#;
    let engine = engine(&ub::DIALECT, text, Format::Yaml, dir.path(), &[]);
    let (verdict, record) = engine.fire_recorded(call(RawJson::default())).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("no")));
    assert!(dir.path().join("ran").exists());
    assert_eq!(record.hooks.iter().map(|hook| hook.exit_code).collect::<Vec<_>>(), [Some(7), Some(3), Some(0)]);
}

#[tokio::test]
async fn ub_sets_only_its_own_variables() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
hooks:
  pre_tool_call:
    - command: [sh, -c, 'env | sort > env; cat > stdin; printf "%s" "$1" > word', x, '${TOKEN}-${HOME:-none}']
      env: [TOKEN]
"#;
    let vars = [("TOKEN", "t; rm -rf /"), ("SECRET", "hidden")];
    let engine = engine(&ub::DIALECT, text, Format::Yaml, dir.path(), &vars);
    assert_eq!(engine.fire(call("{}".parse().unwrap())).await, Verdict::default());
    let env = file(dir.path(), "env");
    for line in [
        "UB_HOOK_EVENT=pre_tool_call",
        "UB_HOOK_SESSION_ID=s-1",
        "UB_HOOK_TURN=3",
        "UB_HOOK_TOOL_NAME=write",
        "UB_HOOK_TOOL_USE_ID=t-1",
        "TOKEN=t; rm -rf /",
    ] {
        assert!(env.lines().any(|have| have == line), "{line}\n{env}");
    }
    assert!(env.contains("PATH=") && !env.contains("SECRET"), "{env}");
    assert_eq!(file(dir.path(), "word"), "t; rm -rf /-none");
    assert!(file(dir.path(), "stdin").contains(r#""session_id":"s-1","turn":3"#));
}

#[tokio::test]
async fn ub_treats_every_failure_alike() {
    let dir = tempfile::tempdir().unwrap();
    for (command, kind) in [
        ("[sleep, '1000']", FailureKind::Timeout),
        ("[./is-not-there]", FailureKind::Spawn),
        ("[sh, -c, 'kill -9 $$$$']", FailureKind::Signal),
    ] {
        for (policy, decision) in [("block", Decision::Deny), ("warn", Decision::NoOpinion)] {
            let text =
                format!("hooks: {{pre_tool_call: [{{command: {command}, timeout: 300ms, on_failure: {policy}}}]}}");
            let engine = engine(&ub::DIALECT, &text, Format::Yaml, dir.path(), &[]);
            let verdict = engine.fire(call(RawJson::default())).await;
            assert_eq!((verdict.decision(), kinds(&verdict)), (decision, vec![kind]), "{command} {policy}");
        }
    }
}

/// BUG of the agent: a child that kept the stream open turned a success into a failure, which blocked.
#[tokio::test]
async fn ub_background_child_is_not_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let text = "hooks: {pre_tool_call: [{command: [sh, -c, 'sleep 30 & exit 0'], on_failure: block}]}";
    let engine = engine(&ub::DIALECT, text, Format::Yaml, dir.path(), &[]);
    let start = Instant::now();
    let verdict = engine.fire(call(RawJson::default())).await;
    assert_eq!((verdict.decision(), kinds(&verdict)), (Decision::NoOpinion, vec![]));
    assert!(start.elapsed() < Duration::from_secs(20), "the child is not awaited");
}

#[tokio::test]
async fn broken_hooks_close_their_gate_in_fail_open_dialects() {
    let dir = tempfile::tempdir().unwrap();
    let typo = "hooks: {pre_tool_call: [{command: ['true'], on_failure: blok}]}";
    let broken = engine(&ub::DIALECT, typo, Format::Yaml, dir.path(), &[]);
    assert_eq!(broken.fire(call(RawJson::default())).await.decision(), Decision::Deny);
    let lua = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"lua"}]}]}}"#;
    let broken = engine(&evva::DIALECT, lua, Format::Json, dir.path(), &[]);
    assert_eq!(broken.fire(call(RawJson::default())).await.decision(), Decision::Deny);
}

fn evva_hooks(event: &str, commands: &[&str]) -> String {
    let hooks: Vec<_> = commands
        .iter()
        .map(|command| format!(r#"{{"type":"command","timeout":1,"command":{}}}"#, RawJson::string(command)))
        .collect();
    format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{}]}}]}}}}"#, hooks.join(","))
}

#[tokio::test]
async fn evva_chains_rewrites_and_ends_at_a_block() {
    let dir = tempfile::tempdir().unwrap();
    let text = evva_hooks(
        "PreToolUse",
        &[
            r#"echo '{"hookSpecificOutput":{"updatedInput":{"n":9007199254740993}}}'"#,
            r#"cat > second; env > env; echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'"#,
            r#"echo '{"decision":"approve"}'"#,
            "echo stop >&2; exit 2",
            "touch ran",
        ],
    );
    let vars = [("EVVA_SHELL", "/no/such/shell")];
    let engine = engine(&evva::DIALECT, &text, Format::Json, dir.path(), &vars);
    let event = call("{}".parse().unwrap());
    let verdict = engine.fire(event.within(Envelope::new().session_id("s-1").agent_id("a-1"))).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("stop")));
    assert!(verdict.metadata().any(|(name, _)| name == evva::BLOCKED));
    assert!(!dir.path().join("ran").exists());
    assert!(file(dir.path(), "second").contains(r#""tool_input":{"n":9007199254740993}"#));
    let env = file(dir.path(), "env");
    let project = format!("EVVA_PROJECT_DIR={}", dir.path().display());
    for line in ["EVVA_SESSION_ID=s-1", "EVVA_AGENT_ID=a-1", project.as_str()] {
        assert!(env.lines().any(|have| have == line), "{line}\n{env}");
    }
}

#[tokio::test]
async fn evva_guard_blocks_on_timeout() {
    let dir = tempfile::tempdir().unwrap();
    let text = evva_hooks("PreToolUse", &["sleep 1000"]);
    let verdict = engine(&evva::DIALECT, &text, Format::Json, dir.path(), &[]).fire(call(RawJson::default())).await;
    assert_eq!((verdict.decision(), kinds(&verdict)), (Decision::Deny, vec![FailureKind::Timeout]));
    assert_eq!(verdict.warnings().len(), 1);
}

#[tokio::test]
async fn evva_continues_once_after_a_refused_stop() {
    let dir = tempfile::tempdir().unwrap();
    let text = evva_hooks("Stop", &["echo 'not yet' >&2; exit 2"]);
    let new = || engine(&evva::DIALECT, &text, Format::Json, dir.path(), &[]);
    let engine = new();
    let stop = || Event::stop(Stop::new()).within(Envelope::new().session_id("s"));
    let first = engine.fire(stop()).await;
    assert_eq!((first.decision(), first.reason()), (Decision::Deny, Some("not yet")));
    assert!(!engine.fire(stop()).await.decision().is_block());
    let again = Event::stop(Stop::new().stop_hook_active(true));
    assert!(!new().fire(again).await.decision().is_block(), "the host's count takes precedence over a new engine");
}

/// The agent ignores a block of a stop that hooks have refused before, and asks the other hooks anyway.
#[tokio::test]
async fn evva_ignores_a_second_refusal_of_a_stop() {
    for block in ["exit 2", r#"echo '{"decision":"block","reason":"no"}'"#, r#"echo '{"continue":false}'"#] {
        let dir = tempfile::tempdir().unwrap();
        let text = evva_hooks("Stop", &[block, "touch ran"]);
        let engine = engine(&evva::DIALECT, &text, Format::Json, dir.path(), &[]);
        let verdict = engine.fire(Event::stop(Stop::new().stop_hook_active(true))).await;
        assert!(!verdict.decision().is_block() && dir.path().join("ran").exists(), "{block}: {verdict:?}");
        assert!(!verdict.metadata().any(|(name, _)| name == evva::BLOCKED), "{block}: {verdict:?}");
        std::fs::remove_file(dir.path().join("ran")).unwrap();
        let first = engine.fire(Event::stop(Stop::new().stop_hook_active(false))).await;
        assert!(first.decision().is_block() && !dir.path().join("ran").exists(), "{block}: {first:?}");
        assert!(first.metadata().any(|(name, _)| name == evva::BLOCKED), "{block}: {first:?}");
    }
}

fn claw_hooks(event: &str, commands: &[&str]) -> String {
    let commands: Vec<_> = commands.iter().map(|command| RawJson::string(command).to_string()).collect();
    format!(r#"{{"hooks":{{"{event}":[{}]}}}}"#, commands.join(","))
}

/// BUG of the agent: a value too long for a variable kept the hook from starting, which blocked the tool.
#[tokio::test]
async fn claw_passes_large_input() {
    let dir = tempfile::tempdir().unwrap();
    let text = claw_hooks("PreToolUse", &[r#"cat > stdin; wc -c < "$HOOK_TOOL_INPUT_FILE" > size"#]);
    let engine = engine(&claw::DIALECT, &text, Format::Json, dir.path(), &[]);
    let input: RawJson = format!(r#"{{"text":"{}"}}"#, "x".repeat(200 * 1024)).parse().unwrap();
    let size = input.as_str().len();
    let verdict = engine.fire(call(input)).await;
    assert_eq!((verdict.decision(), kinds(&verdict)), (Decision::NoOpinion, vec![]));
    assert_eq!(file(dir.path(), "size").trim(), size.to_string());
    assert!(file(dir.path(), "stdin").len() > 2 * size, "the payload has the whole input twice");
}

#[tokio::test]
async fn claw_ends_at_the_first_deny_or_failure() {
    let dir = tempfile::tempdir().unwrap();
    for (first, reason) in [
        ("echo because; exit 2", "because"),
        ("echo because >&2; exit 2", "because"),
        (r#"echo '{"continue":false,"reason":"because"}'"#, "because"),
        ("echo because; exit 1", "because"),
    ] {
        let text = claw_hooks("PreToolUse", &["echo before", first, "touch ran"]);
        let verdict = engine(&claw::DIALECT, &text, Format::Json, dir.path(), &[]).fire(call(RawJson::default())).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some(reason)), "{first}");
        assert_eq!(claw::messages(&verdict), ["before", "because"], "{first}");
        assert!(!dir.path().join("ran").exists());
    }
}

#[tokio::test]
async fn claw_reports_failed_tools_to_hooks() {
    let dir = tempfile::tempdir().unwrap();
    let show = r#"echo "$HOOK_EVENT $HOOK_TOOL_NAME $HOOK_TOOL_INPUT $HOOK_TOOL_IS_ERROR $HOOK_TOOL_OUTPUT""#;
    let text = claw_hooks("PostToolUseFailure", &[show, "exit 1"]);
    let event = Event::post_tool_failure(ToolFailure::new("write", "{}".parse::<RawJson>().unwrap(), "boom"));
    let verdict = engine(&claw::DIALECT, &text, Format::Json, dir.path(), &[]).fire(event).await;
    assert_eq!(verdict.context()[0].text, "PostToolUseFailure write {} 1 boom");
    assert!(verdict.decision().is_block(), "the result is an error");
}

#[tokio::test]
async fn ub_reports_each_outcome() {
    let text = "hooks: {pre_tool_call: [{command: [\"true\"]}, {command: [sh, -c, \"echo out; echo err >&2; exit 7\"], on_failure: block}]}";
    let decoded = ub::DIALECT.decode("config.yaml", Scope::User, text, Format::Yaml);
    assert_eq!(decoded.diagnostics, []);
    let engine = Engine::builder().settle_as(&ub::DIALECT).hooks(decoded.hooks.iter().cloned()).build();
    let (verdict, record) = engine.fire_recorded(call(RawJson::default())).await;
    assert_eq!(verdict.reason(), Some("err"));
    let outcomes = ub::outcomes(&record, &decoded.hooks);
    let seen: Vec<_> =
        outcomes.iter().map(|one| (one.index, one.argv[0].as_str(), one.exit, one.error.is_some())).collect();
    assert_eq!(seen, [(0, "true", 0, false), (1, "sh", 7, true)]);
    assert_eq!((outcomes[1].stdout.as_str(), outcomes[1].stderr.as_str()), ("out\n", "err\n"));
}

#[tokio::test]
async fn testagent_notification_without_a_type_matches_every_hook() {
    use checkrein::dialects::agents::claude;
    use checkrein::payload::Notification;
    let text =
        r#"{"hooks":{"Notification":[{"matcher":"idle_prompt","hooks":[{"type":"command","command":"true"}]}]}}"#;
    let decoded = claude::SENDER.decode("settings.json", Scope::User, text, Format::Json);
    let engine = Engine::builder().hooks(decoded.hooks).build();
    for (notice, runs) in [
        (Notification::new().message("m"), 1),
        (Notification::new().message("m").notification_type("idle_prompt"), 1),
        (Notification::new().message("m").notification_type("auth_success"), 0),
    ] {
        let (_, record) = engine.fire_recorded(Event::notification(notice.clone())).await;
        assert_eq!(record.hooks.len(), runs, "{notice:?}");
    }
}
