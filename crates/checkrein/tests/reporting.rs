//! Everything that happens to a hook is in the verdict, in the record, or reported to observers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein::event::Target;
use checkrein::handler::{Call, HandlerEnv, HandlerFuture, Reply};
use checkrein::hook::{CommandSpec, HandlerSpec};
use checkrein::observer::HookRun;
use checkrein::payload::ToolCall;
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::{
    Engine, Event, EventKind, Failure, FailureKind, Handler, HookSpec, Observer, Opinion, RawJson, Record, Registry,
    Rewrite,
};

const GATE: EventKind = EventKind::PreToolUse;

fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap()))
}

fn engine(hook: HookSpec) -> Engine {
    Engine::builder().hook(hook).build()
}

#[tokio::test]
async fn processes_left_running_are_reported() {
    let left = HookSpec::shell("server", GATE, "sleep 1000 >/dev/null 2>&1 & echo $! >&2")
        .command(CommandSpec::leave_background);
    let (verdict, record) = engine(left).fire_recorded(tool_call()).await;
    let pid = record.hooks[0].stderr.as_deref().unwrap().trim().to_owned();
    std::process::Command::new("kill").arg(&pid).status().unwrap();
    assert_eq!(record.hooks[0].left_running, [format!("sleep (pid {pid})")]);
    assert_eq!(verdict.warnings()[0].text, format!("left processes running: sleep (pid {pid})"));
    assert!(!verdict.decision().is_block());
}

#[tokio::test]
async fn output_before_a_timeout_is_recorded() {
    let slow = HookSpec::shell("slow", GATE, "echo out; echo err >&2; sleep 1000").timeout(Duration::from_millis(300));
    let (verdict, record) = engine(slow).fire_recorded(tool_call()).await;
    assert!(verdict.decision().is_block());
    let hook = &record.hooks[0];
    assert_eq!(hook.failure, Some(FailureKind::Timeout));
    assert_eq!((hook.stdout.as_deref(), hook.stderr.as_deref()), (Some("out\n"), Some("err\n")));
}

type End = (String, Option<FailureKind>);

#[derive(Clone, Default)]
struct Ends(Arc<Mutex<Vec<End>>>);

impl Observer for Ends {
    fn finished(&self, run: &HookRun, record: &HookRecord, _: Duration) {
        self.0.lock().unwrap().push((run.hook.id.clone(), record.failure));
    }
}

#[tokio::test]
async fn observers_see_cancelled_runs() {
    let ends = Ends::default();
    let hook = HookSpec::shell("slow", GATE, "sleep 1000");
    let engine = Engine::builder().observer(ends.clone()).hook(hook).build();
    let fire = engine.fire(tool_call());
    let _ = tokio::time::timeout(Duration::from_millis(50), fire).await;
    assert_eq!(*ends.0.lock().unwrap(), [("slow".to_owned(), Some(FailureKind::Cancelled))]);
}

struct Late;

impl Observer for Late {
    fn settled(&self, _: &Record) {
        panic!("late");
    }
}

#[tokio::test]
async fn panic_of_an_observer_is_a_failure() {
    let engine = Engine::builder().observer(Late).hook(HookSpec::shell("h", GATE, "true")).build();
    let verdict = engine.fire(tool_call()).await;
    let failures: Vec<_> = verdict.failures().map(|(hook, failure)| (hook.id.as_str(), failure.kind)).collect();
    assert_eq!(failures, [("observer", FailureKind::Panic)]);
    assert_eq!(verdict.warnings().len(), 1);
    assert!(!verdict.decision().is_block());
}

#[tokio::test]
async fn background_hooks_are_in_the_record() {
    let engine = engine(HookSpec::shell("later", EventKind::PostToolUse, "true").in_background());
    let event = Event::post_tool_use(checkrein::payload::ToolOutcome::new("Bash", RawJson::default()));
    let (_, record) = engine.fire_recorded(event).await;
    assert_eq!((record.hooks[0].id.as_str(), record.hooks[0].outcome), ("later", HookOutcome::Skipped));
    assert_eq!(record.hooks[0].detail.as_deref(), Some("runs in the background (cannot block)"));
    assert_eq!(engine.shutdown(Duration::from_secs(20)).await.ended, 0);
}

/// Records the address of its payload, and rewrites if the flag is set.
struct PayloadRecorder(Arc<Mutex<Vec<(usize, String)>>>, bool);

impl Handler for PayloadRecorder {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        let command = call.event().tool_input().unwrap().to_string();
        self.0.lock().unwrap().push((call.payload().as_ptr().addr(), command));
        let rewrite = Rewrite::replace(Target::Input, r#"{"command":"pwd"}"#.parse().unwrap());
        let opinion = if self.1 { Opinion::none().with_rewrite(rewrite) } else { Opinion::none() };
        Box::pin(std::future::ready(Ok(Reply::Opinion(opinion))))
    }
}

#[tokio::test]
async fn payload_is_serialized_again_only_after_a_rewrite() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut registry = Registry::new();
    let shared = Arc::clone(&seen);
    registry
        .register("recorder", move |hook: &HookSpec, _: &HandlerEnv| -> Result<Arc<dyn Handler>, Failure> {
            Ok(Arc::new(PayloadRecorder(Arc::clone(&shared), hook.info.id == "changes")))
        })
        .unwrap();
    let handler = |id: &str| HandlerSpec::Other { kind: "recorder".to_owned(), settings: RawJson::string(id) };
    let rewriters = ["first", "second", "changes", "fourth"].map(|id| HookSpec::new(id, GATE, handler(id)).rewrites());
    let others = ["fifth", "sixth"].map(|id| HookSpec::new(id, GATE, handler(id)));
    let engine = Engine::builder().registry(registry).hooks(rewriters).hooks(others).build();
    engine.fire(tool_call()).await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 6);
    assert!(seen[..3].iter().all(|place| *place == seen[0]), "{seen:x?}");
    assert!(seen[3..].iter().all(|place| *place == seen[3]), "{seen:x?}");
    assert_ne!(seen[0].1, seen[3].1);
}
