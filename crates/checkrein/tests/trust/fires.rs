//! Only approved scripts run.

use checkrein::Decision;
use checkrein::dialects::agents::claude;
use checkrein::hook::HookState;

use super::common::*;

#[test]
fn changed_script_needs_a_new_approval() {
    for command in ["./x.sh", "sh x.sh", "env A=1 ./x.sh", "cat | ./x.sh", "\"./x.sh\""] {
        let world = World::guard(command);
        world.write("project/x.sh", &denies("one"));
        world.approve();
        let engine = world.engine();
        assert_eq!(fire(&engine).reason(), Some("one"), "{command}");
        world.write("project/x.sh", &denies("two"));
        let verdict = fire(&engine);
        assert_eq!(verdict.decision(), Decision::Deny);
        let reason = verdict.reason().unwrap();
        assert!(reason.contains("x.sh has changed since it was approved"), "{command}: {reason}");
        assert_eq!(world.statuses(), [("guard".to_owned(), "changed")]);
        // A load for display reports the change too.
        let mut loaded = world.load();
        loaded.verify_scripts();
        assert!(matches!(loaded.hooks[0].state, HookState::Changed(_)));
        world.approve();
        assert_eq!(world.fire().reason(), Some("two"), "{command}");
        // The new approval has replaced the old one.
        world.write("project/x.sh", &denies("one"));
        assert_ne!(world.fire().reason(), Some("one"), "{command}");
    }
}

#[test]
fn scripts_of_argv_and_of_other_agents_are_verified() {
    let world = World::with(&[(FILE, "hooks: [{id: a, event: PreToolUse, command: sh, args: [-e, hooks/x.sh]}]")]);
    world.write("project/hooks/x.sh", &denies("one"));
    world.approve();
    assert_eq!(world.fire().reason(), Some("one"));
    world.write("project/hooks/x.sh", &denies("two"));
    assert!(world.fire().reason().unwrap().contains("changed since"));

    let settings = r#"{"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh"}]}]}}"#;
    let world = World::with(&[("project/.claude/settings.json", settings)]).dialect(&claude::DIALECT);
    world.write("project/.claude/hooks/x.sh", &denies("one"));
    world.approve();
    assert_eq!(world.fire().reason(), Some("one"));
    world.write("project/.claude/hooks/x.sh", &denies("two"));
    assert!(
        world.fire().reason().unwrap().contains("changed since"),
        "denied although failures are open under this agent"
    );
}

#[test]
fn script_finds_the_files_around_it() {
    let world = World::guard("sub/hooks/x.sh one 'two  three'");
    let script = "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\n. \"$(dirname \"$0\")/../up.sh\"\n\
                  echo \"$lib $up $# $2 $(basename \"$0\") $CHECKREIN_SCRIPT $(pwd)\" >&2\nexit 2\n";
    world.write("project/sub/hooks/x.sh", script);
    world.write("project/sub/hooks/lib.sh", "lib=beside");
    world.write("project/sub/up.sh", "up=above");
    world.approve();
    let (script, cwd) = (world.path("project/sub/hooks/x.sh"), world.path("project"));
    let expected = format!("beside above 2 two  three x.sh {} {}", script.display(), cwd.display());
    for _ in 0..2 {
        assert_eq!(world.fire().reason(), Some(expected.as_str()));
    }
}

#[test]
fn script_names_may_have_special_characters() {
    for name in ["it's.sh", "a b.sh", "$HOME.sh", "new\nline.sh", "é*.sh", "\"q\".sh"] {
        let quoted = name.replace('\'', "'\\''");
        let world = World::guard(&format!("'./{quoted}'"));
        world.write(&format!("project/{name}"), &denies("one"));
        world.approve();
        assert_eq!(world.fire().reason(), Some("one"), "{name:?}");
        world.write(&format!("project/{name}"), &denies("two"));
        assert!(world.fire().reason().unwrap().contains("changed since"), "{name:?}");
    }
    let world = World::guard("./sub/../x.sh");
    world.write("project/sub/y", "");
    world.write("project/x.sh", &denies("one"));
    world.approve();
    assert_eq!(world.fire().reason(), Some("one"));
    let script = &world.sources().review().hooks[0].scripts[0];
    assert_eq!((script.name.as_str(), script.path.clone()), ("x.sh", world.path("project/x.sh")));
    // A name that no file can have does not panic.
    let world = World::guard("./x\0.sh");
    world.sources().review();
    assert_eq!(world.fire().decision(), Decision::NoOpinion);
}

#[test]
fn link_is_verified_by_the_bytes_of_its_target() {
    let world = World::guard("./x.sh");
    world.write("outside/real.sh", &denies("one"));
    std::os::unix::fs::symlink(world.path("outside/real.sh"), world.path("project/x.sh")).unwrap();
    let review = world.sources().review();
    assert_eq!(review.hooks[0].scripts[0].path, world.path("outside/real.sh"), "the review shows the file that runs");
    review.approve(&review.awaiting()).unwrap();
    assert_eq!(world.fire().reason(), Some("one"));
    world.write("outside/real.sh", &denies("two"));
    assert!(world.fire().reason().unwrap().contains("changed since"));
    // A link to another file with the approved bytes still runs.
    world.write("outside/other.sh", &denies("one"));
    std::fs::remove_file(world.path("project/x.sh")).unwrap();
    std::os::unix::fs::symlink(world.path("outside/other.sh"), world.path("project/x.sh")).unwrap();
    assert_eq!(world.fire().reason(), Some("one"));
}

#[test]
fn script_that_was_missing_at_approval_does_not_run() {
    let world = World::guard("./x.sh");
    world.approve();
    let verdict = world.fire();
    assert_eq!(verdict.decision(), Decision::Deny, "a missing guard denies: {verdict:?}");
    world.write("project/x.sh", "#!/bin/sh\ntouch ran\n");
    let verdict = world.fire();
    assert!(verdict.reason().unwrap().contains("x.sh did not exist when the hook was approved"), "{verdict:?}");
    assert!(!world.path("project/ran").exists());
}

#[test]
fn relative_path_is_that_of_the_project() {
    let world = World::guard("./x.sh");
    world.write("project/x.sh", &denies("one"));
    world.write("project/sub/x.sh", "#!/bin/sh\ntouch ran\n");
    world.approve();
    let mut event = tool_call();
    event.envelope.cwd = Some(world.path("project/sub").display().to_string());
    let verdict = world.engine().fire_blocking(event);
    assert_eq!(verdict.reason(), Some("one"), "{verdict:?}");
    assert!(!world.path("project/sub/ran").exists());
}

#[test]
fn sandboxed_hook_can_read_the_copy() {
    let world = World::with(&[(FILE, "hooks: [{id: a, event: PreToolUse, command: ./x.sh, sandbox: true}]")]);
    world.write("project/x.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\necho \"$lib\" >&2; exit 2\n");
    world.write("project/lib.sh", "lib=found");
    world.approve();
    let verdict = world.fire();
    if warnings(&verdict).contains("file access cannot be restricted") {
        return;
    }
    assert_eq!(verdict.reason(), Some("found"), "{verdict:?}");
}

#[test]
fn copies_are_private_and_removed_with_the_approval() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::guard("./x.sh");
    world.write("project/x.sh", &denies("one"));
    world.approve();
    world.fire();
    let verified = world.path("state/verified");
    assert_eq!(verified.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let project = verified.join(&names(&verified)[0]);
    assert_eq!(names(&project).len(), 1);
    world.sources().revoke(|_, _| true).unwrap();
    assert_eq!(names(&project), Vec::<String>::new());
}
