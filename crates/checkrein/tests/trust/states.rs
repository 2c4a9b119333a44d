//! States of hooks: approved, new, changed, invalid.

use checkrein::dialects::agents::copilot;
use checkrein::hook::HookState;
use checkrein::{Decision, FailureKind};

use super::common::*;

#[test]
fn unapproved_hook_neither_runs_nor_blocks() {
    let world = World::guard("touch ran; echo no >&2; exit 2");
    let verdict = world.fire();
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    assert!(!world.path("project/ran").exists());
    let warned = warnings(&verdict);
    for part in [
        "hook `guard`",
        ".checkrein/hooks.yaml:1",
        "was not run: you have not approved it",
        "`checkrein trust approve guard`",
    ] {
        assert!(warned.contains(part), "{warned}");
    }
    assert_eq!(verdict.warnings()[0].failure.unwrap().0, FailureKind::Untrusted);
}

#[test]
fn approved_hook_runs() {
    let world = World::guard("echo no >&2; exit 2");
    world.approve();
    assert_eq!(world.fire().reason(), Some("no"));
    assert_eq!(world.statuses(), [("guard".to_owned(), "approved")]);
}

#[test]
fn irrelevant_changes_keep_the_approval() {
    let world = World::guard("true");
    world.approve();
    for text in [
        "# a comment\n\nhooks:\n  - event: PreToolUse\n    id: guard\n    command: 'true'\n",
        "hooks: [{id: other, event: Stop, command: 'true'}, {id: guard, event: PreToolUse, command: \"true\"}]",
        "hooks: [{id: renamed, description: for nothing, event: PreToolUse, command: 'true'}]",
    ] {
        world.write(FILE, text);
        let loaded = world.load();
        let ready = |spec: &&checkrein::HookSpec| spec.state == HookState::Ready;
        assert_eq!(loaded.hooks.iter().filter(ready).count(), 1, "{text}");
    }
}

