//! `checkrein check` over the files of all agents, and what hooks get from the program that runs them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Place, SYSTEM_PATH};

const GUARD: &str =
    "#!/bin/sh\ncase $(checkrein get tool_input.command) in\n  *--force*) echo 'no force' >&2; exit 2 ;;\nesac\n";
const SENT: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force"}}"#;
const CLAUDE: &str = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}"#;

#[test]
fn guard_finds_checkrein_without_an_entry_in_the_path() {
    let native = "hooks: [{id: guard, event: PreToolUse, command: ./guard.sh}]";
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/guard.sh"}]}]}}"#;
    let place = Place::with(&[
        (".checkrein/hooks.yaml", native),
        (".claude/settings.json", claude),
        ("guard.sh", GUARD),
        ("bin.yaml", "hooks: [{event: PreToolUse, command: 'echo \"$CHECKREIN_BIN $PATH\" >&2; exit 2'}]"),
    ]);
    let ran = place.run(&["check", "--strict"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let ran = place.run_with(&["hook", "claude"], SENT);
    assert!(ran.stdout.contains("no force"), "{ran:?}");
    for agent in ["native", "claude"] {
        let ran = place.run(&["run", "PreToolUse", "--as", agent, "--input", r#"{"command":"git push --force"}"#]);
        assert_eq!(ran.code, 2, "{ran:?}");
    }
    let ran = place.run(&["run", "PreToolUse", "--config", "bin.yaml"]);
    let program = place.command(&[]).get_program().to_owned();
    let program = std::path::Path::new(&program).canonicalize().unwrap();
    let expected = format!("{} {SYSTEM_PATH}:{}", program.display(), program.parent().unwrap().display());
    assert!(ran.stdout.contains(&expected), "{expected}: {}", ran.stdout);
}

#[test]
fn files_of_all_agents_are_checked_as_their_own() {
    let gemini = r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "no-such-guard"}]}]}}"#;
    let place = Place::with(&[(".claude/settings.json", CLAUDE), (".gemini/settings.json", gemini)]);
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains(".gemini/settings.json:1:69: error[program-missing]"), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with(
            "Claude Code: 1 hook in 1 file: 0 errors, 0 warnings\nGemini CLI: 1 hook in 1 file: 1 error, 0 warnings\n"
        ),
        "{}",
        ran.stdout
    );
    let (_, json) = place.run_json(&["check", "--json"]);
    let agents: Vec<_> =
        json["agents"].as_array().unwrap().iter().map(|agent| agent["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["native", "claude", "gemini"]);
    // Entries of `checkrein install` are no hooks of the agent.
    let own = CLAUDE.replace("echo no >&2; exit 2", "/usr/bin/checkrein hook claude");
    let place = Place::with(&[(".claude/settings.json", &own)]);
    let ran = place.run(&["check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "0 hooks in 0 files: 0 errors, 0 warnings\n"));
    assert!(ran.stderr.contains("no hooks here"), "{}", ran.stderr);
}

#[test]
fn file_on_the_command_line_needs_hooks() {
    let place = Place::with(&[
        ("empty.yaml", ""),
        ("none.yaml", "hooks: []"),
        ("settings.yaml", "allow_skip: true"),
        ("other.json", r#"{"events": [{"on": "x"}]}"#),
        ("gemini.json", r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#),
        (".claude/settings.json", CLAUDE),
    ]);
    for (call, code, told) in [
        (&["check", "empty.yaml"][..], 1, "the file is empty"),
        (&["check", "none.yaml"], 1, "`hooks` is empty"),
        (&["check", "settings.yaml"], 0, ""),
        (&["check", "other.json", "--as", "claude"], 1, "it has no `hooks`, only `events`"),
        (&["check", "gemini.json", "--as", "codex"], 1, "error["),
        (&["check", ".claude/settings.json"], 0, "Claude Code: 1 hook in 1 file"),
    ] {
        let ran = place.run(call);
        assert!(ran.code == code && ran.stdout.contains(told), "{call:?}: {}", ran.stdout);
    }
}

#[test]
fn plugin_directory_follows_from_the_path_of_the_file() {
    let hooks = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh"}]}]}}"#;
    let place = Place::with(&[
        ("plugin/hooks/hooks.json", hooks),
        ("plugin/scripts/guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n"),
    ]);
    let ran = place.run(&["check", "--strict", "plugin/hooks/hooks.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let ran = place.run(&["run", "PreToolUse", "--as", "claude", "--config", "plugin/hooks/hooks.json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn unapproved_hooks_are_counted() {
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", "hooks: [{id: a, event: Stop, command: 'true'}]")]);
    let ran = place.run(&["check", "--strict"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.ends_with("; 1 hook is not approved (`checkrein trust` shows it)\n"), "{}", ran.stdout);
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_eq!(place.run(&["check"]).stdout, "1 hook in 1 file: 0 errors, 0 warnings\n");
}

/// `check`, `run` of a project's file and `run` of a user's file agree on a script that is not executable.
#[test]
fn script_must_be_executable_in_every_scope() {
    let hooks = "hooks: [{id: guard, event: PreToolUse, command: ./guard.sh}]";
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", hooks), ("user.yaml", hooks)]);
    place.write("guard.sh", "#!/bin/sh\nexit 0\n");
    let script = place.dir.path().join("guard.sh");
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    for (mode, check, run) in [(0o755, 0, 0), (0o644, 1, 4), (0o755, 0, 0)] {
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).unwrap();
        let checked = place.run(&["check"]);
        assert_eq!((checked.code, checked.stdout.contains("error[not-executable]")), (check, check == 1), "{mode:o}");
        for file in [&["run", "PreToolUse"][..], &["run", "PreToolUse", "--config", "user.yaml"]] {
            let ran = place.run(file);
            assert_eq!(ran.code, run, "{mode:o} {file:?}: {}", ran.stdout);
        }
    }
}

#[test]
fn explain_knows_the_codes_of_config_errors() {
    let place = Place::untrusted(&[]);
    for code in ["closed-gate", "not-loaded", "unknown-key", "exit-1"] {
        let ran = place.run(&["check", "--explain", code]);
        assert!(ran.code == 0 && ran.stdout.starts_with(code), "{code}: {ran:?}");
    }
}

#[test]
fn consequence_follows_its_cause() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "hooks:\n  - event: PreToolUse\n    command: x\n    timeout: soon\n")]);
    let ran = place.run(&["check"]);
    let at = |code: &str| ran.stdout.find(code).unwrap();
    assert!(at("wrong-type") < at("closed-gate"), "{}", ran.stdout);
    let place = Place::with(&[(".checkrein/hooks.yaml", "hooks: [{event: Foo, command: x}]")]);
    let told = place.run(&["check"]).stdout;
    assert!(told.contains("lists all events") && told.lines().all(|line| line.len() < 160), "{told}");
}

#[test]
fn scripts_in_the_home_directory_are_checked() {
    let place = Place::with(&[("home/ne.sh", "exit 0\n"), ("home/fine.sh", "#!/bin/sh\nexit 0\n")]);
    for (command, code) in [
        ("~/missing.sh", "script-missing"),
        ("$HOME/missing.sh", "script-missing"),
        (r#"'"${HOME}/missing.sh"'"#, "script-missing"),
        ("sh ~/missing.sh", "script-missing"),
        ("~/ne.sh", "not-executable"),
    ] {
        place.write(".checkrein/hooks.yaml", &format!("hooks: [{{id: a, event: PreToolUse, command: {command}}}]"));
        let ran = place.run(&["check"]);
        assert!(ran.code == 1 && ran.stdout.contains(&format!("error[{code}]")), "{command}: {ran:?}");
    }
    place.write(".checkrein/hooks.yaml", "hooks: [{id: a, event: PreToolUse, command: ~/fine.sh}]");
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
