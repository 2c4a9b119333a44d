//! Output of commands on a terminal. Other output has no colours.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

const HOOKS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [
        { "id": "no-rm", "command": "grep -q 'rm -rf' || exit 0; echo 'move it instead' >&2; exit 2" },
        { "id": "off", "command": "exit 2", "enabled": false }
      ] },
      { "matcher": "Write", "hooks": [{ "id": "breaks", "command": "echo oops >&2; exit 1", "on_failure": "open" }] }
    ],
    "SessionStart": [{ "hooks": [{ "id": "greets", "command": "./greet.sh" }] }]
  }
}
"#;

const KEPT: &str = r#"{"event":"pre_tool_use","dialect":"native","subject":"Bash","verdict":{"decision":"deny","reasons":[],"context":[],"system_messages":[],"original_input":{"command":"ls"},"effective_input":{"command":"ls"},"warnings":[],"cancelled":false},"hooks":[]}"#;

/// Commands with stable text output, each with a short name.
const COMMANDS: &[(&str, &[&str])] = &[
    ("run", &["run", "PreToolUse", "--input", r#"{"command":"rm -rf /"}"#]),
    ("run_failing", &["run", "PreToolUse", "--tool", "Write"]),
    ("explain", &["explain", "PreToolUse"]),
    ("list", &["list"]),
    ("check", &["check"]),
    ("check_explain", &["check", "--explain", "exit-1"]),
    ("events_of_evva", &["events", "--as", "evva"]),
    ("event", &["events", "SessionStart"]),
    ("wrong_call", &["explain"]),
    ("problem", &["explain", "PreToolUsee"]),
];

/// Commands whose output is for programs or differs in each run.
const MORE: &[&[&str]] = &[
    &["coverage"],
    &["serve", "status"],
    &["log"],
    &["run", "PreToolUse", "--json"],
    &["explain", "PreToolUse", "--json"],
    &["list", "--json"],
    &["check", "--json"],
    &["check", "--sarif"],
    &["bench", "--runs", "2"],
    &["bench", "--runs", "2", "--json"],
    &["simulate"],
    &["convert", "--from", "native", "--to", "native"],
    &["say", "deny", "no"],
    &["schema", "record"],
    &["record", "status"],
    &["record", "status", "--json"],
    &["replay", "kept.json"],
    &["replay", "kept.json", "--json"],
    &["completions", "bash"],
    &["man"],
    &["test"],
    &["init", "--dry-run"],
    &["install", "claude", "--dry-run"],
    &["try", "ls", "--as", "claude"],
    &["facts", "ls"],
    &["packs"],
    &["packs", "show", "git"],
    &["uninstall", "claude", "--dry-run"],
    &["status", "claude", "--no-versions"],
    &["doctor"],
    &["approve", "7KQ2M-9XDTR"],
    &["deny", "7KQ2M-9XDTR"],
    &["approvals"],
    &["audit", "verify"],
    &["trust"],
    &["trust", "check"],
    &["--help"],
    &["run", "--help"],
];

fn place() -> Place {
    Place::with(&[(".checkrein/hooks.json", HOOKS), ("kept.json", KEPT)])
}

#[test]
fn terminal_output_is_coloured() {
    for (name, arguments) in COMMANDS {
        let ran = place().run_on_terminal(arguments, &[]);
        insta::assert_snapshot!(*name, format!("{}exit {}\n", ran.stdout, ran.code));
    }
}

#[test]
fn piped_output_is_not_coloured() {
    let place = place();
    for arguments in COMMANDS.iter().map(|(_, arguments)| *arguments).chain(MORE.iter().copied()) {
        let ran = place.run(arguments);
        let output = ran.stdout + &ran.stderr;
        assert!(!output.is_empty() && !output.contains('\u{1b}'), "{arguments:?}: {output:?}");
    }
}

#[test]
fn exit_codes_are_the_same_on_a_terminal() {
    let calls = || COMMANDS.iter().map(|(_, arguments)| *arguments).chain(MORE.iter().copied());
    for arguments in calls() {
        // Each run has its own directory, so that runs do not affect each other.
        let (here, elsewhere) = (place().run_on_terminal(arguments, &[]), place().run(arguments));
        assert_eq!(here.code, elsewhere.code, "{arguments:?}: {}{}", elsewhere.stdout, elsewhere.stderr);
        assert!(!here.stdout.is_empty(), "{arguments:?}");
    }
    let help = place().run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Daily:").take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    // The first two read standard input. The last one needs a terminal, and starts a process.
    let silent = ["hook", "get", "live"];
    let missing: Vec<_> =
        names.filter(|name| !silent.contains(name) && !calls().any(|call| call[0] == *name)).collect();
    assert_eq!(missing, [""; 0], "not tried on a terminal");
}

#[test]
fn no_color_and_dumb_terminals_disable_colours() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for (_, arguments) in COMMANDS {
            let output = place().run_on_terminal(arguments, &[(name, value)]).stdout;
            assert!(!output.is_empty() && !output.contains('␛'), "{name}: {arguments:?}: {output}");
        }
    }
}

#[test]
fn json_and_sarif_are_never_coloured() {
    for arguments in MORE.iter().filter(|arguments| arguments.contains(&"--json") || arguments.contains(&"--sarif")) {
        let output = place().run_on_terminal(arguments, &[]).stdout;
        let start = output.find(['{', '[']).unwrap();
        assert!(!output[start..].contains("␛[3"), "{arguments:?}: {output}");
    }
}

#[test]
fn progress_line_is_removed_at_the_end() {
    let output = place().run_on_terminal(&["bench", "SessionStart", "--runs", "3"], &[]).stdout;
    assert!(output.contains("warming up, 1 of 3"), "{output}");
    let last = output.rfind("\r␛[K").unwrap();
    assert!(output[last..].starts_with("\r␛[K␛[1mSessionStart"), "{output}");
}

#[test]
fn control_characters_of_hooks_do_not_reach_the_terminal() {
    let hooks = r#"{ "hooks": { "PreToolUse": [
      { "matcher": "Bash|\u001bcx", "hooks": [{ "id": "a\u001bcb", "command": "echo '{\"decision\":\"\\u001bc\"}' # \u001bc" }] },
      { "matcher": "\u001bc(", "hooks": [{ "id": "broken\u001bc", "command": "true" }] },
      { "hooks": [{ "command": "true", "on_failur\u001bc": 1 }] },
      { "hooks": [{ "id": "says\u202e", "command": "echo 'no \u001bc \u202e' >&2; exit 2" }] }
    ] } }"#;
    let place = Place::with(&[(".checkrein/hooks.json", hooks)]);
    for arguments in [
        &["run", "PreToolUse", "--tool", "Bash"][..],
        &["explain", "PreToolUse", "--tool", "a\u{1b}cb"],
        &["list"],
        &["check"],
        &["bench", "--runs", "1"],
        &["simulate"],
        &["test", "--contract"],
        &["convert", "--from", "native", "--to", "ub"],
        &["run", "a\u{1b}cb"],
    ] {
        let output = place.run_on_terminal(arguments, &[]).stdout;
        assert!(
            !output.is_empty() && !output.contains("␛c") && !output.contains('\u{202e}'),
            "{arguments:?}: {output}"
        );
    }
}
