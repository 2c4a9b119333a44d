//! Owners and permissions of managed files.

use std::os::unix::fs::{MetadataExt as _, symlink};

use checkrein::dialects::agents::{claude, native};
use checkrein::hook_files::{FileStatus, Loaded, Sources};
use checkrein::{Decision, Engine};

use crate::common::{MANAGED, PROJECT, USER, World, hooks, ready, tool_call};

fn problem(loaded: &Loaded) -> Option<String> {
    loaded.files.iter().find_map(|file| file.ownership.as_ref()?.problem.clone())
}

async fn verdict(world: &World) -> Decision {
    Engine::builder().sources(world.sources()).build().fire(tool_call("Read", "{}")).await.decision()
}

#[tokio::test]
async fn writable_managed_file_is_ignored_and_everything_is_denied() {
    let text = r#"{"allow_skip": true, "hooks": [{"id": "theirs", "event": "PreToolUse", "command": "touch ran"}]}"#;
    for (path, mode, who) in [
        (MANAGED, 0o664, "group-writable"),
        (MANAGED, 0o646, "world-writable"),
        ("root/etc/checkrein", 0o775, "group-writable"),
        ("root/etc/checkrein", 0o1777, "world-writable"),
        ("root/etc", 0o777, "world-writable"),
        ("root", 0o775, "group-writable"),
    ] {
        let world = World::with(&[(MANAGED, text), (USER, &hooks(&["mine"]))]);
        assert_eq!(ready(&world.load().hooks), ["theirs", "mine"]);
        world.mode(path, mode);
        let loaded = world.load();
        let reported = problem(&loaded).unwrap();
        assert!(reported.contains(&format!("is {who} (mode {mode:04o}); run: chmod go-w ")), "{reported}");
        assert!(reported.contains(&world.path(path).display().to_string()), "{reported}");
        assert_eq!(ready(&loaded.hooks), ["mine"], "{path} {mode:o}");
        assert_eq!(world.codes(&loaded), [format!("{MANAGED} insecure-permissions")]);
        assert!(!loaded.allow_skip, "the file is ignored");
        assert_eq!(
            loaded.files.iter().find(|file| file.path == world.path(MANAGED)).unwrap().status,
            FileStatus::InsecurePermissions
        );
        assert_eq!(verdict(&world).await, Decision::Deny, "{path} {mode:o}");
        assert!(!world.path("project/ran").exists());
    }
}

#[tokio::test]
async fn managed_file_of_another_user_is_ignored() {
    let world = World::with(&[(MANAGED, &hooks(&["theirs"]))]);
    let own = world.path("root").metadata().unwrap().uid();
    let load = |uid| {
        let place = world.place().administrator(uid);
        Sources::discover_in(&native::DIALECT, world.path("project"), place).load()
    };
    assert_eq!(ready(&load(own).hooks), ["theirs"]);
    if own == 0 {
        // Root owns everything here: change the owner of the file.
        std::os::unix::fs::chown(world.path(MANAGED), Some(4711), None).unwrap();
    }
    let loaded = load(if own == 0 { 0 } else { own + 1 });
    let reported = problem(&loaded).unwrap();
    assert!(reported.contains("is owned by user"), "{reported}");
    assert!(ready(&loaded.hooks).is_empty());
}

#[tokio::test]
async fn links_and_their_targets_are_checked() {
    let world = World::with(&[("root/srv/safe/hooks.json", &hooks(&["linked"]))]);
    std::fs::create_dir_all(world.path("root/etc/checkrein")).unwrap();
    symlink(world.path("root/srv/safe/hooks.json"), world.path(MANAGED)).unwrap();
    for path in ["root/etc", "root/etc/checkrein"] {
        world.mode(path, 0o755);
    }
    assert_eq!(ready(&world.load().hooks), ["linked"]);
    for path in ["root/srv/safe", "root/srv", "root/etc/checkrein"] {
        world.mode(path, 0o777);
        assert!(problem(&world.load()).unwrap().contains("world-writable"), "{path}");
        assert_eq!(verdict(&world).await, Decision::Deny, "{path}");
        world.mode(path, 0o755);
    }
    // An intermediate link in a directory that others can write.
    std::fs::create_dir_all(world.path("root/tmp")).unwrap();
    symlink(world.path("root/srv/safe"), world.path("root/tmp/current")).unwrap();
    std::fs::remove_file(world.path(MANAGED)).unwrap();
    symlink(world.path("root/tmp/current/hooks.json"), world.path(MANAGED)).unwrap();
    world.mode("root/tmp", 0o1777);
    assert!(problem(&world.load()).unwrap().contains("root/tmp is world-writable"));
}

#[tokio::test]
async fn writable_directory_without_a_managed_file_is_reported() {
    let world = World::new();
    std::fs::create_dir_all(world.path("root/etc/checkrein")).unwrap();
    for (path, mode) in [("root", 0o755), ("root/etc", 0o755), ("root/etc/checkrein", 0o777)] {
        world.mode(path, mode);
    }
    assert_eq!(world.codes(&world.load()), ["root/etc/checkrein insecure-permissions"]);
    assert_eq!(verdict(&world).await, Decision::Deny);
    world.mode("root/etc/checkrein", 0o755);
    assert!(world.load().hooks.is_empty(), "a directory with safe permissions adds no hooks");
}

#[test]
fn included_managed_files_are_checked() {
    let include = |path: &str| format!(r#"{{"include": [{{"dialect": "claude", "path": "{path}"}}]}}"#);
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
    let world = World::with(&[(PROJECT, "{}"), ("root/srv/claude.json", text), ("home/open/claude.json", text)]);
    world.write(MANAGED, include(&world.path("root/srv/claude.json").display().to_string()));
    assert_eq!(ready(&world.load().hooks).len(), 1);
    world.mode("home/open", 0o777);
    world.write(MANAGED, include(&world.path("home/open/claude.json").display().to_string()));
    let loaded = world.load();
    assert!(ready(&loaded.hooks).is_empty());
    assert_eq!(world.codes(&loaded), ["home/open/claude.json insecure-permissions"]);
}

#[test]
fn managed_files_of_other_agents_are_checked() {
    const OTHER: &str = "root/etc/claude-code/managed-settings.json";
    let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
    let world = World::with(&[(OTHER, text)]);
    let load = || Sources::discover_in(&claude::DIALECT, world.path("project"), world.place()).load();
    assert_eq!(ready(&load().hooks).len(), 1);
    world.mode(OTHER, 0o666);
    assert_eq!(world.codes(&load()), [format!("{OTHER} insecure-permissions")]);
}
