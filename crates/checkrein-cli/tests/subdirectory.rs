//! Agents that start in a subdirectory of the project: relative scripts of its hooks are found from the project.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::process::Command;

use common::{Place, Ran};

const GUARD: &str = "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\ngrep -q 'push --force' || exit 0\nrefuse\n";
const LIB: &str = "refuse() { echo 'no force' >&2; exit 2; }\n";

/// A project with a guard in `hooks/`, started in `sub/`, which has another file with the name of the guard.
fn place() -> Place {
    Place::untrusted(&[
        (
            ".checkrein/hooks.yaml",
            "hooks: [{id: guard, event: PreToolUse, matcher: Bash, command: ./hooks/guard.sh}]\n",
        ),
        ("hooks/guard.sh", GUARD),
        ("hooks/lib.sh", LIB),
        ("sub/hooks/guard.sh", "#!/bin/sh\nexit 0\n"),
        ("deep/er/x", ""),
        (
            ".checkrein/tests/guard.yaml",
            "cases: [{name: force, event: PreToolUse, tool: Bash, input: {command: git push --force}, expect: {reason: no force}}]\n",
        ),
    ])
}

fn in_directory(place: &Place, directory: &str, arguments: &[&str]) -> Ran {
    let mut command: Command = place.command(arguments);
    place
        .ran(command.current_dir(place.dir.path().join(directory)).stdin(std::process::Stdio::null()).output().unwrap())
}

#[test]
fn project_hook_finds_its_script_in_every_directory() {
    let place = place();
    assert_eq!(in_directory(&place, "sub", &["trust", "approve", "--all", "--yes"]).code, 0);
    for directory in [".", "sub", "deep/er"] {
        for trust in [&[][..], &["--trust-all"]] {
            let run = |command: &str| {
                let call = [&["run", "PreToolUse", "--command", command][..], trust].concat();
                in_directory(&place, directory, &call)
            };
            let ran = run("git push --force");
            assert!(ran.code == 2 && ran.stdout.contains("=> deny: no force\n"), "{directory} {trust:?}: {ran:?}");
            assert_eq!(run("ls").code, 0, "{directory} {trust:?}");
            let tested = in_directory(&place, directory, &[&["test"][..], trust].concat());
            assert_eq!(tested.code, 0, "{directory}: {tested:?}");
        }
        let checked = in_directory(&place, directory, &["check"]);
        assert!(checked.code == 0 && checked.stdout.contains("0 errors, 0 warnings"), "{directory}: {checked:?}");
        assert_eq!(
            in_directory(&place, directory, &["trust", "check"]).stdout,
            "the hook is approved\n",
            "{directory}"
        );
    }
    // The agent reports another directory than the one in which it starts checkrein.
    let sub = place.dir.path().canonicalize().unwrap().join("sub");
    let payload = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{}","tool_name":"Bash","tool_use_id":"t","tool_input":{{"command":"git push --force"}}}}"#,
        sub.display()
    );
    let ran = place.run_with(&["hook", "claude"], &payload);
    assert!(ran.stdout.contains(r#""permissionDecisionReason":"no force""#), "{ran:?}");
}

#[test]
fn changed_script_is_noticed_in_every_directory() {
    let place = place();
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    place.write("hooks/guard.sh", "#!/bin/sh\nexit 0\n");
    for directory in [".", "sub", "deep/er"] {
        let ran = in_directory(&place, directory, &["run", "PreToolUse", "--command", "ls"]);
        assert!(
            ran.code == 4 && ran.stdout.contains("guard.sh has changed since it was approved"),
            "{directory}: {ran:?}"
        );
    }
}

#[test]
fn working_directory_of_a_hook_is_relative_to_the_project() {
    let hooks = "hooks: [{id: here, event: PreToolUse, cwd: hooks, command: 'pwd >&2; exit 2'}]\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hooks), ("hooks/x", ""), ("sub/x", "")]);
    let ran = in_directory(&place, "sub", &["run", "PreToolUse", "--command", "ls"]);
    assert!(ran.stdout.contains("=> deny: ../hooks\n") || ran.stdout.contains("/hooks\n"), "{ran:?}");
    assert!(!ran.stdout.contains("sub/hooks"), "{ran:?}");
}

/// Claude Code runs hooks in its working directory, and so does checkrein for hooks in its files.
#[test]
fn missing_script_is_reported_by_its_own_path() {
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./hooks/gone.sh"}]}]}}"#;
    let place = Place::untrusted(&[
        (".checkrein/hooks.yaml", "hooks: [{id: gone, event: PreToolUse, command: ./hooks/gone.sh}]\n"),
        (".claude/settings.json", claude),
    ]);
    for agent in ["native", "claude"] {
        assert_eq!(place.run(&["trust", "approve", "--all", "--yes", "--as", agent]).code, 0);
        let ran = place.run(&["run", "PreToolUse", "--as", agent]);
        assert!(ran.stdout.contains("hooks/gone.sh: not found"), "{agent}: {ran:?}");
        assert!(!ran.stdout.contains("verified"), "{agent}: {ran:?}");
    }
}
