//! Behaviours that the tests of five agents assert, and bugs of those agents, with real processes. Only what no other file
//! covers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{claude, claw, docker_agent, evva, ub};
use checkrein::document::Format;
use checkrein::engine::EngineBuilder;
use checkrein::handler::{Call, HandlerEnv, HandlerFuture, Reply};
use checkrein::hook_files::{Locations, Sources};
use checkrein::observer::HookRun;
use checkrein::payload::{Notification, SessionEnd, Stop, ToolCall, ToolOutcome, UserTurn};
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::{
    Decision, Engine, Envelope, Event, EventKind, Failure, FailureKind, Handler, HookSpec, Observer, Opinion, RawJson,
    Registry, Scope, Trust, Verdict,
};

fn builder(dialect: &'static Dialect, text: &str, dir: &Path) -> EngineBuilder {
    let format = if text.starts_with('{') { Format::Json } else { Format::Yaml };
    let decoded = dialect.decode("config", Scope::User, text, format);
    // A `PATH` of the machine may have entries that hooks do not get, which is a warning in the verdict.
    Engine::builder().hooks(decoded.hooks).settle_as(dialect).cwd(dir).vars([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

fn engine(dialect: &'static Dialect, text: &str, dir: &Path) -> Engine {
    builder(dialect, text, dir).build()
}

fn call() -> ToolCall {
    ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap())
}

fn gate() -> Event {
    Event::pre_tool_use(call())
}

fn kinds(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

fn file(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

/// A command as the only hook at the gate of each agent.
fn guarded_by(command: &str) -> [(&'static Dialect, String); 6] {
    let text = RawJson::string(command);
    let claude_form = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{"type":"command","command":{text}}}]}}]}}}}"#);
    let docker = format!("pre_tool_use: [{{hooks: [{{type: command, command: {text}}}]}}]");
    let ub_form = format!("hooks: {{pre_tool_call: [{{command: [sh, -c, {text}], on_failure: block}}]}}");
    [
        (&claw::DIALECT, format!(r#"{{"hooks":{{"PreToolUse":[{text}]}}}}"#)),
        (&docker_agent::DIALECT, docker.clone()),
        (&docker_agent::G2, docker),
        (&evva::DIALECT, claude_form.clone()),
        (&claude::SENDER, claude_form),
        (&ub::DIALECT, ub_form),
    ]
}

/// Four of the agents wait for the child with the open pipe; one treats it as a failure.
#[tokio::test]
async fn background_child_with_an_open_pipe_does_not_delay_the_verdict() {
    let dir = tempfile::tempdir().unwrap();
    for way in ["sleep 100 &", "setsid sleep 100 &"] {
        for (dialect, text) in guarded_by(&format!("{way} echo $! > pid; exit 0")) {
            let start = Instant::now();
            let verdict = engine(dialect, &text, dir.path()).fire(gate()).await;
            assert!(start.elapsed() < Duration::from_secs(50), "{} {way}", dialect.name);
            let _ = std::process::Command::new("kill").arg(file(dir.path(), "pid").trim()).status();
            assert_eq!((verdict.decision(), kinds(&verdict)), (Decision::NoOpinion, vec![]), "{} {way}", dialect.name);
        }
    }
}

/// The reason of a guard on stderr reaches the model in every dialect.
#[tokio::test]
async fn the_reason_of_a_deny_is_never_lost() {
    let dir = tempfile::tempdir().unwrap();
    for (dialect, text) in guarded_by("echo because >&2; exit 2") {
        let verdict = engine(dialect, &text, dir.path()).fire(gate()).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("because")), "{}", dialect.name);
    }
}

