//! Callbacks in the engine, compared with the runner.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein::event::Target;
use checkrein::payload::{Prompt, Stop, ToolCall, ToolOutcome};
use checkrein::runner::{Fire, HandlerError};
use checkrein::{
    Decision, Engine, Event, EventKind, FailureKind, FailurePolicy, HookSpec, Matcher, Opinion, RawJson, Rewrite,
    Runner, testing,
};

const GATE: EventKind = EventKind::PreToolUse;

fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap()))
}

fn merge(patch: &str) -> Opinion {
    Opinion::merge_input(patch.parse().unwrap())
}

#[tokio::test]
async fn closures_decide() {
    let engine = Engine::builder()
        .on(GATE, "sync", |fire| match fire.event.tool_name() {
            Some("Write") => Opinion::deny("only reads"),
            _ => Opinion::none(),
        })
        .on_async(GATE, "async", |event| async move {
            tokio::task::yield_now().await;
            match event.tool_name() {
                Some("Bash") => Opinion::ask("really?"),
                _ => Opinion::none(),
            }
        })
        .build();
    assert!(engine.problems().is_empty(), "{:?}", engine.problems());
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Write", RawJson::default()))).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("only reads")));
    assert!(verdict.decided_by().unwrap().source.file.as_ref().unwrap().ends_with("callbacks.rs"));
    let (verdict, record) = engine.fire_recorded(tool_call()).await;
    assert_eq!(verdict.reason(), Some("really?"));
    let handlers: Vec<_> = record.hooks.iter().map(|hook| (hook.id.as_str(), hook.handler.as_str())).collect();
    assert_eq!(handlers, [("sync", "callback"), ("async", "callback")]);
}

#[tokio::test]
async fn matchers_and_all_other_settings_of_hooks_apply() {
    let deny = |id: &str| HookSpec::callback(id, GATE, testing::deny("no"));
    let engine = Engine::builder().hook(deny("write").matching(Matcher::names(["Write"]))).build();
    assert!(engine.would_fire(&GATE, "Write") && !engine.would_fire(&GATE, "Bash"));
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::NoOpinion);

    let engine = Engine::builder().hook(deny("trial").dry_run()).hook(deny("off").disabled()).build();
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::NoOpinion);

    let engine = Engine::builder().hook(deny("once").once()).build();
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::Deny);
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::NoOpinion);
}

#[tokio::test]
async fn failed_callback_closes_a_gate() {
    type Broken = fn() -> Engine;
    let broken: [(Broken, FailureKind, &str); 5] = [
        (|| Engine::builder().on(GATE, "h", testing::panic("oh")).build(), FailureKind::Panic, "oh"),
        (|| Engine::builder().on(GATE, "h", testing::fail("oh")).build(), FailureKind::Error, "oh"),
        (
            || {
                Engine::builder()
                    .on_async(GATE, "h", |_| async {
                        if true {
                            panic!("oh")
                        }
                    })
                    .build()
            },
            FailureKind::Panic,
            "oh",
        ),
        (
            || Engine::builder().on_async(GATE, "h", |_| async { Err::<Opinion, _>("oh") }).build(),
            FailureKind::Error,
            "oh",
        ),
        (
            || {
                let never = HookSpec::async_callback("h", GATE, |_| std::future::pending::<()>());
                Engine::builder().hook(never.timeout(Duration::from_millis(10))).build()
            },
            FailureKind::Timeout,
            "timed out after 10ms",
        ),
    ];
    for (engine, kind, message) in broken {
        let verdict = engine().fire(tool_call()).await;
        assert_eq!(verdict.decision(), Decision::Deny, "{kind}");
        let (hook, failure) = verdict.failures().next().unwrap();
        assert_eq!((hook.id.as_str(), failure.kind), ("h", kind));
        assert!(failure.message.contains(message), "{failure}");
        assert!(verdict.reason().unwrap().contains("; blocked (on_"), "{verdict:?}");
    }
    let open = HookSpec::callback("h", GATE, testing::panic("oh")).on_failure(FailurePolicy::Open);
    assert_eq!(Engine::builder().hook(open).build().fire(tool_call()).await.decision(), Decision::NoOpinion);
}

