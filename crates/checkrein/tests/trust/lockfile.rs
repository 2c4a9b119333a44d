//! Approval by a signed lockfile.

use std::process::{Command, Stdio};

use checkrein::hook::HookState;

use super::common::*;

const USER: &str = "home/.config/checkrein/hooks.yaml";

/// A project with a signed lockfile and without local approvals. `None` if `ssh-keygen` cannot sign.
fn locked() -> Option<(World, String)> {
    let world = World::guard("./x.sh");
    world.write("project/x.sh", &denies("one"));
    world.approve();
    let (path, hooks) = world.sources().review().lock().unwrap().unwrap();
    assert_eq!((path, hooks), (world.path("project/checkrein.lock"), 1));
    world.sources().revoke(|_, _| true).unwrap();
    let key = sign(&world, "key", "checkrein")?;
    Some((world, key))
}

fn sign(world: &World, key: &str, namespace: &str) -> Option<String> {
    let run = |arguments: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        command.args(arguments).current_dir(world.path("project")).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let path = world.path(key).display().to_string();
    if !world.path(key).exists() && !run(&["-q", "-t", "ed25519", "-N", "", "-C", "ann@example.com", "-f", &path]) {
        return None;
    }
    let _ = std::fs::remove_file(world.path("project/checkrein.lock.sig"));
    assert!(run(&["-q", "-Y", "sign", "-n", namespace, "-f", &path, "checkrein.lock"]));
    Some(std::fs::read_to_string(world.path(&format!("{key}.pub"))).unwrap().trim().to_owned())
}

fn warning(world: &World) -> String {
    let diagnostics = world.load().diagnostics.into_iter();
    diagnostics.filter(|found| found.code == "lockfile-not-trusted").map(|found| found.message).collect()
}

#[test]
fn lockfile_with_a_trusted_signature_approves() {
    let Some((world, key)) = locked() else { return };
    assert_eq!(world.state(), HookState::Untrusted);
    assert!(warning(&world).contains("your config has no `trusted_keys`"));
    world.write(USER, &format!("trusted_keys: ['{key}']"));
    assert_eq!(world.state(), HookState::Ready);
    assert_eq!(world.statuses(), [("guard".to_owned(), "lockfile")]);
    assert_eq!(world.fire().reason(), Some("one"));
    // The lockfile applies to every clone.
    std::fs::rename(world.path("project"), world.path("clone")).unwrap();
    assert_eq!(world.sources_in("clone").load().hooks[0].state, HookState::Ready);
    std::fs::rename(world.path("clone"), world.path("project")).unwrap();
    // A hook that has changed since then denies.
    world.write("project/x.sh", &denies("two"));
    assert!(world.fire().reason().unwrap().contains("changed since"));
    world.write(FILE, &hook("guard", "./x.sh --other"));
    assert!(matches!(world.state(), HookState::Changed(_)));
}

#[test]
fn lockfile_without_a_trusted_signature_is_ignored() {
    let Some((world, key)) = locked() else { return };
    let lock = std::fs::read_to_string(world.path("project/checkrein.lock")).unwrap();
    let trusted = format!("trusted_keys: ['{key}']");
    let rejected = |why: &str| {
        assert_eq!(world.state(), HookState::Untrusted, "{why}");
        assert!(warning(&world).contains(why), "{why}: {}", warning(&world));
    };
    world.write(USER, &trusted);
    world.write("project/checkrein.lock", &lock.replace("guard", "other"));
    rejected("has changed since it was signed");
    world.write("project/checkrein.lock", &lock);
    assert_eq!(world.state(), HookState::Ready);
    sign(&world, "key", "file").unwrap();
    rejected("the namespace `file`");
    sign(&world, "unknown", "checkrein").unwrap();
    rejected("a key that is not in your `trusted_keys`");
    std::fs::remove_file(world.path("project/checkrein.lock.sig")).unwrap();
    rejected("it is not signed");
    world.write("project/checkrein.lock.sig", "nonsense");
    rejected("its signature is invalid");
    world.write("project/checkrein.lock", "{}");
    rejected("first line");
}

#[test]
fn lockfile_covers_the_whole_entry() {
    let world = World::guard("true");
    let hook = |more: &str| format!("hooks: [{{id: guard, event: PreToolUse, command: 'true'{more}}}]\n");
    world.write(FILE, &hook(", dry_run: true"));
    world.approve();
    world.sources().review().lock().unwrap();
    assert_eq!(world.sources().review().not_locked().unwrap().len(), 0);
    for more in ["", ", dry_run: true, on_timeout: open", ", dry_run: true, strict: true"] {
        world.write(FILE, &hook(more));
        assert_eq!(world.sources().review().not_locked().unwrap().len(), 1, "{more}");
    }
}

#[test]
fn lockfile_contains_only_approved_hooks() {
    let world = World::guard("./x.sh");
    world.write("project/x.sh", &denies("one"));
    assert!(world.sources().review().lock().unwrap_err().to_string().contains("is not approved"));
    world.approve();
    world.sources().review().lock().unwrap();
    let first = std::fs::read_to_string(world.path("project/checkrein.lock")).unwrap();
    assert!(!first.contains(&*world.path("").to_string_lossy()), "{first}");
    assert_eq!(world.sources().review().not_locked().unwrap().len(), 0);
    world.write("project/x.sh", &denies("two"));
    assert_eq!(world.sources().review().not_locked().unwrap().len(), 1);
}
