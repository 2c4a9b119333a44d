//! A repository that was just cloned, and wants its hooks to run, or to be in its reader's way.

use crate::common::Place;
use crate::{GUARD, LOCAL, PROJECT, USER, asked, assert_denied, assert_guarded, decided};

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
