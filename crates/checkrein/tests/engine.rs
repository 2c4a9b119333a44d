//! The engine, as agent authors use it: real processes, real functions.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein::event::Target;
use checkrein::handler::{Builtin, Call, HandlerFuture, Reply};
use checkrein::hook::{CommandSpec, HandlerSpec};
use checkrein::observer::HookRun;
use checkrein::payload::{Prompt, SessionStart, Stop, ToolCall};
use checkrein::record::HookRecord;
use checkrein::rules::RunOrder;
use checkrein::{
    Action, Decision, Engine, Envelope, Event, EventKind, Failure, FailureKind, FailurePolicy, Handler, HookSpec,
    Matcher, Observer, Opinion, RawJson, Registry, Rules, Verdict,
};

const GATE: EventKind = EventKind::PreToolUse;

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command": "ls", "n": 9007199254740993}"#)))
}

fn engine(hooks: impl IntoIterator<Item = HookSpec>) -> Engine {
    Engine::builder().hooks(hooks).build()
}

fn registry(name: &str, builtin: Builtin) -> Registry {
    let mut registry = Registry::new();
    registry.register_builtin(name, builtin).unwrap();
    registry
}

async fn fire(hook: HookSpec) -> Verdict {
    engine([hook]).fire(tool_call()).await
}