/// Hooks start with data of any size and any bytes, in every dialect.
#[tokio::test]
async fn hooks_start_with_any_tool_data() {
    let dir = tempfile::tempdir().unwrap();
    let large = "x".repeat(200 * 1024);
    for text in [large.as_str(), "nul \0 and 'quotes' \" $(touch pwned) \n é", ""] {
        let json = format!(r#"{{"command":{}}}"#, RawJson::string(text)).parse::<RawJson>().unwrap();
        for (dialect, hooks) in guarded_by("cat > stdin; echo ran >&2; exit 2") {
            let verdict = engine(dialect, &hooks, dir.path())
                .fire(Event::pre_tool_use(ToolCall::new("Bash", json.clone())))
                .await;
            assert_eq!(verdict.reason(), Some("ran"), "{} {:?}", dialect.name, kinds(&verdict));
            assert!(file(dir.path(), "stdin").len() >= text.len(), "{}", dialect.name);
        }
        let hooks = r#"{"hooks":{"PostToolUse":["test \"$HOOK_TOOL_IS_ERROR\" = 0 && cat > stdin"]}}"#;
        let outcome = ToolOutcome::new("Bash", json).tool_response(RawJson::string(text));
        let verdict = engine(&claw::DIALECT, hooks, dir.path()).fire(Event::post_tool_use(outcome)).await;
        assert_eq!(
            (verdict.decision().is_block(), kinds(&verdict)),
            (false, vec![]),
            "after a tool it would be an error"
        );
    }
    assert!(!dir.path().join("pwned").exists());
}

// claw

#[tokio::test]
async fn claw_passes_tool_data_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let hooks =
        r#"{"hooks":{"PostToolUse":["printf %s \"$HOOK_TOOL_OUTPUT\" > out; printf %s \"$HOOK_TOOL_INPUT\" > in"]}}"#;
    let input = r#"{"a": "it's $HOME `x` \"q\""}"#;
    let output = "line 1\nline 2 $HOME 'é'";
    let outcome = ToolOutcome::new("Bash", input.parse::<RawJson>().unwrap()).tool_response(RawJson::string(output));
    engine(&claw::DIALECT, hooks, dir.path()).fire(Event::post_tool_use(outcome)).await;
    assert_eq!((file(dir.path(), "out").as_str(), file(dir.path(), "in").as_str()), (output, input));
}

