//! Attacks on the use of the resident process by `checkrein hook`.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::*;

/// A socket of another program, in a private directory.
fn foreign_socket(run: &Path) -> UnixListener {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(run).unwrap();
    let listener = UnixListener::bind(run.join("serve.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn is_untouched(listener: &UnixListener) -> bool {
    listener.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn variables_do_not_choose_the_socket() {
    let place = Place::with(&[(USER, GUARD)]);
    let project = place.dir.path().canonicalize().unwrap();
    let (state, runtime) = (project.join("state"), project.join("runtime"));
    let listeners = [foreign_socket(&state.join("checkrein/run")), foreign_socket(&runtime.join("checkrein"))];
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap()), ("XDG_RUNTIME_DIR", runtime.to_str().unwrap())];
    let ran = ask(&place, &variables, sent("Bash", &json!({ "command": "ls" })).as_bytes());
    assert!(ran.stdout.contains("the guard says no"), "{ran:?}");
    assert!(listeners.iter().all(is_untouched));
}

#[test]
fn socket_in_an_open_or_linked_directory_is_not_used() {
    let place = Place::with(&[(USER, GUARD)]);
    let state = place.home.path().join(".local/state/checkrein");
    let run = state.join("run");
    let listener = foreign_socket(&run);
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    let payload = sent("Bash", &json!({ "command": "ls" }));
    assert!(ask(&place, &[], payload.as_bytes()).stdout.contains("the guard says no"));
    assert!(is_untouched(&listener));
    fs::remove_dir_all(&run).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(elsewhere.path().join("serve.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &run).unwrap();
    assert!(ask(&place, &[], payload.as_bytes()).stdout.contains("the guard says no"));
    assert!(is_untouched(&listener));
    // A directory of the user alone is used, so the checks above would notice a connection.
    fs::remove_file(&run).unwrap();
    let listener = foreign_socket(&run);
    assert!(ask(&place, &[], payload.as_bytes()).stdout.contains("the guard says no"));
    assert!(!is_untouched(&listener));
}

#[test]
fn project_cannot_start_the_process_or_name_a_webhook() {
    let keys = "resident: true\napproval_webhook: {url: 'http://127.0.0.1:9/', secret: x}\n";
    let place = Place::with(&[(USER, GUARD), (PROJECT, keys)]);
    let (_, found) = place.run_json(&["status", "--effective", "--json"]);
    let text = found["settings"].to_string();
    assert!(!text.contains("resident") && !text.contains("approval_webhook"), "{text}");
    ask(&place, &[], sent("Bash", &json!({ "command": "ls" })).as_bytes());
    assert!(!place.home.path().join(".local/state/checkrein/run").exists());
}
