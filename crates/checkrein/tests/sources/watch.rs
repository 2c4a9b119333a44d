//! Following files. Every wait is for an outcome, and bounded.

use std::time::{Duration, Instant};

use checkrein::{Engine, EventKind};

use crate::common::{LOCAL, MANAGED, PROJECT, PROTECTION, USER, World, hooks};
use crate::reload::Told;

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

fn engine(world: &World) -> (Engine, Told) {
    let told = Told::default();
    (Engine::builder().sources(world.sources()).observer(told.clone()).build(), told)
}

#[test]
fn written_in_place_replaced_by_another_and_removed() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, told) = engine(&world);
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
    until("all were told", || told.0.lock().unwrap().last().is_some_and(|last| last.added[0].id == "f"));
}

#[test]
fn a_file_that_appears_later_in_directories_that_appear_later() {
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
fn a_directory_that_is_replaced() {
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
fn a_file_behind_a_link_and_a_file_that_is_included() {
    let include = r#"{"include": [{"dialect": "native", "path": "../../elsewhere/more.json"}]}"#;
    let world = World::with(&[("dotfiles/hooks.json", &hooks(&["a"])), (PROJECT, include)]);
    std::fs::create_dir_all(world.path("home/.config/checkrein")).unwrap();
    std::os::unix::fs::symlink(world.path("dotfiles/hooks.json"), world.path(USER)).unwrap();
    let (engine, _) = engine(&world);
    let _watch = engine.watch();
    world.write("dotfiles/hooks.json", hooks(&["b"]));
    // What is not there yet closes what it might guard.
    until_hooks(&engine, &["b", "unreadable"]);
    world.write("elsewhere/more.json", hooks(&["c"]));
    until_hooks(&engine, &["b", "c"]);
}

#[test]
fn broken_then_mended() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, told) = engine(&world);
    let _watch = engine.watch();
    world.write(PROJECT, "{ half");
    until("it is told", || told.0.lock().unwrap().iter().any(|change| change.kept_old));
    assert_eq!(now(&engine), ["a"]);
    assert_eq!(engine.diagnostics().len(), 2);
    world.write(PROJECT, hooks(&["a", "b"]));
    until_hooks(&engine, &["a", "b"]);
    until("nothing is wrong", || engine.diagnostics().is_empty());
}

#[test]
fn many_quick_changes_come_to_the_last_and_nobody_sees_half_of_one() {
    let world = World::with(&[(PROJECT, &hooks(&["x0", "y0"]))]);
    let (engine, told) = engine(&world);
    let watch = engine.watch();
    for at in 1..=300 {
        let (x, y) = (format!("x{at}"), format!("y{at}"));
        let new = world.write("project/.checkrein/new", hooks(&[&x, &y]));
        std::fs::rename(new, world.path(PROJECT)).unwrap();
        let seen = now(&engine);
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].trim_start_matches('x'), seen[1].trim_start_matches('y'));
    }
    until_hooks(&engine, &["x300", "y300"]);
    drop(watch);
    let reloads = told.0.lock().unwrap().len();
    assert!(reloads < 300, "{reloads}");
}

#[test]
fn what_changed_before_is_seen_and_what_changes_after_is_not() {
    let world = World::with(&[(PROJECT, &hooks(&["a"]))]);
    let (engine, _) = engine(&world);
    world.write(PROJECT, hooks(&["b"]));
    let watch = engine.watch();
    assert_eq!(now(&engine), ["b"], "it was read again");
    drop(watch);
    world.write(PROJECT, hooks(&["c"]));
    // Another watch of the same files sees it, so this one would have.
    let other = Engine::builder().sources(world.sources()).build();
    let _watch = other.watch();
    world.write(PROJECT, hooks(&["d"]));
    until_hooks(&other, &["d"]);
    assert_eq!(now(&engine), ["b"]);
}

/// As deployments do it: the file is a link into a directory that is a link, and that one is pointed elsewhere.
#[cfg(unix)]
#[test]
fn a_link_on_the_way_that_is_pointed_elsewhere() {
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
