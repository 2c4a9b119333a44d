//! Agents that start in the home directory of their user, as in containers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::Path;

use common::Place;

const CALL: &str = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"rm -rf /"}}"#;

fn hook(place: &Place, home: &Path, current: &Path) -> String {
    use std::io::Write as _;
    let command = place.command(&["hook", "claude"]);
    let arguments: Vec<_> = command.get_args().take(2).map(ToOwned::to_owned).collect();
    let mut own = std::process::Command::new(command.get_program());
    own.args(arguments).arg("--home").arg(home).current_dir(current).env_clear().env("PATH", common::SYSTEM_PATH);
    own.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = own.spawn().unwrap();
    child.stdin.take().unwrap().write_all(CALL.as_bytes()).unwrap();
    place.ran(child.wait_with_output().unwrap()).stdout
}

/// The option names a directory that no project can have chosen.
#[test]
fn guards_of_a_named_home_run_in_it() {
    let place = Place::with(&[]);
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join(".config/checkrein")).unwrap();
    let hooks = "hooks: [{id: guard, event: PreToolUse, builtin: block_dangerous_commands}]\n";
    std::fs::write(home.join(".config/checkrein/hooks.yaml"), hooks).unwrap();
    std::fs::create_dir(home.join("app")).unwrap();
    for directory in [home.clone(), home.join("app")] {
        let answer = hook(&place, &home, &directory);
        assert!(answer.contains(r#""permissionDecision":"deny""#) && answer.contains("rm_root"), "{answer}");
    }
    // A repository could have written its files.
    std::fs::create_dir(home.join(".git")).unwrap();
    let answer = hook(&place, &home, &home);
    assert!(answer.contains("is inside of the git work tree") && answer.contains("--home DIR"), "{answer}");
}

/// Commands of the user get the home directory and the programs in it.
#[test]
fn commands_in_a_named_home_have_its_variables() {
    let place = Place::with(&[]);
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join(".config/checkrein")).unwrap();
    let hooks = "hooks: [{id: guard, event: PreToolUse, command: 'echo \"home $HOME\" >&2; exit 2'}]\n";
    std::fs::write(home.join(".config/checkrein/hooks.yaml"), hooks).unwrap();
    let answer = hook(&place, &home, &home);
    assert!(answer.contains(&format!("home {}", home.display())), "{answer}");
    assert!(!answer.contains("withheld"), "{answer}");
}

/// A variable can come from the project, so that a file of the user inside of the project needs approval.
#[test]
fn user_file_in_the_project_is_reported_with_its_cause() {
    let place = Place::untrusted(&[(
        "config/checkrein/hooks.yaml",
        "hooks: [{id: guard, event: PreToolUse, command: exit 2}]\n",
    )]);
    let config = place.dir.path().join("config");
    let ran = place.ran(place.command(&["run", "PreToolUse"]).env("XDG_CONFIG_HOME", config).output().unwrap());
    assert!(ran.stderr.contains("this file of the user is inside of the project"), "{ran:?}");
    assert!(ran.stdout.contains("  not run guard config/checkrein/hooks.yaml:1 (project, command)"), "{ran:?}");
}

#[test]
fn missing_state_directory_is_created() {
    let place = Place::with(&[(
        "home/.config/checkrein/hooks.yaml",
        "hooks: [{ id: guard, event: PreToolUse, matcher: Bash, input: { command: no }, command: 'exit 2' }]",
    )]);
    let state = place.home.path().canonicalize().unwrap().join("new/state");
    let payload = |command: &str| {
        format!(
            r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}},"tool_use_id":"{command}"}}"#
        )
    };
    let arguments = ["hook", "claude", "--state-home", state.to_str().unwrap()];
    assert_eq!(place.run_with(&arguments, &payload("ls")).stdout, "");
    assert!(place.run_with(&arguments, &payload("no")).stdout.contains("deny"));
    assert!(state.join("checkrein/decisions.jsonl").exists());
}
