//! Texts that look like a self-test of `checkrein doctor`.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn call(place: &Place) -> Ran {
    let command = format!("rm -rf x; echo checkrein-self-test-{TOKEN}");
    ask(place, &[], sent("Bash", &json!({ "command": command })).as_bytes())
}

#[test]
fn token_of_a_self_test_can_only_deny() {
    // A token that was not issued does not keep hooks from running.
    let guarded = Place::untrusted(&[(USER, GUARD)]);
    assert_guarded(&call(&guarded));
    let place = Place::untrusted(&[(USER, "hooks: []\n")]);
    assert_eq!(call(&place).stdout, "");
    // A process that can write the state of the user gains a denial.
    let dir = place.home.path().join(".local/state/checkrein/self-test");
    let set_mode = |mode| std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(TOKEN), "").unwrap();
    set_mode(0o700);
    assert_denied(&call(&place), TOKEN);
    // A link is not a token, and a directory that others can write has none.
    std::fs::remove_file(dir.join(TOKEN)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join(TOKEN)).unwrap();
    assert_eq!(call(&place).stdout, "");
    std::fs::remove_file(dir.join(TOKEN)).unwrap();
    std::fs::write(dir.join(TOKEN), "").unwrap();
    set_mode(0o777);
    assert_eq!(call(&place).stdout, "");
}
