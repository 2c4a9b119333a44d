//! A freshly cloned repository that tries to run its hooks, or to block its user.

use crate::common::Place;
use crate::{GUARD, LOCAL, PROJECT, USER, asked, asked_in, assert_denied, assert_guarded, decided};

/// A hook that creates a file if it runs, in each format that a repository can contain.
const FILES: &[(&str, &str)] = &[
    (PROJECT, "hooks: [{id: own, event: PreToolUse, command: 'touch ran'}]"),
    (LOCAL, "hooks: [{id: own, event: PreToolUse, command: 'touch ran'}]"),
    (
        ".checkrein/hooks.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}"#,
    ),
    (
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch \"$CLAUDE_PROJECT_DIR\"/ran"}]}]}}"#,
    ),
];

fn has_run(place: &Place) -> bool {
    place.dir.path().join("ran").exists()
}

#[test]
fn unapproved_hook_file_runs_and_blocks_nothing() {
    for (path, text) in FILES {
        let place = Place::untrusted(&[(path, text)]);
        // The result is the same if the user includes the hooks of other agents.
        place.write(USER, "include: [{dialect: claude, under_own_agent: true}]\nhooks: []");
        let ran = asked(&place, &[]);
        assert!(!has_run(&place), "{path}");
        assert_ne!(decided(&ran).0, "deny", "{path}: {ran:?}");
        // `run` finds the hook and does not run it either.
        let (code, listed) = place.run_json(&["trust", "check", "--json"]);
        assert_eq!(code, 1, "{path}: {listed:#}");
        assert!(!has_run(&place), "{path}");
    }
}

#[test]
fn import_of_a_repositorys_hooks_approves_nothing() {
    let (path, text) = FILES[3];
    let place = Place::untrusted(&[(path, text)]);
    assert_eq!(place.run(&["init", "--from", "claude", "--yes"]).code, 0);
    let ran = asked(&place, &[]);
    assert!(!has_run(&place), "{ran:?}");
    assert_ne!(decided(&ran).0, "deny", "{ran:?}");
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    // In the user's own file, the hooks would need no approval.
    assert_eq!(place.run(&["init", "--from", "claude", "--user", "--yes", path]).code, 1);
    asked(&place, &[]);
    assert!(!has_run(&place));
}

#[test]
fn unreadable_hook_file_of_a_repository_blocks_nothing() {
    for text in ["hooks: [", "hooks: [{event: PreToolUse, matcher: '[', command: x}]", "{}}", "hooks: &a [*a]"] {
        let place = Place::untrusted(&[(PROJECT, text)]);
        assert_ne!(decided(&asked(&place, &[])).0, "deny", "{text}");
        // The user's own guards still work.
        place.write(USER, GUARD);
        assert_guarded(&asked(&place, &[]));
    }
}

#[test]
fn script_changed_after_approval_does_not_run() {
    let place = Place::untrusted(&[(PROJECT, "hooks: [{id: own, event: PreToolUse, command: ./own.sh}]")]);
    place.write("own.sh", "#!/bin/sh\nexit 0\n");
    let approved = place.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_ne!(decided(&asked(&place, &[])).0, "deny");
    place.write("own.sh", "#!/bin/sh\ntouch ran\n");
    assert_denied(&asked(&place, &[]), "own.sh");
    assert!(!has_run(&place));
}

#[test]
fn link_out_of_the_project_is_resolved_before_approval() {
    let outside = tempfile::tempdir().unwrap();
    let script = outside.path().join("script.sh");
    std::fs::write(&script, "exit 0\n").unwrap();
    let place = Place::untrusted(&[(PROJECT, "hooks: [{id: own, event: PreToolUse, command: sh own.sh}]")]);
    std::os::unix::fs::symlink(&script, place.dir.path().join("own.sh")).unwrap();
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_ne!(decided(&asked(&place, &[])).0, "deny");
    // The target outside changes, or the link gets another target.
    std::fs::write(&script, "touch ran\n").unwrap();
    assert_denied(&asked(&place, &[]), "own.sh");
    std::fs::remove_file(place.dir.path().join("own.sh")).unwrap();
    std::os::unix::fs::symlink("/bin/true", place.dir.path().join("own.sh")).unwrap();
    assert_denied(&asked(&place, &[]), "own.sh");
    assert!(!has_run(&place));
}

#[test]
fn repository_cannot_approve_itself() {
    let hook = "hooks: [{id: own, event: PreToolUse, command: 'touch ran'}]";
    for (path, text) in
        [(PROJECT, format!("trusted_paths: [/, ., ~]\n{hook}")), (LOCAL, format!("trusted_paths: ['/']\n{hook}"))]
    {
        let place = Place::untrusted(&[(path, &text)]);
        asked(&place, &[]);
        assert!(!has_run(&place), "{path}");
    }
    // Variables, which a project's settings can set, do not move the place of approvals into the project.
    let place = Place::untrusted(&[(PROJECT, hook)]);
    let state = place.dir.path().join("state");
    let state = state.to_str().unwrap();
    let mut approve = place.command(&["trust", "approve", "--all", "--yes"]);
    approve.env("XDG_STATE_HOME", state).output().unwrap();
    asked(&place, &[("XDG_STATE_HOME", state), ("CHECKREIN_TRUST", "all"), ("CHECKREIN_TRUST_ALL", "1")]);
    assert!(!has_run(&place));
}

#[test]
fn outer_repository_cannot_approve_an_inner_one() {
    let hook = "hooks: [{id: own, event: PreToolUse, command: 'touch \"$HOME\"/ran'}]";
    let place = Place::untrusted(&[("sub/.checkrein/hooks.yaml", hook), ("sub/.git/HEAD", "")]);
    let sub = place.dir.path().join("sub");
    // The outer repository contains approvals in the format of the user's own.
    let brought = place.dir.path().join("state");
    let kept = tempfile::tempdir().unwrap();
    let mut approve = place.command(&["trust", "approve", "--all", "--yes"]);
    let approved = approve.current_dir(&sub).env("XDG_STATE_HOME", kept.path()).output().unwrap();
    assert!(approved.status.success(), "{approved:?}");
    std::fs::rename(kept.path().join("checkrein"), {
        std::fs::create_dir(&brought).unwrap();
        brought.join("checkrein")
    })
    .unwrap();
    let path = place.dir.path().canonicalize().unwrap();
    place.write("config/checkrein/hooks.yaml", &format!("trusted_paths: ['{}']\n{GUARD}", path.display()));
    let config = place.dir.path().join("config");
    for (name, dir) in [("XDG_STATE_HOME", &brought), ("XDG_CONFIG_HOME", &config)] {
        let ran = asked_in(&sub, &place, &[(name, dir.to_str().unwrap())]);
        assert!(!place.home.path().join("ran").exists(), "{name}: {ran:?}");
        assert_ne!(decided(&ran).0, "deny", "{name}: {ran:?}");
    }
}

#[test]
fn directory_above_the_home_disables_no_guard() {
    let place = Place::untrusted(&[(USER, GUARD)]);
    assert_guarded(&asked_in(std::path::Path::new("/"), &place, &[]));
}
