//! File watch. Every wait is for a result, and bounded.

use std::time::{Duration, Instant};

use checkrein::{Engine, EventKind};

use crate::common::{LOCAL, MANAGED, PROJECT, PROTECTION, USER, World, hooks};
use crate::reload::Reloads;

fn now(engine: &Engine) -> Vec<String> {
    let ids = engine.hooks_for(&EventKind::PreToolUse).into_iter().map(|spec| spec.info.id.clone());
    ids.filter(|id| id != PROTECTION).collect()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn until_hooks(engine: &Engine, expected: &[&str]) {
    let start = Instant::now();
    while now(engine) != expected {
        assert!(start.elapsed() < Duration::from_secs(30), "{:?} instead of {expected:?}", now(engine));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn engine(world: &World) -> (Engine, Reloads) {
    let reloads = Reloads::default();
    (Engine::builder().sources(world.sources()).observer(reloads.clone()).build(), reloads)
}

#[test]
fn write_replace_and_remove_are_noticed() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, reloads) = engine(&world);
    let _watch = engine.watch();
    world.write(PROJECT, hooks(&["b"]));
    until_hooks(&engine, &["b"]);
    for name in ["c", "d", "e"] {
        let new = world.write("project/.checkrein/hooks.json.tmp", hooks(&[name]));
        std::fs::rename(new, world.path(PROJECT)).unwrap();
        until_hooks(&engine, &[name]);
    }
    std::fs::remove_file(world.path(PROJECT)).unwrap();
    until_hooks(&engine, &[]);
    world.write(PROJECT, hooks(&["f"]));
    until_hooks(&engine, &["f"]);
    until("all were reported", || reloads.0.lock().unwrap().last().is_some_and(|last| last.added[0].id == "f"));
}

#[test]
fn new_file_in_new_directories_is_noticed() {
    let world = World::new();
    let (engine, _) = engine(&world);
    let _watch = engine.watch();
    for (path, name, expected) in [
        (USER, "user", &["user"][..]),
        (PROJECT, "project", &["user", "project"]),
        (MANAGED, "managed", &["managed", "user", "project"]),
        (LOCAL, "local", &["managed", "user", "project", "local"]),
        ("home/.config/checkrein/hooks.d/x.json", "d", &["managed", "user", "d", "project", "local"]),
    ] {
        world.write(path, hooks(&[name]));
        until_hooks(&engine, expected);
    }
}

#[test]
fn replaced_directory_is_noticed() {
    let world = World::with(&[(PROJECT, &hooks(&["old"])), ("project/next/hooks.json", &hooks(&["new"]))]);
    let (engine, _) = engine(&world);
    let _watch = engine.watch();
    std::fs::rename(world.path("project/.checkrein"), world.path("project/gone")).unwrap();
    std::fs::rename(world.path("project/next"), world.path("project/.checkrein")).unwrap();
    until_hooks(&engine, &["new"]);
    world.write(PROJECT, hooks(&["newer"]));
    until_hooks(&engine, &["newer"]);
    std::fs::remove_dir_all(world.path("project/.checkrein")).unwrap();
    world.write(PROJECT, hooks(&["newest"]));
    until_hooks(&engine, &["newest"]);
    world.write(PROJECT, hooks(&["last"]));
    until_hooks(&engine, &["last"]);
}

#[test]
fn changes_of_linked_and_included_files_are_noticed() {
    let include = r#"{"include": [{"dialect": "native", "path": "../../elsewhere/more.json"}]}"#;
    let world = World::with(&[("dotfiles/hooks.json", &hooks(&["a"])), (PROJECT, include)]);
    std::fs::create_dir_all(world.path("home/.config/checkrein")).unwrap();
    std::os::unix::fs::symlink(world.path("dotfiles/hooks.json"), world.path(USER)).unwrap();
    let (engine, _) = engine(&world);
    let _watch = engine.watch();
    world.write("dotfiles/hooks.json", hooks(&["b"]));
    // A missing included file closes its gates.
    until_hooks(&engine, &["b", "more.json"]);
    world.write("elsewhere/more.json", hooks(&["c"]));
    until_hooks(&engine, &["b", "c"]);
}

#[test]
fn broken_file_keeps_old_hooks_until_it_is_fixed() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, reloads) = engine(&world);
    let _watch = engine.watch();
    world.write(PROJECT, "{ half");
    until("it is reported", || reloads.0.lock().unwrap().iter().any(|change| change.kept_old));
    assert_eq!(now(&engine), ["a"]);
    assert_eq!(engine.diagnostics().len(), 2);
    world.write(PROJECT, hooks(&["a", "b"]));
    until_hooks(&engine, &["a", "b"]);
    until("nothing is wrong", || engine.diagnostics().is_empty());
}

#[test]
fn rapid_changes_end_in_the_last_state() {
    let world = World::with(&[(PROJECT, &hooks(&["x0", "y0"]))]);
    let (engine, observer) = engine(&world);
    let watch = engine.watch();
    for number in 1..=300 {
        let (x, y) = (format!("x{number}"), format!("y{number}"));
        let new = world.write("project/.checkrein/new", hooks(&[&x, &y]));
        std::fs::rename(new, world.path(PROJECT)).unwrap();
        let seen = now(&engine);
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].trim_start_matches('x'), seen[1].trim_start_matches('y'));
    }
    until_hooks(&engine, &["x300", "y300"]);
    drop(watch);
    let reloads = observer.0.lock().unwrap().len();
    assert!(reloads < 300, "{reloads}");
}

#[test]
fn watch_sees_earlier_changes_and_stops_when_dropped() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, _) = engine(&world);
    world.write(PROJECT, hooks(&["b"]));
    let watch = engine.watch();
    assert_eq!(now(&engine), ["b"], "reloaded at the start");
    drop(watch);
    world.write(PROJECT, hooks(&["c"]));
    // Another watch of the same files sees the change, so this one would have seen it.
    let other = Engine::builder().sources(world.sources()).build();
    let _watch = other.watch();
    world.write(PROJECT, hooks(&["d"]));
    until_hooks(&other, &["d"]);
    assert_eq!(now(&engine), ["b"]);
}

/// As in deployments: the file is a link into a linked directory, and the link of the directory changes.
#[cfg(unix)]
#[test]
fn changed_link_is_noticed() {
    use std::os::unix::fs::symlink;
    let world = World::with(&[]);
    let base = world.path(USER).parent().unwrap().to_owned();
    for (version, id) in [("v1", "one"), ("v2", "two")] {
        std::fs::create_dir_all(base.join(version)).unwrap();
        std::fs::write(base.join(version).join("h.json"), hooks(&[id])).unwrap();
    }
    symlink("v1", base.join("data")).unwrap();
    symlink("data/h.json", world.path(USER)).unwrap();
    let (engine, _) = engine(&world);
    let _watch = engine.watch();
    until_hooks(&engine, &["one"]);
    symlink("v2", base.join("new")).unwrap();
    std::fs::rename(base.join("new"), base.join("data")).unwrap();
    until_hooks(&engine, &["two"]);
}
