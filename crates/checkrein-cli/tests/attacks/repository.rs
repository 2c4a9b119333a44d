//! A repository that was just cloned, and wants its hooks to run, or to be in its reader's way.

use crate::common::Place;
use crate::{GUARD, LOCAL, PROJECT, USER, asked, asked_in, assert_denied, assert_guarded, decided};

/// A hook that leaves a trace if it runs, in the words of each file that a repository may bring.
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
fn a_file_that_adds_a_hook_runs_nothing_and_blocks_nobody() {
    for (path, text) in FILES {
        let place = Place::untrusted(&[(path, text)]);
        // Also if its reader takes in what other agents are told.
        place.write(USER, "include: [{dialect: claude, under_own_agent: true}]\nhooks: []");
        let ran = asked(&place, &[]);
        assert!(!has_run(&place), "{path}");
        assert_ne!(decided(&ran).0, "deny", "{path}: {ran:?}");
        // Nor without an agent, and not because nothing was found.
        let (code, listed) = place.run_json(&["trust", "check", "--json"]);
        assert_eq!(code, 1, "{path}: {listed:#}");
        assert!(!has_run(&place), "{path}");
    }
}

#[test]
fn a_file_that_cannot_be_read_blocks_nobody() {
    for text in ["hooks: [", "hooks: [{event: PreToolUse, matcher: '[', command: x}]", "{}}", "hooks: &a [*a]"] {
        let place = Place::untrusted(&[(PROJECT, text)]);
        assert_ne!(decided(&asked(&place, &[])).0, "deny", "{text}");
        // The reader's own guards hold beside it.
        place.write(USER, GUARD);
        assert_guarded(&asked(&place, &[]));
    }
}

#[test]
fn a_script_that_changes_after_approval_does_not_run() {
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
fn a_link_out_of_the_project_is_what_it_leads_to() {
    let outside = tempfile::tempdir().unwrap();
    let script = outside.path().join("script.sh");
    std::fs::write(&script, "exit 0\n").unwrap();
    let place = Place::untrusted(&[(PROJECT, "hooks: [{id: own, event: PreToolUse, command: sh own.sh}]")]);
    std::os::unix::fs::symlink(&script, place.dir.path().join("own.sh")).unwrap();
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_ne!(decided(&asked(&place, &[])).0, "deny");
    // What lies outside changes, or the link leads elsewhere.
    std::fs::write(&script, "touch ran\n").unwrap();
    assert_denied(&asked(&place, &[]), "own.sh");
    std::fs::remove_file(place.dir.path().join("own.sh")).unwrap();
    std::os::unix::fs::symlink("/bin/true", place.dir.path().join("own.sh")).unwrap();
    assert_denied(&asked(&place, &[]), "own.sh");
    assert!(!has_run(&place));
}

#[test]
fn a_repository_cannot_approve_itself() {
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
fn a_repository_around_another_cannot_approve_it() {
    let hook = "hooks: [{id: own, event: PreToolUse, command: 'touch \"$HOME\"/ran'}]";
    let place = Place::untrusted(&[("sub/.checkrein/hooks.yaml", hook), ("sub/.git/HEAD", "")]);
    let sub = place.dir.path().join("sub");
    // Approvals as their user would have made them, brought along by the outer one.
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
fn a_directory_above_the_users_home_takes_no_guard_away() {
    let place = Place::untrusted(&[(USER, GUARD)]);
    assert_guarded(&asked_in(std::path::Path::new("/"), &place, &[]));
}