#[test]
fn changed_entry_denies_until_approved() {
    for entry in [
        "event: PreToolUse, command: 'false'",
        "event: PreToolUse, command: 'true', matcher: Bash",
        "event: PreToolUse, command: 'true', timeout: 5",
        "event: PreToolUse, command: 'true', env: {A: b}",
        "event: PreToolUse, command: 'true', cwd: sub",
        "event: PreToolUse, command: 'true', on_failure: open",
        "event: PreToolUse, command: 'true', sandbox: true",
        "event: PreToolUse, command: 'true', rewrites: true",
        "event: PreToolUse, command: 'true', order: 5",
        "event: PreToolUse, url: 'http://127.0.0.1:9/'",
        "event: PreToolUse, builtin: log",
    ] {
        let world = World::guard("true");
        world.approve();
        world.write(FILE, &format!("hooks: [{{id: guard, {entry}}}]"));
        assert!(matches!(world.state(), HookState::Changed(_)), "{entry}: {:?}", world.state());
        let verdict = world.fire();
        assert_eq!(verdict.decision(), Decision::Deny, "{entry}");
        let reason = verdict.reason().unwrap().to_owned();
        for part in [".checkrein/hooks.yaml:1", "changed since it was approved", "`checkrein trust approve guard`"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
}

#[test]
fn changed_hook_denies_only_at_gates() {
    let text = |command: &str| format!("hooks: [{{id: s, event: Stop, command: '{command}'}}]");
    let world = World::with(&[(FILE, &text("true"))]);
    world.approve();
    world.write(FILE, &text("false"));
    let verdict = world.engine().fire_blocking(checkrein::Event::stop(checkrein::payload::Stop::default()));
    assert_eq!(verdict.decision(), Decision::NoOpinion, "{verdict:?}");
    assert!(warnings(&verdict).contains("changed since"));
}

#[test]
fn new_hook_with_the_position_of_a_moved_one_is_new() {
    let world = World::with(&[(FILE, "hooks: {PreToolUse: [{command: 'true'}]}")]);
    world.approve();
    world.write(FILE, "hooks: {PreToolUse: [{command: 'echo new'}, {command: 'true'}]}");
    let states =
        |loaded: checkrein::hook_files::Loaded| loaded.hooks.into_iter().map(|spec| spec.state).collect::<Vec<_>>();
    assert_eq!(states(world.load()), [HookState::Untrusted, HookState::Ready]);
    // Also if only the hooks of one event are loaded.
    world.write(FILE, "hooks: {PreToolUse: [{matcher: Bash, command: 'echo new'}, {command: 'true'}]}");
    let filter = checkrein::hook::EventFilter::for_event(&tool_call());
    assert_eq!(states(world.sources().only(&filter).load()), [HookState::Untrusted, HookState::Ready]);
}

#[test]
fn invalid_file_denies_only_if_it_has_approved_hooks() {
    let broken = "hooks: [{id: a, event: PreToolUse, command: 'true'}, {id: b, event: PreToolUse, matcher: 7}]";
    for text in ["hooks: {", broken, "hooks: {PreToolUs: []}"] {
        let world = World::with(&[(FILE, text)]);
        let verdict = world.fire();
        assert_eq!(verdict.decision(), Decision::NoOpinion, "{text}: {verdict:?}");
        let warned = warnings(&verdict);
        assert!(warned.contains("hooks.yaml:") && warned.contains("`checkrein check`"), "{text}: {warned}");
        let closed = |diagnostic: &&checkrein::dialects::config::Diagnostic| {
            diagnostic.code == "closed-gate" && diagnostic.severity == checkrein::dialects::config::Severity::Error
        };
        assert_eq!(world.load().diagnostics.iter().filter(closed).count(), 0);

        let world = World::guard("true");
        world.approve();
        world.write(FILE, text);
        let verdict = world.fire();
        assert_eq!(verdict.decision(), Decision::Deny, "{text}: {verdict:?}");
        let reason = verdict.reason().unwrap();
        assert!(reason.contains("hooks.yaml:") && reason.contains("`checkrein check`"), "{reason}");
    }
}

/// A directory with too many files, or without permission, follows the same rule as an invalid file.
#[test]
fn directory_that_cannot_be_listed_denies_only_if_it_has_approved_hooks() {
    let guard = r#"{"version": 1, "hooks": {"PreToolUse": [{"type": "command", "bash": "true"}]}}"#;
    for approved in [false, true] {
        let world = World::with(&[("project/.github/hooks/zz.json", guard)]).dialect(&copilot::DIALECT);
        if approved {
            world.approve();
            assert_eq!(world.fire().decision(), Decision::NoOpinion);
        }
        for index in 0..1000 {
            world.write(&format!("project/.github/hooks/{index:05}.json"), "{}");
        }
        let verdict = world.fire();
        let expected = if approved { Decision::Deny } else { Decision::NoOpinion };
        assert_eq!(verdict.decision(), expected, "{approved}: {verdict:?}");
    }
}

#[test]
fn approval_applies_to_one_project() {
    let world = World::guard("true");
    world.approve();
    world.write("other/.git/x", "");
    world.write("other/.checkrein/hooks.yaml", &std::fs::read_to_string(world.path(FILE)).unwrap());
    assert_eq!(world.sources_in("other").load().hooks[0].state, HookState::Untrusted);
    // A moved project needs a new approval.
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    assert_eq!(world.sources_in("moved").load().hooks[0].state, HookState::Untrusted);
}

#[test]
fn approval_applies_to_one_file() {
    let world = World::guard("true");
    world.approve();
    world.write("project/.checkrein/hooks.local.yaml", &hook("guard", "true"));
    let states: Vec<_> = world.load().hooks.into_iter().map(|spec| spec.state).collect();
    assert_eq!(states, [HookState::Ready, HookState::Untrusted]);
}

#[test]
fn approvals_can_be_revoked() {
    let world = World::with(&[(FILE, "hooks: [{id: a, event: Stop, command: a}, {id: b, event: Stop, command: b}]")]);
    world.approve();
    let revoked = world.sources().revoke(|_, id| id == "a").unwrap();
    assert_eq!(revoked, [(".checkrein/hooks.yaml".to_owned(), "a".to_owned())]);
    assert_eq!(world.statuses(), [("a".to_owned(), "new"), ("b".to_owned(), "approved")]);
    assert_eq!(world.sources().revoke(|_, id| id == "a").unwrap(), []);
}

#[test]
fn only_the_reviewed_contents_are_approved() {
    let world = World::guard("./x.sh");
    world.write("project/x.sh", &denies("one"));
    let review = world.sources().review();
    world.write("project/x.sh", &denies("two"));
    review.approve(&review.awaiting()).unwrap();
    assert_eq!(world.statuses(), [("guard".to_owned(), "changed")]);
    let verdict = world.fire();
    assert!(verdict.reason().unwrap().contains("x.sh has changed since it was approved"), "{verdict:?}");
}

#[test]
fn store_that_others_can_write_is_ignored() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::guard("true");
    world.approve();
    std::fs::set_permissions(world.path("state"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let loaded = world.load();
    assert_eq!(loaded.hooks[0].state, HookState::Untrusted);
    assert!(
        loaded.diagnostics[0].message.contains("is writable by other users (mode 0777)"),
        "{:?}",
        loaded.diagnostics
    );
    let review = world.sources().review();
    assert!(review.approve(&review.awaiting()).unwrap_err().to_string().contains("chmod go-w"));
}

#[test]
fn approvals_inside_of_the_project_are_ignored() {
    let world = World::guard("true");
    let inside = world.path("project/.state");
    let sources = world.sources().trust(checkrein::Trust::in_dir(&inside));
    let review = sources.review();
    assert!(review.approve(&review.awaiting()).unwrap_err().to_string().contains("is inside of the project"));
    // A repository could contain such a store.
    world.approve();
    std::fs::rename(world.path("state"), &inside).unwrap();
    assert_eq!(sources.load().hooks[0].state, HookState::Untrusted);
}

#[test]
fn reload_applies_new_and_revoked_approvals() {
    let world = World::guard("echo no >&2; exit 2");
    let engine = world.engine();
    assert!(engine.reload().unchanged);
    world.approve();
    assert_eq!(engine.reload().changed.len(), 1);
    assert_eq!(fire(&engine).reason(), Some("no"));
    world.sources().revoke(|_, _| true).unwrap();
    assert!(!engine.reload().unchanged);
    assert_eq!(fire(&engine).decision(), Decision::NoOpinion);
}
