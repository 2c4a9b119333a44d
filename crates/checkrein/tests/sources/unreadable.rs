//! Unreadable files: each has a diagnostic, closes gates, and never blocks the reader.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use checkrein::document::MAX_SIZE;
use checkrein::hook::HookState;
use checkrein::hook_files::FileStatus;
use checkrein::payload::Prompt;
use checkrein::{Decision, Engine, Event, EventKind};

use crate::common::{LOCAL, PROJECT, USER, World, hooks, ids};
use crate::shared::skip;

type Make = fn(&Path);

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Creates a sparse file, which takes no space on the disk.
fn large(path: &Path) {
    std::fs::File::create(path).unwrap().set_len(50 << 20).unwrap();
}

#[test]
fn unreadable_files_are_reported_and_close_gates() {
    let cases: &[(&str, FileStatus, Make)] = &[
        ("not-a-file", FileStatus::Unreadable, |path| std::fs::create_dir(path).unwrap()),
        ("not-a-file", FileStatus::Unreadable, pipe),
        ("not-a-file", FileStatus::Unreadable, |path| symlink("/dev/zero", path).unwrap()),
        ("not-a-file", FileStatus::Unreadable, |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ("link-loop", FileStatus::Unreadable, |path| symlink(path, path).unwrap()),
        ("dead-link", FileStatus::Unreadable, |path| symlink("nowhere", path).unwrap()),
        ("too-large", FileStatus::TooLarge, large),
        ("not-utf8", FileStatus::Unreadable, |path| std::fs::write(path, b"{\n  \"\xff\": 1}").unwrap()),
        ("not-readable", FileStatus::Unreadable, |path| std::fs::write(path, "{").unwrap()),
        ("wrong-type", FileStatus::Unreadable, |path| std::fs::write(path, "[]").unwrap()),
    ];
    for (code, status, make) in cases {
        let world = World::with(&[(LOCAL, &hooks(&["neighbour"]))]);
        make(&world.path(PROJECT));
        let loaded = world.load();
        let codes = world.codes(&loaded);
        assert_eq!(codes, [format!("{PROJECT} {code}")]);
        assert_eq!(ids(&loaded.hooks), ["hooks.json", "neighbour"], "{code}: others are not touched");
        assert!(matches!(loaded.hooks[0].state, HookState::Broken(_)), "{code}");
        let state = loaded.files.iter().find(|file| file.path == world.path(PROJECT)).unwrap();
        assert_eq!((state.status, state.hooks), (*status, 1), "{code}");

        let engine = Engine::builder().sources(world.sources()).build();
        let verdict = engine.fire_blocking(Event::prompt_submit(Prompt::new("hi")));
        assert_eq!(verdict.decision(), Decision::Deny, "{code}");
        assert!(verdict.reason().unwrap().contains("project/.checkrein/hooks.json:"), "{code}: {:?}", verdict.reason());
        assert_eq!(engine.diagnostics().len(), 1);
        assert!(!engine.has(&EventKind::Notification), "{code}: only gates are closed");
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    let world = World::new();
    world.write(PROJECT, b"{\n  \"\xc3\xa4\xff\": 1}");
    let diagnostic = world.load().diagnostics.remove(0);
    let at = diagnostic.at.unwrap();
    assert_eq!((at.place.line, at.place.column, at.span.start), (2, 5, 7));
    assert_eq!(diagnostic.message, "the file is not valid UTF-8 (byte 7)");
}

#[test]
fn size_limit_is_exact() {
    let world = World::new();
    world.write(PROJECT, " ".repeat(MAX_SIZE));
    assert_eq!(world.codes(&world.load()), [""; 0]);
    world.write(PROJECT, " ".repeat(MAX_SIZE + 1));
    assert_eq!(world.codes(&world.load()), [format!("{PROJECT} too-large")]);
    // A file of size 0 with content.
    std::fs::remove_file(world.path(PROJECT)).unwrap();
    symlink("/proc/self/status", world.path(PROJECT)).unwrap();
    if world.path(PROJECT).exists() {
        assert_eq!(world.codes(&world.load()), [format!("{PROJECT} not-readable")]);
    }
}

#[test]
fn file_without_permission_closes_gates() {
    let world = World::with(&[(PROJECT, &hooks(&["guard"]))]);
    let lock = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    lock(&world.path(PROJECT), 0);
    if std::fs::read(world.path(PROJECT)).is_ok() {
        skip("unprivileged", "permissions do not stop root");
        return;
    }
    assert_eq!(world.codes(&world.load()), [format!("{PROJECT} no-permission")]);
    lock(&world.path("project/.checkrein"), 0);
    let codes = world.codes(&world.load());
    lock(&world.path("project/.checkrein"), 0o700);
    assert_eq!(codes[0], format!("{PROJECT} no-permission"), "{codes:?}");
}

#[test]
fn link_loop_in_place_of_a_directory_closes_gates() {
    let world = World::with(&[("home/.config/checkrein/hooks.d", "a file"), (USER, &hooks(&["user"]))]);
    let loaded = world.load();
    assert_eq!((world.codes(&loaded), ids(&loaded.hooks)), (vec![], vec!["user"]));
    std::fs::remove_file(world.path("home/.config/checkrein/hooks.d")).unwrap();
    symlink("hooks.d", world.path("home/.config/checkrein/hooks.d")).unwrap();
    let loaded = world.load();
    assert_eq!(world.codes(&loaded), ["home/.config/checkrein/hooks.d link-loop"]);
    assert_eq!(ids(&loaded.hooks), ["user", "hooks.d"]);
}

/// A directory with more files than are read could hold a guard among the others.
#[test]
fn directory_with_too_many_files_closes_gates() {
    for directory in ["root/etc/checkrein/hooks.d", "home/.config/checkrein/hooks.d"] {
        for (count, closed) in [(1000, false), (1001, true)] {
            let world = World::with(&[]);
            // The name sorts behind all others.
            world.write(&format!("{directory}/zz.json"), hooks(&["last"]));
            for index in 1..count {
                world.write(&format!("{directory}/{index:05}.json"), "{}");
            }
            // Files of other types are not counted.
            world.write(&format!("{directory}/README.md"), "");
            let loaded = world.load();
            let codes = world.codes(&loaded);
            let expected = if closed { vec![format!("{directory} too-many-files")] } else { Vec::new() };
            assert_eq!(codes, expected);
            let verdict = Engine::builder().sources(world.sources()).build();
            let verdict = verdict.fire_blocking(Event::prompt_submit(Prompt::new("hi")));
            assert_eq!(verdict.decision() == Decision::Deny, closed, "{directory}, {count}: {verdict:?}");
            if closed {
                let reason = verdict.reason().unwrap();
                assert!(reason.contains("1001 hook files") && reason.contains("merge some of them"), "{reason}");
            }
        }
    }
}
