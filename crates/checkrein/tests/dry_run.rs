//! Dry-run hooks: they run and are recorded, and their replies have no effect.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein::event::Target;
use checkrein::observer::HookRun;
use checkrein::payload::{Prompt, SessionStart, Stop, ToolCall};
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::rules::RunOrder;
use checkrein::{
    Decision, Engine, Event, EventKind, FailureKind, FailurePolicy, HookSpec, Observer, RawJson, Record, Rules, Verdict,
};

const GATE: EventKind = EventKind::PreToolUse;

fn tool_call() -> Event {
    let input: RawJson = r#"{"command": "ls"}"#.parse().unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

fn deny(id: &str) -> HookSpec {
    HookSpec::shell(id, GATE, format!("echo {id} says no >&2; exit 2"))
}

async fn fired(event: Event, hooks: impl IntoIterator<Item = HookSpec>) -> (Verdict, Record) {
    Engine::builder().hooks(hooks).build().fire_recorded(event).await
}

/// A dry-run hook does not change the verdict; the same hook in force does.
#[tokio::test]
async fn dry_run_has_no_effect() {
    let hook = |event: EventKind, command: &str| HookSpec::shell("tried", event, command);
    let stop = || Event::stop(Stop::new());
    let start = || Event::session_start(SessionStart::new());
    let prompt = || Event::prompt_submit(Prompt::new("hi"));
    let rewrite = r#"echo '{"updatedInput":{"command":"true"}}'"#;
    let table: [(&str, Event, HookSpec); 13] = [
        ("deny", tool_call(), deny("tried")),
        ("ask", tool_call(), hook(GATE, r#"echo '{"decision":"ask","reason":"sure?"}'"#)),
        ("allow", tool_call(), hook(GATE, r#"echo '{"decision":"allow"}'"#)),
        ("halt", tool_call(), hook(GATE, r#"echo '{"continue":false,"stopReason":"enough"}'"#)),
        ("rewrite", tool_call(), hook(GATE, rewrite).rewrites()),
        ("a rewrite that was not declared", tool_call(), hook(GATE, rewrite)),
        ("context", prompt(), hook(EventKind::PromptSubmit, r#"echo '{"additionalContext":"psst"}'"#)),
        ("message", tool_call(), hook(GATE, r#"echo '{"systemMessage":"hello"}'"#)),
        ("go on", stop(), hook(EventKind::Stop, "echo not yet >&2; exit 2")),
        ("speak as the user", start(), hook(EventKind::SessionStart, r#"echo '{"initialUserMessage":"go"}'"#)),
        ("fail", tool_call(), hook(GATE, "exit 1")),
        ("cannot start", tool_call(), HookSpec::argv("tried", GATE, ["/no/such/program"])),
        ("hang", tool_call(), hook(GATE, "sleep 60").timeout(Duration::from_millis(50))),
    ];
    for (what, event, hook) in table {
        let (live, _) = fired(event.clone(), [hook.clone()]).await;
        assert_ne!(live, Verdict::default(), "{what}: it does something when it is in force");
        let (verdict, record) = fired(event, [hook.dry_run()]).await;
        assert_eq!(verdict, Verdict::default(), "{what}");
        let [tried] = &record.hooks[..] else { panic!("{what}: {record:?}") };
        let would = tried.would.as_ref().unwrap();
        assert!(tried.dry_run && tried.outcome != HookOutcome::Skipped, "{what}: {tried:?}");
        assert_eq!(would.verdict, live.decision(), "{what}");
        assert_eq!(would.decision, live.decision(), "{what}");
        let changes = live.decision() != Decision::NoOpinion
            || !live.context().is_empty()
            || Target::ALL.iter().any(|target| live.rewritten(*target).is_some());
        assert_eq!(would.differs, changes, "{what}");
    }
}

#[tokio::test]
async fn record_has_the_effect_that_a_dry_run_would_have_had() {
    let (verdict, record) = fired(tool_call(), [deny("live"), deny("tried").dry_run()]).await;
    assert_eq!(verdict.reason(), Some("live says no"));
    let would = record.hooks[1].would.as_ref().unwrap();
    assert_eq!((would.decision, would.verdict, would.differs), (Decision::Deny, Decision::Deny, false));
    assert_eq!(would.reason.as_deref(), Some("tried says no"));
    assert!(!record.hooks[0].dry_run && record.hooks[0].would.is_none());

    let asks = HookSpec::shell("asks", GATE, r#"echo '{"decision":"ask","reason":"sure?"}'"#);
    let (verdict, record) = fired(tool_call(), [asks, deny("one").dry_run(), deny("two").dry_run()]).await;
    assert_eq!(verdict.decision(), Decision::Ask);
    for hook in &record.hooks[1..] {
        let would = hook.would.as_ref().unwrap();
        assert_eq!((would.verdict, would.differs), (Decision::Deny, true), "each by itself");
    }
    let closed = HookSpec::shell("broken", GATE, "exit 1").on_failure(FailurePolicy::Ask).dry_run();
    let (_, record) = fired(tool_call(), [closed]).await;
    assert_eq!(record.hooks[0].failure, Some(FailureKind::Exit));
    assert_eq!(record.hooks[0].would.as_ref().unwrap().decision, Decision::Ask, "what is done about its failure");
}

/// A chain continues after a dry-run hook. The hypothetical result ends at that hook.
#[tokio::test]
async fn dry_run_does_not_end_the_chain() {
    let allow = HookSpec::shell("allow", GATE, r#"echo '{"decision":"allow"}'"#);
    let rules = Rules::FIRST_DECISION.order(RunOrder::Sequential);
    let engine = Engine::builder().hooks([deny("tried").dry_run(), allow]).rules(rules).build();
    let (verdict, record) = engine.fire_recorded(tool_call()).await;
    assert_eq!(verdict.decision(), Decision::Allow);
    let would = record.hooks[0].would.as_ref().unwrap();
    assert_eq!((would.verdict, would.differs), (Decision::Deny, true));
}

#[tokio::test]
async fn rewrites_of_a_dry_run_are_invisible_to_other_hooks() {
    let rewrites = HookSpec::shell("tried", GATE, r#"echo '{"updatedInput":{"command":"changed"}}'"#).rewrites();
    let sees = HookSpec::shell("sees", GATE, "grep -q changed && exit 2; exit 0");
    let (verdict, record) = fired(tool_call(), [rewrites.dry_run(), sees]).await;
    assert_eq!((verdict.decision(), verdict.rewritten(Target::Input)), (Decision::NoOpinion, None));
    assert_eq!(record.hooks[0].would.as_ref().unwrap().rewrites, ["input"]);
}

/// A dry run does not use up the single run of a `once` hook.
#[tokio::test]
async fn once_hook_runs_again_after_its_dry_run() {
    let once = || deny("once").once();
    let engine = Engine::builder().hook(once().dry_run()).build();
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::NoOpinion);
    engine.replace_all(vec![once()]);
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::Deny);
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, bool)>>>);

impl Observer for Seen {
    fn finished(&self, run: &HookRun, record: &HookRecord, _: Duration) {
        assert_eq!(run.hook.dry_run, record.dry_run);
        self.0.lock().unwrap().push((record.id.clone(), record.dry_run));
    }
}

#[tokio::test]
async fn observers_see_dry_runs() {
    let seen = Seen::default();
    let engine = Engine::builder().hook(deny("tried").dry_run()).observer(seen.clone()).build();
    assert_eq!(engine.fire(tool_call()).await, Verdict::default());
    assert_eq!(*seen.0.lock().unwrap(), [("tried".to_owned(), true)]);
}

/// A host may pass completions on to the model, so a dry run sends none.
#[tokio::test]
async fn background_dry_run_sends_no_completion() {
    let hooks = [deny("tried").in_background().dry_run(), deny("live").in_background()];
    let engine = Engine::builder().hooks(hooks).build();
    let mut completions = engine.completions();
    engine.fire(tool_call()).await;
    engine.shutdown(Duration::from_secs(30)).await;
    assert_eq!(completions.next().await.unwrap().hook.id, "live");
    assert!(completions.next().await.is_none());
}