/// BUG of the agent: only the last file applies, so a project without hooks disables those of the user.
#[tokio::test]
async fn claw_project_without_hooks_hides_no_user_hooks() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let hooks = |hooks: &[&str]| format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, hooks.join(","));
    write("home/.claude/settings.json", &hooks(&[r#""echo user""#, r#""echo both""#]));
    write("project/.claude/settings.json", r#"{"model":"x"}"#);
    write("project/.claude/settings.local.json", &hooks(&[r#""echo both""#, r#""echo local""#]));
    let place = Locations::new(dir.path().join("root")).home(dir.path().join("home"));
    let sources = Sources::discover_in(&claw::DIALECT, dir.path().join("project"), place).trust(Trust::everything());
    let engine = Engine::builder().settle_as(&claw::DIALECT).sources(sources).build();
    assert_eq!(engine.diagnostics(), []);
    assert_eq!(claw::messages(&engine.fire(gate()).await), ["user", "both", "local"]);
}

/// A fire that the host drops is `cancelled` in every dialect, never `denied`.
#[tokio::test]
async fn dropped_fire_is_reported_as_cancelled() {
    #[derive(Clone, Default)]
    struct Ends(Arc<Mutex<Vec<Option<FailureKind>>>>);
    impl Observer for Ends {
        fn finished(&self, _: &HookRun, record: &HookRecord, _: Duration) {
            self.0.lock().unwrap().push(record.failure);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    for (dialect, text) in guarded_by("touch started; sleep 1000") {
        let ends = Ends::default();
        let engine = builder(dialect, &text, dir.path()).observer(ends.clone()).build();
        let started = dir.path().join("started");
        let starts = async {
            while !started.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            verdict = engine.fire(gate()) => panic!("{}: {verdict:?}", dialect.name),
            () = starts => {}
        }
        std::fs::remove_file(started).unwrap();
        assert_eq!(*ends.0.lock().unwrap(), [Some(FailureKind::Cancelled)], "{}", dialect.name);
    }
}

// docker-agent

/// BUG of the agent: every failure message named `PreToolUse`.
#[tokio::test]
async fn docker_agent_failure_names_its_hook_and_no_other_event() {
    let dir = tempfile::tempdir().unwrap();
    let text = "post_tool_use: [{hooks: [{type: command, command: exit 1, name: format, on_error: block}]}]";
    let event = Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default()));
    let verdict = engine(&docker_agent::DIALECT, text, dir.path()).fire(event).await;
    let reason = verdict.reason().unwrap();
    assert!(
        verdict.decision().is_block() && reason.contains("`format`") && !reason.contains("pre_tool_use"),
        "{reason}"
    );
}

/// A model handler of the host: denies every call and records its input.
struct Model(Arc<Mutex<Vec<RawJson>>>);

impl Handler for Model {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        self.0.lock().unwrap().push(call.event().tool_input().unwrap().clone());
        Box::pin(async { Ok(Reply::Opinion(Opinion::deny("judged"))) })
    }
}

#[tokio::test]
async fn docker_agent_model_hook_sees_the_rewritten_input() {
    let dir = tempfile::tempdir().unwrap();
    let seen: Arc<Mutex<Vec<RawJson>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let mut registry = Registry::new();
    let make = move |_: &HookSpec, _: &HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
        Ok(Arc::new(Model(Arc::clone(&kept))))
    };
    registry.register("model", make).unwrap();
    let text = r#"
pre_tool_use:
  - hooks:
      - {type: command, command: "echo '{\"hook_specific_output\":{\"updated_input\":{\"command\":\"pwd\"}}}'"}
      - {type: model, model: m, prompt: p, schema: pre_tool_use_decision}
"#;
    let event = gate();
    let verdict =
        builder(&docker_agent::DIALECT, text, dir.path()).registry(registry).build().fire(event.clone()).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("judged")));
    assert_eq!(seen.lock().unwrap()[0].as_str(), r#"{"command":"pwd"}"#);
    assert_eq!(event, gate(), "the caller's event stays unchanged");
}

// evva

#[tokio::test]
async fn evva_uses_the_named_shell_if_it_exists() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    // In the project, or under another name, it would not be accepted as a shell.
    let elsewhere = tempfile::tempdir().unwrap();
    let shell = elsewhere.path().join("zsh");
    std::fs::write(&shell, "#!/bin/sh\necho \"mine $1 $2\" >&2\nexit 2\n").unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo usual >&2 && exit 2"}]}]}}"#;
    for (named, reason) in
        [(shell.to_str().unwrap(), "mine -c echo usual >&2 && exit 2"), ("/no/such/shell", "usual"), ("", "usual")]
    {
        let vars = [("PATH", "/usr/bin:/bin"), ("EVVA_SHELL", named)];
        let verdict = builder(&evva::DIALECT, text, dir.path()).vars(vars).build().fire(gate()).await;
        assert_eq!(verdict.reason(), Some(reason), "{named}");
    }
}

/// The agent treats a hook that cannot start as one without an opinion.
#[tokio::test]
async fn evva_guard_that_cannot_start_blocks() {
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]}}"#;
    let verdict = engine(&evva::DIALECT, text, Path::new("/no/such/directory")).fire(gate()).await;
    assert_eq!((verdict.decision(), kinds(&verdict)), (Decision::Deny, vec![FailureKind::Spawn]));
}

// testagent

fn sender(event: &str, commands: &[&str]) -> String {
    let hook = |text: &&str| {
        let seconds = if text.starts_with("sleep") { 1 } else { 60 };
        format!(r#"{{"type":"command","timeout":{seconds},"command":{}}}"#, RawJson::string(text))
    };
    let hooks: Vec<_> = commands.iter().map(hook).collect();
    format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{}]}}]}}}}"#, hooks.join(","))
}