fn failure_kinds(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

#[tokio::test]
async fn process_decides_by_exit_code_and_output() {
    for (command, decision, reason) in [
        ("exit 0", Decision::NoOpinion, None),
        ("echo no >&2; exit 2", Decision::Deny, Some("no")),
        (r#"echo '{"decision":"allow"}'"#, Decision::Allow, None),
        (
            r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#,
            Decision::Ask,
            Some("sure?"),
        ),
        (r#"echo '{"continue":false,"stopReason":"enough"}'"#, Decision::Halt, Some("enough")),
        (r#"grep -q '"n": 9007199254740993' && { echo seen >&2; exit 2; }"#, Decision::Deny, Some("seen")),
    ] {
        let verdict = fire(HookSpec::shell("h", GATE, command)).await;
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason), "{command}");
        assert_eq!(verdict.failures().count(), 0, "{command}");
    }
}

#[tokio::test]
async fn every_failure_has_its_kind_and_closes_the_gate() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "echo").unwrap();
    let text = |text: &str| HookSpec::shell("h", GATE, text);
    let argv = |program: &str| HookSpec::argv("h", GATE, [program]);
    for (hook, kind) in [
        (text("exit 1"), FailureKind::Exit),
        (text("exit 255"), FailureKind::Exit),
        (text("/no/such/program"), FailureKind::Exit),
        (text("kill -SEGV $$"), FailureKind::Signal),
        (text("kill -KILL $$"), FailureKind::Signal),
        (text("echo '{'"), FailureKind::Parse),
        (text("echo '{} {}'"), FailureKind::Parse),
        (text(r#"echo '{"decision":"maybe"}'"#), FailureKind::Schema),
        (text(r#"echo '{"hookSpecificOutput":{"updatedInput":{}}}'"#), FailureKind::Schema),
        (text("echo '{}'; head -c 5000 /dev/zero").command(|c| c.output_cap(100)), FailureKind::OutputCap),
        (text("sleep 100").timeout(Duration::from_millis(50)), FailureKind::Timeout),
        (text("true").command(|c| c.cwd("/no/such/directory")), FailureKind::Spawn),
        (argv("no-such-program-anywhere"), FailureKind::Spawn),
        (argv(plain.to_str().unwrap()), FailureKind::Spawn),
        (HookSpec::builtin("h", GATE, "no_such_function"), FailureKind::UnknownHandler),
        (text("  "), FailureKind::Spawn),
    ] {
        let what = format!("{:?}", hook.handler);
        let verdict = fire(hook.clone()).await;
        assert_eq!(failure_kinds(&verdict), [kind], "{what}");
        assert_eq!(verdict.decision(), Decision::Deny, "{what}");
        assert!(verdict.reason().unwrap().contains("tests/engine.rs:"), "{what}: {:?}", verdict.reason());
        // The hook's own policy takes precedence.
        assert_eq!(fire(hook.clone().on_failure(FailurePolicy::Open)).await.decision(), Decision::NoOpinion, "{what}");
        assert_eq!(fire(hook.on_failure(FailurePolicy::Ask)).await.decision(), Decision::Ask, "{what}");
    }
}

#[tokio::test]
async fn broken_hooks_are_reported_at_load() {
    let engine = engine([
        HookSpec::builtin("typo", GATE, "add_dat"),
        HookSpec::new("kind", GATE, HandlerSpec::Other { kind: "comand".to_owned(), settings: RawJson::default() }),
        HookSpec::shell("empty", GATE, ""),
        HookSpec::shell("async", GATE, "true").in_background(),
        HookSpec::shell("fine", GATE, "true"),
    ]);
    let problems: Vec<_> =
        engine.problems().iter().map(|problem| (problem.hook.id.clone(), problem.kind.to_string())).collect();
    let ids: Vec<_> = problems.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["typo", "kind", "empty", "async"]);
    assert!(problems[1].1.contains("did you mean `command`?"), "{problems:?}");
    assert!(problems[3].1.contains("cannot block anything"), "{problems:?}");
}

#[tokio::test]
async fn strongest_decision_wins_in_any_finishing_order() {
    let dir = tempfile::tempdir().unwrap();
    // The hook that denies waits until the other one has finished.
    let done = dir.path().join("done");
    let slow = format!("while ! test -e {0}; do sleep 0.01; done; echo late >&2; exit 2", done.display());
    let quick = format!(r#"echo '{{"decision":"allow"}}'; touch {}"#, done.display());
    for order in [[&slow, &quick], [&quick, &slow]] {
        let _ = std::fs::remove_file(&done);
        let verdict = engine(order.map(|text| HookSpec::shell("h", GATE, text))).fire(tool_call()).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("late")));
        assert_eq!(verdict.reasons().len(), 2);
    }
}

#[tokio::test]
async fn rewriters_run_first_and_other_hooks_see_both_inputs() {
    let patch = r#"echo '{"hookSpecificOutput":{"inputPatch":{"STEP":true}}}'"#;
    let seen = r#"cat >&2; exit 2"#;
    let verdict = engine([
        HookSpec::shell("guard", GATE, seen),
        HookSpec::shell("one", GATE, patch.replace("STEP", "one")).rewrites(),
        HookSpec::shell("two", GATE, format!("grep -q '\"one\":true' && {}", patch.replace("STEP", "two"))).rewrites(),
    ])
    .fire(tool_call())
    .await;
    let effective = r#"{"command":"ls","n":9007199254740993,"one":true,"two":true}"#;
    assert_eq!(verdict.effective_input().unwrap().as_str(), effective);
    let payload = json(verdict.reason().unwrap());
    assert_eq!(payload.field("tool_input").unwrap().as_str(), effective);
    assert_eq!(payload.field("original_input").unwrap().as_str(), r#"{"command": "ls", "n": 9007199254740993}"#);
    assert_eq!(payload.field("hook_event_name").unwrap().as_text().unwrap(), "PreToolUse");
}

#[tokio::test]
async fn sequential_chain_ends_at_the_first_block() {
    let rules = Rules::NATIVE.order(RunOrder::Sequential).chain_end(checkrein::rules::ChainEnd::FirstBlock);
    let engine = Engine::builder()
        .rules(rules)
        .hook(HookSpec::shell("one", GATE, "exit 2"))
        .hook(HookSpec::shell("two", GATE, "exit 0"))
        .build();
    let (verdict, record) = engine.fire_recorded(tool_call()).await;
    assert!(verdict.decision().is_block());
    let outcomes: Vec<_> = record.hooks.iter().map(|hook| (hook.id.as_str(), hook.outcome)).collect();
    assert_eq!(
        outcomes,
        [("one", checkrein::record::HookOutcome::Opinion), ("two", checkrein::record::HookOutcome::Skipped)]
    );
}

#[tokio::test]
async fn hooks_are_selected_by_matcher() {
    let engine = engine([HookSpec::shell("h", GATE, "exit 2").matching(Matcher::names(["Write"]))]);
    assert!(engine.has(&GATE) && !engine.has(&EventKind::Stop));
    assert!(engine.would_fire(&GATE, "Write") && !engine.would_fire(&GATE, "Bash"));
    assert_eq!(engine.fire(tool_call()).await, Verdict::default());
    let verdict = engine.fire_with(&EventKind::Stop, || unreachable!("no hook could see it")).await;
    assert_eq!(verdict, Verdict::default());
    assert_eq!(engine.hooks_for(&GATE).len(), 1);

    engine.replace_all(vec![HookSpec::shell("other", EventKind::Stop, "exit 2")]);
    assert!(!engine.has(&GATE) && engine.has(&EventKind::Stop));
}

#[tokio::test]
async fn native_hook_gets_default_and_requested_variables() {
    let builder = |hook| {
        Engine::builder()
            .vars([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("API_KEY", "secret-1"), ("OTHER", "secret-2")])
            .hook(hook)
            .build()
    };
    let dump = || HookSpec::shell("h", GATE, "env >&2; exit 2");
    let seen = builder(dump()).fire(tool_call()).await.reason().unwrap().to_owned();
    assert!(seen.contains("PATH=/usr/bin:/bin") && seen.contains("LC_ALL=C"), "{seen}");
    assert!(!seen.contains("secret"), "{seen}");
    let asked = dump().command(|command| command.allow_env("API_KEY").env("MODE", "strict"));
    let seen = builder(asked).fire(tool_call()).await.reason().unwrap().to_owned();
    assert!(seen.contains("API_KEY=secret-1") && seen.contains("MODE=strict") && !seen.contains("OTHER"), "{seen}");
    let all = builder(dump().command(CommandSpec::allow_all_env)).fire(tool_call()).await;
    assert!(all.reason().unwrap().contains("OTHER=secret-2"));
}

#[tokio::test]
async fn process_runs_in_the_working_directory_of_the_event() {
    let dir = tempfile::tempdir().unwrap();
    let sub = dir.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let prints_cwd = || HookSpec::shell("h", GATE, "pwd -P >&2; exit 2");
    let event = || tool_call().within(Envelope::new().cwd(dir.path().to_str().unwrap()));
    let printed = |verdict: &Verdict| std::path::PathBuf::from(verdict.reason().unwrap());
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(printed(&engine([prints_cwd()]).fire(event()).await), real);
    let inside = prints_cwd().command(|command| command.cwd("sub"));
    assert_eq!(printed(&engine([inside]).fire(event()).await), real.join("sub"));
    let own = Engine::builder().cwd(&sub).hook(prints_cwd()).build();
    assert_eq!(printed(&own.fire(tool_call()).await), real.join("sub"));
}

// Functions of the registry, and handler kinds of the host.

#[tokio::test]
async fn builtins_get_the_event_and_their_arguments() {
    let mut spec = HookSpec::builtin("b", GATE, "deny_tool");
    spec.handler =
        HandlerSpec::Builtin(checkrein::hook::BuiltinSpec { name: "deny_tool".into(), args: vec!["Bash".into()] });
    let deny_tool = |call: checkrein::handler::BuiltinCall<'_>| {
        let denied = call.event.tool_name() == call.args.first().map(String::as_str);
        Ok(if denied { Opinion::deny("not this tool") } else { Opinion::none() })
    };
    let mut registry = registry("deny_tool", Builtin::immediate(|_| panic!("replaced before it could")));
    registry.register_builtin("deny_tool", Builtin::immediate(deny_tool)).unwrap();
    let engine = Engine::builder().registry(registry).hook(spec).build();
    assert_eq!(engine.fire(tool_call()).await.reason(), Some("not this tool"));
    let other = Event::pre_tool_use(ToolCall::new("Read", RawJson::default()));
    assert_eq!(engine.fire(other).await.decision(), Decision::NoOpinion);
    assert!(Registry::new().register_builtin(" ", Builtin::immediate(|_| Ok(Opinion::none()))).is_err());
}

#[tokio::test]
async fn panic_of_a_builtin_fails_only_its_hook() {
    let mut registry = registry("now", Builtin::immediate(|_| panic!("oh")));
    registry
        .register_builtin(
            "later",
            Builtin::new(|_| {
                Box::pin(async {
                    tokio::task::yield_now().await;
                    panic!("later")
                })
            }),
        )
        .unwrap();
    let engine = Engine::builder()
        .registry(registry)
        .hook(HookSpec::builtin("now", GATE, "now").on_failure(FailurePolicy::Open))
        .hook(HookSpec::builtin("later", GATE, "later").on_failure(FailurePolicy::Open))
        .hook(HookSpec::shell("shell", GATE, "echo fine >&2; exit 2"))
        .build();
    let verdict = engine.fire(tool_call()).await;
    assert_eq!(failure_kinds(&verdict), [FailureKind::Panic, FailureKind::Panic]);
    assert_eq!(verdict.reason(), Some("fine"));
}

/// Records the address of the payload.
struct Payloads(Arc<Mutex<Vec<usize>>>);

impl Handler for Payloads {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        self.0.lock().unwrap().push(call.payload().as_ptr() as usize);
        Box::pin(async { Ok(Reply::Opinion(Opinion::none())) })
    }
}

#[tokio::test]
async fn handlers_of_the_host_share_one_payload() {
    let seen: Arc<Mutex<Vec<usize>>> = Arc::default();
    let built = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    let (shared, counted) = (Arc::clone(&seen), Arc::clone(&built));
    registry
        .register(
            "mine",
            move |_: &HookSpec, _: &checkrein::handler::HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
                counted.fetch_add(1, Ordering::SeqCst);
                Ok(Arc::new(Payloads(Arc::clone(&shared))))
            },
        )
        .unwrap();
    let mine = || HandlerSpec::Other { kind: "mine".to_owned(), settings: RawJson::default() };
    let hooks = (0..5).map(|n| HookSpec::new(n.to_string(), GATE, mine()));
    let engine = Engine::builder().registry(registry).hooks(hooks).build();
    for _ in 0..3 {
        seen.lock().unwrap().clear();
        engine.fire(tool_call()).await;
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 5);
        assert!(seen.iter().all(|address| *address == seen[0]), "serialized once, read by all");
    }
    assert_eq!(built.load(Ordering::SeqCst), 5, "handlers are created at load, not at every fire");
}