#[tokio::test]
async fn callbacks_see_rewrites_of_earlier_callbacks() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = |id: &str| {
        let seen = Arc::clone(&seen);
        HookSpec::callback(id, GATE, move |fire: &Fire<'_>| {
            seen.lock().unwrap().push(fire.event.tool_input().unwrap().as_str().to_owned());
        })
    };
    let engine = Engine::builder()
        .hook(sees("judge").without_rewrites())
        .hook(sees("first"))
        .on(GATE, "timeout", testing::answer(merge(r#"{"timeout":5}"#)))
        .hook(sees("second"))
        .on_async(GATE, "command", |_| async { merge(r#"{"command":"ls -l"}"#) })
        .build();
    let verdict = engine.fire(tool_call()).await;
    let inputs = [r#"{"command":"ls"}"#, r#"{"command":"ls","timeout":5}"#, r#"{"command":"ls -l","timeout":5}"#];
    assert_eq!(*seen.lock().unwrap(), inputs, "a hook without rewrites runs last and sees the final input");
    assert_eq!(verdict.effective_input().unwrap().as_str(), inputs[2]);
}

#[tokio::test]
async fn undeclared_rewrite_is_a_failure() {
    let liar = HookSpec::callback("liar", GATE, testing::answer(merge(r#"{"a":1}"#))).without_rewrites();
    let verdict = Engine::builder().hook(liar).build().fire(tool_call()).await;
    assert_eq!(verdict.decision(), Decision::Deny);
    assert_eq!(verdict.failures().next().unwrap().1.kind, FailureKind::Schema);
}

#[tokio::test]
async fn callbacks_survive_a_reload() {
    let engine = Engine::builder().on(GATE, "guard", testing::deny("no")).build();
    assert!(engine.reload().unchanged);
    engine.replace_all(engine.hooks_for(&GATE).iter().map(|hook| HookSpec::clone(hook)).collect());
    assert_eq!(engine.fire(tool_call()).await.decision(), Decision::Deny);
}

#[test]
fn callbacks_run_without_a_runtime_of_the_host() {
    let engine = Engine::builder().on(GATE, "guard", testing::deny("no")).build();
    assert_eq!(engine.fire_blocking(tool_call()).reason(), Some("no"));
}

type Scripted = fn(&Fire<'_>) -> Result<Opinion, HandlerError>;

/// Behaviours of a callback.
const SCRIPTS: [Scripted; 10] = [
    |_| Ok(Opinion::none()),
    |_| Ok(Opinion::allow()),
    |_| Ok(Opinion::ask("ask").with_message("message")),
    |_| Ok(Opinion::deny("deny").with_context("context")),
    |_| Ok(Opinion::halt("halt")),
    |_| Err("error".into()),
    |_| panic!("panic"),
    |_| Ok(Opinion::merge_input(r#"{"timeout":5}"#.parse()?)),
    |_| Ok(Opinion::rewrite_prompt("other")),
    |fire| Ok(Opinion::allow().with_rewrite(Rewrite::replace(Target::Input, RawJson::string(&fire.event.to_json())))),
];

#[tokio::test]
async fn runner_and_engine_settle_alike() {
    let events = [
        tool_call(),
        Event::prompt_submit(Prompt::new("hello")),
        Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default()).tool_response(RawJson::string("ok"))),
        Event::stop(Stop::new()),
    ];
    for event in events {
        for first in SCRIPTS {
            for second in SCRIPTS {
                let kind = event.kind();
                let mut scripts = [("first", first), ("second", second)].into_iter();
                let runner = scripts
                    .clone()
                    .fold(Runner::builder().discard_log(), |runner, (id, script)| runner.on(kind.clone(), id, script));
                let engine = scripts
                    .try_fold(Engine::builder(), |engine, (id, script)| Some(engine.on(kind.clone(), id, script)));
                let by_runner = runner.build().fire(&event);
                let by_engine = engine.unwrap().build().fire(event.clone()).await;
                let texts = |verdict: &checkrein::Verdict| {
                    let failures: Vec<_> = verdict.failures().map(|(_, failure)| failure.kind).collect();
                    let rewritten: Vec<_> = Target::ALL
                        .iter()
                        .filter_map(|target| verdict.rewritten(*target).map(|to| to.effective.as_str().to_owned()))
                        .collect();
                    let counts = (verdict.context().len(), verdict.messages().len(), verdict.warnings().len());
                    let reason = verdict.reasons().iter().map(|reason| reason.decision).collect::<Vec<_>>();
                    (verdict.decision(), reason, failures, rewritten, counts)
                };
                assert_eq!(texts(&by_runner), texts(&by_engine), "{kind}");
            }
        }
    }
}