#[tokio::test]
async fn testagent_runs_all_hooks_after_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let text = sender(
        "PreToolUse",
        &["exit 1", "sleep 100", "kill -9 $$", "cat > stdin; pwd -P > cwd", "exit 2", "touch last"],
    );
    let event = gate().within(Envelope::new().cwd(dir.path().to_str().unwrap()).session_id("s"));
    let start = Instant::now();
    let verdict = engine(&claude::SENDER, &text, Path::new("/")).fire(event).await;
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(kinds(&verdict), [FailureKind::Exit, FailureKind::Timeout, FailureKind::Signal]);
    assert_eq!(verdict.decision(), Decision::Deny);
    assert!(dir.path().join("last").exists());
    assert!(file(dir.path(), "stdin").contains(r#""session_id":"s""#));
    assert_eq!(Path::new(file(dir.path(), "cwd").trim()), dir.path().canonicalize().unwrap());
}

#[tokio::test]
async fn testagent_without_hooks_builds_no_event() {
    let dir = tempfile::tempdir().unwrap();
    for text in ["{}", r#"{"hooks":{}}"#, &sender("Stop", &["touch ran"])] {
        let engine = engine(&claude::SENDER, text, dir.path());
        assert!(!engine.has(&EventKind::PreToolUse));
        let verdict = engine.fire_with(&EventKind::PreToolUse, || unreachable!("no hook needs the event")).await;
        assert_eq!(verdict, Verdict::default());
    }
    assert!(!dir.path().join("ran").exists());
}

/// Output beyond the limit must not become an allow.
#[tokio::test]
async fn testagent_cut_output_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let deny = r#"printf '{"x":"'; head -c 70000 /dev/zero | tr '\0' x; echo '","decision":"block"}'"#;
    let verdict = engine(&claude::SENDER, &sender("PreToolUse", &[deny]), dir.path()).fire(gate()).await;
    assert_eq!(kinds(&verdict), [FailureKind::OutputCap]);
    assert_ne!(verdict.decision(), Decision::Allow);
}

// ub

const UB: &str = r#"
hooks:
  pre_tool_call: [{command: [sh, -c, 'echo "$UB_HOOK_EVENT $UB_HOOK_TURN" >> log']}]
  post_tool_call: [{command: [sh, -c, 'echo "$UB_HOOK_EVENT $UB_HOOK_TURN" >> log']}]
  pre_user_turn: [{command: [sh, -c, 'echo "$UB_HOOK_EVENT $UB_HOOK_TURN" >> log']}]
  post_user_turn: [{command: [sh, -c, 'echo "$UB_HOOK_EVENT $UB_HOOK_TURN" >> log']}]
"#;

#[tokio::test]
async fn ub_events_run_in_order_with_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let engine = builder(&ub::DIALECT, UB, dir.path()).envelope(|| Envelope::new().turn(4_u64)).build();
    for event in [
        Event::user_turn_start(UserTurn::new()),
        gate(),
        Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default())),
        Event::user_turn_end(UserTurn::new()),
    ] {
        assert_eq!(engine.fire(event).await, Verdict::default());
    }
    let names = ["pre_user_turn", "pre_tool_call", "post_tool_call", "post_user_turn"];
    assert_eq!(file(dir.path(), "log"), names.map(|name| format!("{name} 4\n")).concat());
}

/// BUG of the agent: after one hook blocked, all were labelled as blocked.
#[tokio::test]
async fn ub_records_each_hook_with_its_own_outcome() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "hooks: {pre_tool_call: [{command: ['true']}, {command: ['false'], on_failure: block}, {command: ['false']}]}";
    let (verdict, record) = engine(&ub::DIALECT, text, dir.path()).fire_recorded(gate()).await;
    assert_eq!(verdict.reason(), Some("hook false exit 1"));
    let outcomes: Vec<_> = record.hooks.iter().map(|hook| (hook.exit_code, hook.failure)).collect();
    let failed = (Some(1), Some(FailureKind::Exit));
    assert_eq!(outcomes, [(Some(0), None), failed, failed]);
    assert_eq!(record.hooks[0].outcome, HookOutcome::Opinion);
    assert_eq!(verdict.decided_by().unwrap().id, record.hooks[1].id);
}

