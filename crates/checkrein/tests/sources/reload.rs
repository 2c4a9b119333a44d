//! Reloads of files.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein::engine::Reload;
use checkrein::payload::SessionStart;
use checkrein::{Decision, Engine, Envelope, Event, EventKind, HookSpec, Observer};

use crate::common::{LOCAL, PROJECT, USER, World, hooks, tool_call};

#[derive(Clone, Default)]
pub struct Reloads(pub Arc<Mutex<Vec<Reload>>>);

impl Observer for Reloads {
    fn reloaded(&self, change: &Reload) {
        self.0.lock().unwrap().push(change.clone());
    }
}

fn ids(infos: &[Arc<checkrein::hook::HookInfo>]) -> Vec<&str> {
    infos.iter().map(|info| info.id.as_str()).collect()
}

#[test]
fn reload_reports_changes() {
    let world = World::with(&[(USER, &hooks(&["a", "b", "c"]))]);
    let reloads = Reloads::default();
    let code = HookSpec::shell("code", EventKind::PreToolUse, "true");
    let engine = Engine::builder().sources(world.sources()).hook(code).observer(reloads.clone()).build();
    assert!(engine.reload().unchanged);
    assert!(reloads.0.lock().unwrap().is_empty(), "no changes, no call");

    world.write(USER, hooks(&["a", "c", "d"]).replace("echo c", "echo C").replace("[{", "[\n\n{"));
    world.write(LOCAL, hooks(&["local"]));
    let change = engine.reload();
    assert_eq!((ids(&change.added), ids(&change.removed)), (vec!["d", "local"], vec!["b"]));
    assert_eq!(ids(&change.changed), ["c"], "another line is no change");
    assert!(!change.kept_old && change.diagnostics.is_empty());
    assert_eq!(reloads.0.lock().unwrap().len(), 1);
    let hooks = engine.hooks_for(&EventKind::PreToolUse);
    let now: Vec<_> = hooks.iter().map(|spec| spec.info.id.as_str()).collect();
    assert_eq!(now, ["a", "c", "d", "local", "code"]);
    assert_eq!(hooks[0].info.source.line, Some(3));
}

#[test]
fn hooks_stay_while_a_file_is_unreadable() {
    let world = World::with(&[(USER, &hooks(&["a"])), (PROJECT, &hooks(&["b"]))]);
    let engine = Engine::builder().sources(world.sources()).build();
    let now = || engine.hooks_for(&EventKind::PreToolUse).iter().map(|spec| spec.info.id.clone()).collect::<Vec<_>>();
    world.write(PROJECT, "{ half");
    world.write(USER, hooks(&["a", "new"]));
    let change = engine.reload();
    assert!(change.kept_old && change.added.is_empty());
    assert_eq!(now(), ["a", "b"]);
    let codes: Vec<_> = engine.diagnostics().iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["not-readable", "old-hooks"]);
    let again = engine.reload();
    assert!(again.unchanged && again.kept_old);

    world.write(PROJECT, hooks(&["b"]));
    assert_eq!(ids(&engine.reload().added), ["new"]);
    assert_eq!((now(), engine.diagnostics().len()), (vec!["a".into(), "new".into(), "b".into()], 0));

    // A new broken file has no old hooks.
    world.write(LOCAL, "{ half");
    assert!(!engine.reload().kept_old);
    assert_eq!(now().last().map(String::as_str), Some("hooks.local.json"));
    assert_eq!(engine.fire_blocking(tool_call("Bash", "{}")).decision(), Decision::Deny);
    // Hooks of a removed file are removed.
    std::fs::remove_file(world.path(LOCAL)).unwrap();
    std::fs::remove_file(world.path(PROJECT)).unwrap();
    assert_eq!(ids(&engine.reload().removed), ["b", "hooks.local.json"]);
}

#[tokio::test]
async fn running_fire_keeps_its_hooks() {
    let world = World::new();
    let (started, go) = (world.path("started"), world.path("go"));
    let hook = |answer: &str| {
        let script = format!(
            "touch {}; while ! test -e {}; do sleep 0.01; done; echo {answer} >&2; exit 2",
            started.display(),
            go.display()
        );
        format!(r#"{{"hooks": [{{"id": "slow", "event": "PreToolUse", "command": "{script}"}}]}}"#)
    };
    world.write(USER, hook("old"));
    let engine = Engine::builder().sources(world.sources()).build();
    let firing = engine.clone();
    let fire = tokio::spawn(async move { firing.fire(tool_call("Bash", "{}")).await });
    let start = std::time::Instant::now();
    while !started.exists() {
        assert!(start.elapsed() < Duration::from_secs(30), "the hook never started");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.write(USER, hook("new"));
    assert_eq!(ids(&engine.reload().changed), ["slow"]);
    std::fs::write(&go, "").unwrap();
    assert_eq!(fire.await.unwrap().reason(), Some("old"));
    assert_eq!(engine.fire(tool_call("Bash", "{}")).await.reason(), Some("new"));
}

#[tokio::test]
async fn once_hook_does_not_run_again_after_a_reload() {
    let once = |more: &str| {
        format!(
            r#"{{"hooks": [{{"id": "hello", "event": "SessionStart", "once": true, "command": "echo hi"}}{more}]}}"#
        )
    };
    let world = World::with(&[(USER, &once(""))]);
    let engine = Engine::builder().sources(world.sources()).build();
    let start = || Event::session_start(SessionStart::new()).within(Envelope::new().session_id("s"));
    assert_eq!(engine.fire(start()).await.context().len(), 1);
    world.write(USER, once(r#", {"id": "x", "event": "Stop", "command": "x"}"#));
    assert_eq!(ids(&engine.reload().added), ["x"]);
    assert_eq!(engine.fire(start()).await.context().len(), 0);
}

#[test]
fn observer_can_reload_or_panic() {
    #[derive(Clone, Default)]
    struct ReloadsAndPanics(Arc<Mutex<Option<Engine>>>);
    impl Observer for ReloadsAndPanics {
        fn reloaded(&self, _: &Reload) {
            let engine = self.0.lock().unwrap().clone();
            assert!(engine.unwrap().reload().unchanged);
            panic!("in reloaded");
        }
    }
    let world = World::new();
    let observer = ReloadsAndPanics::default();
    let engine = Engine::builder().sources(world.sources()).observer(observer.clone()).build();
    *observer.0.lock().unwrap() = Some(engine.clone());
    world.write(USER, hooks(&["a"]));
    assert_eq!(ids(&engine.reload().added), ["a"]);
}
