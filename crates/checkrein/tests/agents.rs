//! Engine state per agent: envelopes, refused stops and background hooks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein::dialects::agents::native;
use checkrein::hook_files::Sources;
use checkrein::payload::{Prompt, SessionStart, Stop, ToolCall};
use checkrein::{
    Action, Decision, Engine, Envelope, Event, EventKind, FailureKind, HookSpec, Observer, RawJson, Verdict,
};

fn call() -> ToolCall {
    ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap())
}

fn tool_call() -> Event {
    Event::pre_tool_use(call())
}

fn in_session() -> Envelope {
    let mut envelope = Envelope::default();
    envelope.session_id = Some("s".into());
    envelope
}

/// A way to fire an event.
type Way = fn(&Engine, Event) -> Verdict;

const WAYS: [(&str, Way); 4] = [
    ("fire", |engine, event| block_on(engine.fire(event))),
    ("fire_blocking", |engine, event| engine.fire_blocking(event)),
    ("fire_with", |engine, event| block_on(engine.fire_with(&event.kind(), || event.clone()))),
    ("fire_recorded", |engine, event| block_on(engine.fire_recorded(event)).0),
];

fn must_continue(verdict: &Verdict) -> bool {
    matches!(verdict.action(), Action::Continue { .. })
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn every_way_to_fire_a_prompt_resets_the_stop_count() {
    let never = || HookSpec::shell("never", EventKind::Stop, "exit 2");
    let engine = || Engine::builder().stop_cap(4).hook(never());
    for (name, way) in WAYS {
        for (whose, engine, envelope) in [
            ("no session", engine().build(), Envelope::default()),
            ("the event's", engine().build(), in_session()),
            ("the agent's", engine().envelope(in_session).build(), Envelope::default()),
            ("another agent's", engine().build().for_agent(in_session), Envelope::default()),
        ] {
            let fire = |mut event: Event| {
                event.envelope = envelope.clone();
                way(&engine, event)
            };
            let stops = || must_continue(&fire(Event::stop(Stop::new())));
            let prompt = || fire(Event::prompt_submit(Prompt::new("x")));
            assert!((0..3).all(|_| stops()), "{name}, {whose}");
            // The first prompt may be the reason of the refusal.
            prompt();
            prompt();
            assert!((0..4).all(|_| stops()) && !stops(), "{name}, {whose}");
        }
    }
}

#[test]
fn prompt_of_another_session_does_not_reset_the_stop_count() {
    let engine = Engine::builder().stop_cap(4).hook(HookSpec::shell("never", EventKind::Stop, "exit 2")).build();
    let mine = engine.for_agent(in_session);
    let stops = || must_continue(&block_on(mine.fire(Event::stop(Stop::new()))));
    assert!((0..3).all(|_| stops()));
    for _ in 0..2 {
        block_on(engine.fire(Event::prompt_submit(Prompt::new("x"))));
    }
    assert!(stops() && !stops());
}

#[test]
fn stop_cap_holds_for_a_host_that_reports_each_stop_as_the_first() {
    let engine = Engine::builder().stop_cap(2).hook(HookSpec::shell("never", EventKind::Stop, "exit 2")).build();
    let stops = || must_continue(&block_on(engine.fire(Event::stop(Stop::new().stop_hook_active(false)))));
    assert!(stops() && stops() && !stops());
}

#[test]
fn fire_with_builds_the_event_only_if_needed() {
    let engine = Engine::builder().hook(HookSpec::shell("h", EventKind::Stop, "true")).build();
    let built = |kind: &EventKind| {
        let mut built = false;
        block_on(engine.fire_with(kind, || {
            built = true;
            Event::stop(Stop::new())
        }));
        built
    };
    let kinds = [EventKind::Stop, EventKind::PromptSubmit, EventKind::PreToolUse, EventKind::PreShell];
    assert_eq!(kinds.each_ref().map(built), [true, false, false, false]);
}

#[test]
fn hooks_of_the_parent_kind_run_at_events_of_the_child_kind() {
    let engine = Engine::builder().hook(HookSpec::shell("guard", EventKind::PreToolUse, "exit 2")).build();
    for (name, way) in WAYS {
        let mut event = Event::pre_shell(call());
        event = event.with_parent_hooks(true);
        assert_eq!(way(&engine, event).decision(), Decision::Deny, "{name}");
    }
    assert!(!engine.has(&EventKind::PreShell) && engine.has(&EventKind::PreToolUse));
}

#[test]
fn panic_of_the_envelope_function_closes_gates() {
    let quiet = || HookSpec::shell("quiet", EventKind::PreToolUse, "true");
    let denies = || HookSpec::shell("denies", EventKind::PreToolUse, "echo no >&2; exit 2");
    let starts = || HookSpec::shell("starts", EventKind::SessionStart, "true");
    let panics = || -> Envelope { panic!("no mode") };
    let kinds = |verdict: &Verdict| verdict.failures().map(|(_, failure)| failure.kind).collect::<Vec<_>>();
    for (name, way) in WAYS {
        let engine = Engine::builder().hooks([quiet(), starts()]).envelope(panics).build();
        let gate = way(&engine, tool_call());
        assert_eq!((gate.decision(), kinds(&gate)), (Decision::Deny, vec![FailureKind::Panic]), "{name}");
        assert!(gate.reason().unwrap().contains("envelope") && gate.reason().unwrap().contains("no mode"), "{gate:?}");
        // At other events it is a warning.
        let start = way(&engine, Event::session_start(SessionStart::new()));
        assert_eq!((start.decision(), kinds(&start)), (Decision::NoOpinion, vec![FailureKind::Panic]), "{name}");
        assert_eq!(start.warnings().len(), 1, "{name}");
        // A hook's own deny comes first.
        let engine = Engine::builder().hook(denies()).envelope(panics).build();
        assert_eq!(way(&engine, tool_call()).reason(), Some("no"), "{name}");
    }
}

#[test]
fn hook_is_not_selected_at_events_where_it_never_runs() {
    let mut asks = HookSpec::shell("asks", EventKind::Stop, "exit 2");
    asks.kinds.push(EventKind::PreToolUse);
    asks.permission_rule = Some("Bash(rm:*)".parse().unwrap());
    let engine = Engine::builder().hook(asks).build();
    assert!(engine.problems()[0].to_string().contains("which `stop` does not have"), "{:?}", engine.problems());
    assert!(!engine.has(&EventKind::Stop) && engine.has(&EventKind::PreToolUse));
    assert!(!engine.would_fire(&EventKind::Stop, ""));
    // The user still sees the hook.
    assert_eq!(engine.hooks_for(&EventKind::Stop).len(), 1);
    let planned = engine.explain(&Event::stop(Stop::new()));
    assert!(planned.len() == 1 && planned[0].why_not.is_some(), "{planned:?}");
}

#[test]
fn zero_timeout_is_reported() {
    let hook = |timeout| HookSpec::shell("h", EventKind::PreToolUse, "true").timeout(timeout);
    let problems = |timeout| Engine::builder().hook(hook(timeout)).build().problems();
    assert!(problems(Duration::ZERO)[0].to_string().contains("`timeout` is 0"));
    assert_eq!(problems(Duration::from_millis(1)).len(), 0);
}

#[test]
fn fire_outside_a_runtime_closes_gates_and_names_the_fix() {
    let hooks = ["one", "two"].map(|id| HookSpec::shell(id, EventKind::PreToolUse, "true"));
    let engine = Engine::builder().hooks(hooks).build();
    let verdict = futures_util::FutureExt::now_or_never(engine.fire(tool_call())).unwrap();
    let failures: Vec<_> = verdict.failures().collect();
    assert_eq!((verdict.decision(), failures.len()), (Decision::Deny, 1));
    assert!(verdict.reason().unwrap().contains("call `fire_blocking` instead"), "{verdict:?}");
}

#[tokio::test]
async fn shutdown_counts_only_unfinished_hooks() {
    let quick = |n: usize| HookSpec::shell(n.to_string(), EventKind::PreToolUse, "true").in_background();
    let engine = Engine::builder().hooks((0..20).map(quick)).build();
    let mut completions = engine.completions();
    engine.fire(tool_call()).await;
    for _ in 0..20 {
        assert!(completions.next().await.is_some());
    }
    // They run on one thread, so only the last one may still be running.
    let report = engine.shutdown(Duration::from_secs(60)).await;
    assert!(report.finished <= 1 && report.ended == 0, "{report:?}");
}

#[tokio::test]
async fn lost_completions_are_counted() {
    let engine =
        Engine::builder().hook(HookSpec::builtin("b", EventKind::PreToolUse, "add_date").in_background()).build();
    let (mut slow, mut quick) = (engine.completions(), engine.completions());
    for _ in 0..300 {
        engine.fire(tool_call()).await;
        assert!(quick.next().await.is_some());
    }
    engine.shutdown(Duration::from_secs(60)).await;
    let mut seen = 0;
    while slow.next().await.is_some() {
        seen += 1;
    }
    assert_eq!((seen, slow.lost(), quick.lost()), (256, 44, 0));
}

struct Panics;

impl Observer for Panics {
    fn reloaded(&self, _: &checkrein::engine::Reload) {
        panic!("broken");
    }
}

#[test]
fn panic_of_an_observer_in_a_reload_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hooks.json");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write(r#"{"hooks": []}"#);
    let sources = Sources::of_files(&native::DIALECT, [&file]);
    let engine = Engine::builder().sources(sources).observer(Panics).build();
    assert!(engine.reload().broken_observers.is_empty(), "nothing has changed");
    write(r#"{"hooks": [{"event": "Stop", "command": "true"}]}"#);
    let reload = engine.reload();
    assert_eq!((reload.added.len(), reload.broken_observers.len()), (1, 1), "{reload:?}");
    assert!(reload.broken_observers[0].message().contains("broken"));
}