#[tokio::test]
async fn handler_is_dropped_at_the_deadline() {
    struct Forever(Arc<AtomicUsize>);
    impl Handler for Forever {
        fn call<'a>(&'a self, _: &'a Call) -> HandlerFuture<'a> {
            struct CountDrop(Arc<AtomicUsize>);
            impl Drop for CountDrop {
                fn drop(&mut self) {
                    self.0.fetch_add(1, Ordering::SeqCst);
                }
            }
            let counter = CountDrop(Arc::clone(&self.0));
            Box::pin(async move {
                std::future::pending::<()>().await;
                drop(counter);
                Ok(Reply::Opinion(Opinion::allow()))
            })
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    let counts = Arc::clone(&dropped);
    registry
        .register(
            "forever",
            move |_: &HookSpec, _: &checkrein::handler::HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
                Ok(Arc::new(Forever(Arc::clone(&counts))))
            },
        )
        .unwrap();
    let handler = HandlerSpec::Other { kind: "forever".to_owned(), settings: RawJson::default() };
    let hook = HookSpec::new("forever", GATE, handler).timeout(Duration::from_millis(20));
    let verdict = Engine::builder().registry(registry).hook(hook).build().fire(tool_call()).await;
    assert_eq!(failure_kinds(&verdict), [FailureKind::Timeout]);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

// Observers and records.

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Observer for Lines {
    fn started(&self, run: &HookRun) {
        self.0.lock().unwrap().push(format!("{} {} {:?} starts", run.kind, run.hook.id, run.subject));
    }
    fn finished(&self, run: &HookRun, record: &HookRecord, _: Duration) {
        self.0.lock().unwrap().push(format!("{} {:?}", run.hook.id, record.exit_code));
    }
    fn settled(&self, record: &checkrein::Record) {
        self.0.lock().unwrap().push(format!("{} {}", record.event, record.verdict.decision));
    }
}

struct PanicsAtStart;

impl Observer for PanicsAtStart {
    fn started(&self, _: &HookRun) {
        panic!("at start");
    }
}

#[tokio::test]
async fn observers_see_every_run_and_cannot_break_anything() {
    let lines = Lines::default();
    let engine = Engine::builder()
        .observer(PanicsAtStart)
        .observer(lines.clone())
        .hook(HookSpec::shell("h", GATE, "echo no >&2; exit 2"))
        .build();
    let verdict = engine.fire(tool_call()).await;
    assert_eq!(verdict.reason(), Some("no"));
    assert_eq!(failure_kinds(&verdict), [FailureKind::Panic], "reported, and open");
    let expected = ["pre_tool_use h Some(\"Bash\") starts", "h Some(2)", "pre_tool_use deny"];
    assert_eq!(*lines.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn record_has_exit_code_and_output() {
    let engine = engine([HookSpec::shell("h", GATE, "echo out; echo err >&2; exit 1")]);
    let (verdict, record) = engine.fire_recorded(tool_call()).await;
    assert!(verdict.decision().is_block());
    let hook = &record.hooks[0];
    assert_eq!((hook.exit_code, hook.failure), (Some(1), Some(FailureKind::Exit)));
    assert_eq!((hook.stdout.as_deref(), hook.stderr.as_deref()), (Some("out\n"), Some("err\n")));
    assert!(hook.duration_ms.is_some() && !hook.truncated);
    assert_eq!(record.dialect, "native");
    assert_eq!(engine.fire_recorded(Event::stop(Stop::new())).await.1.hooks, []);
}

// Changes during a session.

#[tokio::test]
async fn agents_share_hooks_and_have_their_own_envelopes() {
    let mode = Arc::new(Mutex::new("default"));
    let now = Arc::clone(&mode);
    let engine = Engine::builder()
        .envelope(move || Envelope::new().session_id("s").permission_mode(*now.lock().unwrap()))
        .hook(HookSpec::shell("h", GATE, "cat >&2; exit 2"))
        .build();
    let seen = async |engine: &Engine, field: &str| {
        let payload = json(engine.fire(tool_call()).await.reason().unwrap());
        payload.field(field).map(|value| value.as_text().unwrap().into_owned())
    };
    assert_eq!(seen(&engine, "permission_mode").await.as_deref(), Some("default"));
    *mode.lock().unwrap() = "plan";
    assert_eq!(seen(&engine, "permission_mode").await.as_deref(), Some("plan"));
    let helper = engine.for_agent(|| Envelope::new().session_id("s").agent_id("a1").agent_type("explore"));
    assert_eq!(seen(&helper, "agent_type").await.as_deref(), Some("explore"));
    assert_eq!(seen(&engine, "agent_type").await, None);
    let own = engine.fire(tool_call().within(Envelope::new().session_id("other"))).await;
    assert_eq!(json(own.reason().unwrap()).field("session_id").unwrap().as_text().unwrap(), "other");
}

#[tokio::test]
async fn stop_is_accepted_after_the_cap() {
    let engine = Engine::builder()
        .stop_cap(3)
        .hook(HookSpec::shell("never", EventKind::Stop, "grep -o 'stop_hook_active\":[a-z]*' >&2; exit 2"))
        .build();
    let stop = |session: &str| Event::stop(Stop::new()).within(Envelope::new().session_id(session));
    let first = engine.fire(stop("s")).await;
    assert_eq!((first.decision(), first.reason()), (Decision::Deny, Some("stop_hook_active\":false")));
    for _ in 0..2 {
        let again = engine.fire(stop("s")).await;
        assert_eq!((again.decision(), again.reason()), (Decision::Deny, Some("stop_hook_active\":true")));
    }
    let accepted = engine.fire(stop("s")).await;
    assert_eq!(accepted.decision(), Decision::NoOpinion);
    assert!(accepted.warnings()[0].text.contains("refused the stop 3 times in a row"), "{accepted:?}");
    // Another session has its own count, and this one starts at 0 again.
    assert_eq!(engine.fire(stop("t")).await.decision(), Decision::Deny);
    assert_eq!(engine.fire(stop("s")).await.reason(), Some("stop_hook_active\":false"));
}

#[tokio::test]
async fn once_hook_is_retried_after_failure() {
    let dir = tempfile::tempdir().unwrap();
    let flag = dir.path().join("flag");
    let text = format!("test -e {} || exit 1; echo no >&2; exit 2", flag.display());
    let engine = engine([HookSpec::shell("h", GATE, text).once()]);
    let call = |session: &str| tool_call().within(Envelope::new().session_id(session));
    assert_eq!(failure_kinds(&engine.fire(call("s")).await), [FailureKind::Exit]);
    std::fs::write(&flag, "").unwrap();
    assert_eq!(engine.fire(call("s")).await.reason(), Some("no"), "it failed, so it runs again");
    assert_eq!(engine.fire(call("s")).await.decision(), Decision::NoOpinion);
    assert_eq!(engine.fire(call("t")).await.reason(), Some("no"), "another session has its own");
}

#[tokio::test]
async fn clone_of_a_hook_is_independent() {
    let base = HookSpec::shell("base", GATE, "echo base >&2; exit 2").matching(Matcher::names(["Bash"]));
    let mut other = base.clone().matching(Matcher::names(["Read"]));
    other.handler = HandlerSpec::Command(CommandSpec::shell("exit 0"));
    assert_eq!(engine([base, other]).fire(tool_call()).await.reason(), Some("base"));
}

#[tokio::test]
async fn panics_of_handlers_are_failures() {
    struct Odd;
    impl Handler for Odd {
        fn call<'a>(&'a self, _: &'a Call) -> HandlerFuture<'a> {
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    panic!("in drop");
                }
            }
            let bomb = Bomb;
            Box::pin(async move {
                std::future::pending::<()>().await;
                drop(bomb);
                Ok(Reply::Opinion(Opinion::none()))
            })
        }
        fn shutdown_grace(&self) -> Duration {
            panic!("in shutdown_grace")
        }
    }
    let mut registry = Registry::new();
    registry
        .register("odd", |_: &HookSpec, _: &checkrein::handler::HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
            Ok(Arc::new(Odd))
        })
        .unwrap();
    let odd = || HandlerSpec::Other { kind: "odd".to_owned(), settings: RawJson::default() };
    let cancelled = Builtin::immediate(|_| Err(Failure::new(FailureKind::Cancelled, "cancelled")));
    registry.register_builtin("gives_up", cancelled).unwrap();
    let hooks = [
        HookSpec::new("one", GATE, odd()),
        HookSpec::new("two", GATE, odd()),
        HookSpec::builtin("three", GATE, "gives_up"),
    ];
    let verdict = Engine::builder().registry(registry).hooks(hooks).build().fire(tool_call()).await;
    assert_eq!(failure_kinds(&verdict), [FailureKind::Panic, FailureKind::Panic, FailureKind::Error]);
    assert_eq!((verdict.decision(), verdict.is_cancelled()), (Decision::Deny, false));
}

#[test]
fn runtime_without_time_closes_gates() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let engine = engine([HookSpec::shell("one", GATE, "exit 0"), HookSpec::shell("two", GATE, "exit 0")]);
    let verdict = runtime.block_on(engine.fire(tool_call()));
    assert_eq!(verdict.decision(), Decision::Deny);
}