#[tokio::test]
async fn ub_capped_output_is_marked_as_truncated() {
    let dir = tempfile::tempdir().unwrap();
    // Two-byte characters after one byte, so that the limit falls into a character.
    let script = "printf x >&2; i=0; while [ $i -lt 3000 ]; do printf é >&2; i=$((i+1)); done; exit 3";
    let text =
        format!("hooks: {{pre_tool_call: [{{command: [sh, -c, {}], on_failure: block}}]}}", RawJson::string(script));
    let (verdict, record) = engine(&ub::DIALECT, &text, dir.path()).fire_recorded(gate()).await;
    assert_eq!(verdict.decision(), Decision::Deny);
    let stderr = record.hooks[0].stderr.as_deref().unwrap();
    assert!(stderr.len() <= 4096 + 3 && stderr.starts_with("xé"), "{}", stderr.len());
    assert!(record.hooks[0].truncated);
    assert!(verdict.reason().unwrap().starts_with("xé"));
}

/// BUG of ub: after a turn was cancelled, the hooks at its end could not start.
#[tokio::test]
async fn end_hooks_run_after_a_cancelled_event() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::builder()
        .cwd(dir.path())
        .hook(HookSpec::shell("slow", EventKind::PreToolUse, "sleep 1000"))
        .hook(HookSpec::shell("turn", EventKind::UserTurnEnd, "echo turn >> log"))
        .hook(HookSpec::shell("session", EventKind::SessionEnd, "echo session >> log"))
        .hook(HookSpec::shell("stuck", EventKind::Stop, "sleep 1000").timeout(Duration::from_millis(100)))
        .build();
    assert!(tokio::time::timeout(Duration::from_millis(50), engine.fire(gate())).await.is_err());
    assert_eq!(engine.fire(Event::user_turn_end(UserTurn::new())).await, Verdict::default());
    let verdict = engine.fire(Event::stop(Stop::new())).await;
    assert_eq!(kinds(&verdict), [FailureKind::Timeout]);
    assert_eq!(engine.fire(Event::session_end(SessionEnd::new())).await, Verdict::default());
    assert_eq!(file(dir.path(), "log"), "turn\nsession\n");
}

/// A panic while a hook gets its event is a failure that follows the agent's table, never a silent verdict.
#[tokio::test]
async fn panic_of_a_handler_follows_the_failure_table() {
    struct Unwritable;
    impl Handler for Unwritable {
        fn call<'a>(&'a self, _: &'a Call) -> HandlerFuture<'a> {
            panic!("cannot be written")
        }
    }
    let mut registry = Registry::new();
    let make = |_: &HookSpec, _: &HandlerEnv| -> Result<Arc<dyn Handler>, Failure> { Ok(Arc::new(Unwritable)) };
    registry.register("command", make).unwrap();
    // Agents whose hooks fail open.
    const OPEN: &[&str] = &["evva", "claude@sender"];
    for (dialect, text) in guarded_by("true") {
        let dir = tempfile::tempdir().unwrap();
        let engine = builder(dialect, &text, dir.path()).registry(registry.clone()).build();
        let verdict = engine.fire(gate()).await;
        assert_eq!(kinds(&verdict), [FailureKind::Panic], "{}", dialect.name);
        let opens = OPEN.contains(&dialect.name);
        assert_eq!(verdict.decision().is_block(), !opens, "{}", dialect.name);
        assert_eq!(verdict.warnings().len(), 1, "{}", dialect.name);
    }
}

/// All notification hooks run, and none can decide.
#[tokio::test]
async fn evva_notification_hooks_all_run_without_effect() {
    let dir = tempfile::tempdir().unwrap();
    let text = sender("Notification", &["touch one; exit 2", r#"touch two; echo '{"continue":false}'"#, "touch three"]);
    let text = text.replace(r#""hooks":[{"#, r#""matcher":"","hooks":[{"#);
    let event = Event::notification(Notification::new().message("m").notification_type("iter_limit"));
    let verdict = engine(&evva::DIALECT, &text, dir.path()).fire(event).await;
    assert!(!verdict.decision().is_block());
    assert!(["one", "two", "three"].iter().all(|name| dir.path().join(name).exists()));
}