#[tokio::test]
async fn late_reply_is_a_timeout() {
    let late = Builtin::immediate(|_| {
        std::thread::sleep(Duration::from_millis(300));
        Ok(Opinion::allow())
    });
    let hook = HookSpec::builtin("late", GATE, "late").timeout(Duration::from_millis(10));
    let verdict = Engine::builder().registry(registry("late", late)).hook(hook).build().fire(tool_call()).await;
    assert_eq!(failure_kinds(&verdict), [FailureKind::Timeout]);
}

#[tokio::test]
async fn background_hooks_see_rewrites() {
    let engine = engine([
        HookSpec::shell("archive", GATE, "cat >&2; exit 2").in_background(),
        HookSpec::shell("redact", GATE, r#"echo '{"updatedInput":{"token":"REDACTED"}}'"#).rewrites(),
    ]);
    let mut completions = engine.completions();
    engine.fire(Event::pre_tool_use(ToolCall::new("T", json(r#"{"token":"SECRET"}"#)))).await;
    let seen = completions.next().await.unwrap();
    assert_eq!(seen.event.tool_input().unwrap().as_str(), r#"{"token":"REDACTED"}"#);
}

#[test]
fn dropping_a_fire_ends_its_processes_without_the_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let text = format!("echo $$ >> {}; sleep 1000", pids.display());
    let engine = engine((0..2).map(|n| HookSpec::shell(n.to_string(), GATE, text.clone())));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let started = || std::fs::read_to_string(&pids).unwrap_or_default();
    runtime.block_on(async {
        let fire = engine.fire(tool_call());
        tokio::select! {
            _ = fire => panic!("it cannot be done"),
            () = async { while started().lines().count() < 2 { tokio::time::sleep(Duration::from_millis(5)).await } } => {}
        }
    });
    // The runtime is not driven any more.
    for pid in started().lines() {
        while is_alive(pid.parse().unwrap()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn blocking_fires_can_be_nested() {
    let engine = engine([HookSpec::shell("inner", EventKind::Notification, "exit 0")]);
    let fires = Builtin::immediate(move |_| {
        engine.fire_blocking(Event::notification(checkrein::payload::Notification::new()));
        Ok(Opinion::deny("done"))
    });
    let hooks = [HookSpec::builtin("outer", GATE, "fires"), HookSpec::shell("beside", GATE, "exit 0")];
    let outer = Engine::builder().registry(registry("fires", fires)).hooks(hooks).build();
    assert_eq!(outer.fire_blocking(tool_call()).reason(), Some("done"));
}

#[tokio::test]
async fn background_hooks_do_not_use_slots_of_gates() {
    let endless = HookSpec::shell("endless", EventKind::Notification, "sleep 1000").in_background();
    let engine = Engine::builder().at_once(1).hook(endless).hook(HookSpec::shell("gate", GATE, "exit 2")).build();
    engine.fire(Event::notification(checkrein::payload::Notification::new())).await;
    // Otherwise this would take as long as the sleep.
    assert!(engine.fire(tool_call()).await.decision().is_block());
    engine.shutdown(Duration::ZERO).await;
    let _ = Engine::builder().at_once(usize::MAX).background_at_once(usize::MAX).build();
}

#[tokio::test]
async fn prompt_resets_the_stop_count_unless_it_is_the_reason() {
    let engine = Engine::builder().stop_cap(2).hook(HookSpec::shell("never", EventKind::Stop, "exit 2")).build();
    let stop = async || {
        let verdict = engine.fire(Event::stop(Stop::new())).await;
        matches!(verdict.action(), Action::Continue { .. })
    };
    let prompt = async || engine.fire(Event::prompt_submit(Prompt::new("go on"))).await;
    // A prompt with the reason does not reset the count.
    for expected in [true, true, false] {
        assert_eq!(stop().await, expected);
        prompt().await;
    }
    // A prompt of the user, after the one with the reason.
    assert!(stop().await);
    prompt().await;
    prompt().await;
    assert!(stop().await && stop().await && !stop().await);
    // A halt lets the agent stop.
    engine.replace_all(vec![HookSpec::shell("halts", EventKind::Stop, r#"echo '{"continue":false}'"#)]);
    assert!(!stop().await);
}

#[test]
fn debug_shows_no_secrets() {
    let spec = HookSpec::shell("h", GATE, "true").command(|command| command.env("API_KEY", "secret-1"));
    assert!(!format!("{spec:?}").contains("secret-1"));
}

#[tokio::test]
async fn unapproved_hook_fails_open() {
    let mut spec = HookSpec::shell("h", GATE, "exit 2");
    spec.state = checkrein::hook::HookState::Untrusted;
    let verdict = fire(spec).await;
    assert_eq!((verdict.decision(), failure_kinds(&verdict)), (Decision::NoOpinion, vec![FailureKind::Untrusted]));
}

#[tokio::test]
async fn once_hook_runs_once_per_session() {
    let engine = engine([HookSpec::shell("h", EventKind::SessionStart, "echo hello").once()]);
    let start = || Event::session_start(SessionStart::new());
    assert_eq!(engine.fire(start()).await.context().len(), 1);
    assert_eq!(engine.fire(start()).await.context().len(), 0);
}

// Background hooks.

#[tokio::test]
async fn background_hooks_send_completions() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let text = format!("while ! test -e {}; do sleep 0.01; done; echo late >&2; exit 2", go.display());
    let engine = engine([HookSpec::shell("h", GATE, text).in_background()]);
    let mut completions = engine.completions();
    // Otherwise this would never return.
    assert_eq!(engine.fire(tool_call()).await, Verdict::default());
    std::fs::write(&go, "").unwrap();
    let completion = completions.next().await.unwrap();
    assert_eq!(completion.hook.id, "h");
    assert_eq!(completion.result.unwrap().reason(), Some("late"));
}

#[tokio::test]
async fn shutdown_waits_then_ends_and_reports_counts() {
    let quick = HookSpec::shell("quick", GATE, "true").in_background();
    let endless = HookSpec::shell("endless", GATE, "sleep 1000").in_background().timeout(Duration::from_secs(2000));
    let engine = engine([quick, endless.clone(), endless]);
    let mut completions = engine.completions();
    engine.fire(tool_call()).await;
    assert_eq!(completions.next().await.unwrap().hook.id, "quick");
    let report = engine.shutdown(Duration::from_millis(50)).await;
    assert_eq!(report.ended, 2);
    for _ in 0..2 {
        let ended = completions.next().await.unwrap();
        assert_eq!((ended.hook.id.as_str(), ended.result.unwrap_err().kind), ("endless", FailureKind::Cancelled));
    }
    assert!(completions.next().await.is_none(), "no completions after a shutdown");
    let refused = engine.fire(tool_call()).await;
    assert!(refused.warnings()[0].text.contains("shutting down"), "never silent: {refused:?}");
    assert_eq!(engine.shutdown(Duration::ZERO).await.ended, 0);
}

#[tokio::test]
async fn cancelled_shutdown_can_be_repeated() {
    let endless = HookSpec::shell("endless", GATE, "sleep 1000").in_background().timeout(Duration::from_secs(2000));
    let engine = engine([endless]);
    engine.fire(tool_call()).await;
    // It waits for as long as the hook sleeps.
    let shutdown = engine.shutdown(Duration::from_secs(1000));
    assert!(tokio::time::timeout(Duration::from_millis(10), shutdown).await.is_err());
    assert_eq!(engine.shutdown(Duration::ZERO).await.ended, 1);
}

#[tokio::test]
async fn background_queue_is_bounded() {
    let endless = HookSpec::shell("endless", GATE, "sleep 1000").in_background();
    let engine = Engine::builder().background_at_once(1).hook(endless).build();
    let mut refused = 0;
    for _ in 0..300 {
        refused += engine.fire(tool_call()).await.failures().count();
    }
    assert_eq!(refused, 300 - 257, "hooks beyond the queue are refused and reported");
    engine.shutdown(Duration::ZERO).await;
}

// Blocking fires, dropped fires, parallel runs.

#[test]
fn fire_blocking_works_with_and_without_a_runtime() {
    let engine = engine([HookSpec::shell("h", GATE, "echo no >&2; exit 2")]);
    let check = |engine: &Engine| assert_eq!(engine.fire_blocking(tool_call()).reason(), Some("no"));
    check(&engine);
    check(&engine);
    let single = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    single.block_on(async { check(&engine) });
    let many = tokio::runtime::Runtime::new().unwrap();
    many.block_on(async { check(&engine) });
    many.block_on(async move { drop(engine) });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_fire_ends_its_processes_on_several_threads() {
    dropping_ends().await;
}

#[tokio::test]
async fn dropping_a_fire_ends_its_processes() {
    dropping_ends().await;
}

async fn dropping_ends() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let text = format!("sleep 1000 & echo $! >> {0}; echo $$ >> {0}; wait", pids.display());
    let engine = engine((0..3).map(|n| HookSpec::shell(n.to_string(), GATE, text.clone())));
    let fire = tokio::spawn(async move { engine.fire(tool_call()).await });
    let started = async {
        loop {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            if text.lines().count() == 6 {
                return text.lines().map(|pid| pid.parse::<u32>().unwrap()).collect::<Vec<_>>();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let started = started.await;
    fire.abort();
    let _ = fire.await;
    for pid in started {
        while is_alive(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// `true` if the process runs. A zombie does not.
fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_runs_are_limited() {
    let most = Arc::new(AtomicUsize::new(0));
    let running = Arc::new(AtomicUsize::new(0));
    struct Counts(Arc<AtomicUsize>, Arc<AtomicUsize>);
    impl Handler for Counts {
        fn call<'a>(&'a self, _: &'a Call) -> HandlerFuture<'a> {
            Box::pin(async {
                let now = self.0.fetch_add(1, Ordering::SeqCst) + 1;
                self.1.fetch_max(now, Ordering::SeqCst);
                tokio::task::yield_now().await;
                self.0.fetch_sub(1, Ordering::SeqCst);
                Ok(Reply::Opinion(Opinion::none()))
            })
        }
    }
    let mut registry = Registry::new();
    let (now, top) = (Arc::clone(&running), Arc::clone(&most));
    registry
        .register(
            "counts",
            move |_: &HookSpec, _: &checkrein::handler::HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
                Ok(Arc::new(Counts(Arc::clone(&now), Arc::clone(&top))))
            },
        )
        .unwrap();
    let hook = |n: usize| {
        let handler = HandlerSpec::Other { kind: "counts".to_owned(), settings: RawJson::default() };
        HookSpec::new(n.to_string(), GATE, handler)
    };
    let engine = Engine::builder().registry(registry).at_once(4).hooks((0..200).map(hook)).build();
    let (_, record) = engine.fire_recorded(tool_call()).await;
    assert_eq!(record.hooks.len(), 200);
    assert!((1..=4).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    // Real processes too.
    let hooks = (0..200).map(|n| HookSpec::shell(n.to_string(), GATE, "exit 0"));
    let verdict = self::engine(hooks).fire(tool_call()).await;
    assert_eq!(verdict.failures().count(), 0);
}

/// Records runs that wait for a slot and runs that got one, each as `FIRE HOOK` and in order. Runs with a slot wait until the
/// door is open.
#[derive(Clone)]
struct Queue {
    waiting: Arc<Mutex<Vec<String>>>,
    running: Arc<Mutex<Vec<String>>>,
    door: Arc<tokio::sync::Semaphore>,
}

impl Queue {
    /// Creates an engine with this number of hooks and slots.
    fn new(hooks: usize, at_once: usize) -> (Self, Engine) {
        let queue =
            Self { waiting: Arc::default(), running: Arc::default(), door: Arc::new(tokio::sync::Semaphore::new(0)) };
        let mut registry = Registry::new();
        let handler = queue.clone();
        registry
            .register(
                "queues",
                move |_: &HookSpec, _: &checkrein::handler::HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
                    Ok(Arc::new(handler.clone()))
                },
            )
            .unwrap();
        let queues = || HandlerSpec::Other { kind: "queues".to_owned(), settings: RawJson::default() };
        let hooks = (0..hooks).map(|n| HookSpec::new(n.to_string(), GATE, queues()));
        let engine = Engine::builder().registry(registry).observer(queue.clone()).at_once(at_once).hooks(hooks).build();
        (queue, engine)
    }

    async fn wait_for(&self, count: usize) {
        while self.waiting.lock().unwrap().len() < count {
            tokio::task::yield_now().await;
        }
    }
}

impl Observer for Queue {
    fn started(&self, run: &HookRun) {
        // Right after this call, the run waits for its slot.
        self.waiting.lock().unwrap().push(format!("{} {}", run.subject.as_deref().unwrap(), run.hook.id));
    }
}

impl Handler for Queue {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        self.running.lock().unwrap().push(format!("{} {}", call.event().tool_name().unwrap(), call.hook.id));
        Box::pin(async {
            let _ = self.door.acquire().await;
            // Gives other runs the chance to overtake.
            tokio::task::yield_now().await;
            Ok(Reply::Opinion(Opinion::none()))
        })
    }
}

fn begin(engine: &Engine, fire: &str) -> tokio::task::JoinHandle<Verdict> {
    let (engine, event) = (engine.clone(), Event::pre_tool_use(ToolCall::new(fire, RawJson::default())));
    tokio::spawn(async move { engine.fire(event).await })
}

#[tokio::test]
async fn slots_are_given_in_order() {
    let (queue, engine) = Queue::new(40, 1);
    let mut fires: Vec<_> = (0..5).map(|n| begin(&engine, &format!("early {n}"))).collect();
    queue.wait_for(200).await;
    queue.door.add_permits(1);
    // Other fires start while those wait.
    for n in 0..20 {
        fires.push(begin(&engine, &format!("late {n}")));
        tokio::task::yield_now().await;
    }
    for fire in fires {
        fire.await.unwrap();
    }
    let (waiting, running) = (queue.waiting.lock().unwrap(), queue.running.lock().unwrap());
    assert_eq!(waiting.len(), 1000);
    assert!(waiting[..200].iter().all(|run| run.starts_with("early")));
    assert_eq!(*running, *waiting);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_are_given_in_order_on_two_threads() {
    let (queue, engine) = Queue::new(100, 2);
    let early = begin(&engine, "early");
    queue.wait_for(100).await;
    let late = begin(&engine, "late");
    queue.wait_for(200).await;
    queue.door.add_permits(1);
    early.await.unwrap();
    late.await.unwrap();
    let running = queue.running.lock().unwrap();
    assert_eq!(running.len(), 200);
    // Each thread may have been between the record and the wait of an early run, and of two runs with slots the second may be
    // the first to record itself.
    let surely_early = 100 - 2 - 1;
    assert!(running[..surely_early].iter().all(|run| run.starts_with("early")), "{running:?}");
}

#[tokio::test]
async fn builtin_can_rewrite_if_declared() {
    let shout =
        Builtin::immediate(|call| Ok(Opinion::rewrite_prompt(&call.event.prompt().unwrap_or("").to_uppercase())));
    let engine = Engine::builder()
        .registry(registry("shout", shout))
        .hook(HookSpec::builtin("shout", EventKind::PromptSubmit, "shout").rewrites())
        .build();
    let verdict = engine.fire(Event::prompt_submit(Prompt::new("hi"))).await;
    assert_eq!(verdict.effective_prompt().as_deref(), Some("HI"));
    assert_eq!(verdict.rewritten(Target::Prompt).unwrap().original, Some(RawJson::string("hi")));
}
