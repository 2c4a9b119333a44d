//! `checkrein simulate`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

mod common;

use std::process::Stdio;

use checkrein::{Decision, FailureKind, Record};
use checkrein_tools::simulate::Script;
use common::terminal::{self, Does};
use common::{Place, Ran};

#[track_caller]
fn fine(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

/// Output before the times of the summary, which differ in each run, without the scratch directory.
fn steady(printed: &str) -> String {
    let scratch = std::env::temp_dir().canonicalize().unwrap().display().to_string();
    let mut text = printed.split("\nSlowest hooks:").next().unwrap().to_owned();
    while let Some(at) = text.find(&format!("{scratch}/.tmp")) {
        let end = at + text[at..].find("/.env").expect("only this file is named");
        text.replace_range(at..end, "SCRATCH");
    }
    text
}

fn records(printed: &str) -> Vec<Record> {
    printed.lines().map(|line| serde_json::from_str(line).expect("each line is a record")).collect()
}

#[test]
fn without_hooks_examples_are_shown() {
    insta::assert_snapshot!(steady(&fine(Place::with(&[]).run(&["simulate"]))));
}

#[test]
fn json_output_is_one_record_per_line() {
    let ran = Place::with(&[]).run(&["simulate", "--json"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("playing example hooks"), "{}", ran.stderr);
    let records = records(&ran.stdout);
    assert_eq!(records.len(), 18);
    for decision in [Decision::Deny, Decision::Ask, Decision::NoOpinion] {
        assert!(records.iter().any(|record| record.verdict.decision == decision), "{decision}");
    }
    let rewritten = |record: &&Record| record.verdict.original_input != record.verdict.effective_input;
    let rewritten = records.iter().find(rewritten).unwrap();
    let input = rewritten.verdict.effective_input.as_ref().unwrap().as_str();
    assert_eq!(input, r#"{"command":"cargo test","run_id":9007199254740993,"timeout":600000}"#);
}

/// Hooks that deny, fail, run in the background and block stops.
const HOOKS: &str = r#"hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - id: breaks
          command: echo oops >&2; exit 1
        - id: no-rm
          command: "grep -q 'rm -rf' || exit 0; echo 'move it instead' >&2; exit 2"
  PostToolUse:
    - hooks:
        - id: later
          command: touch it-ran; exit 3
          async: true
  Stop:
    - hooks:
        - id: never
          command: sleep 0.01; echo 'not yet' >&2; exit 2
"#;

#[test]
fn the_hooks_of_the_project_are_played() {
    let place = Place::with(&[(".checkrein/hooks.yaml", HOOKS)]);
    let ran = place.run(&["simulate"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!(steady(&ran.stdout));
    let (_, times) = ran.stdout.split_once("\nSlowest hooks:\n").unwrap();
    let (times, warnings) = times.split_once("\nWarnings:\n").unwrap();
    assert!(times.contains(" %  never in 9 runs (.checkrein/hooks.yaml:16)\n"), "{times}");
    assert!(place.dir.path().join("it-ran").exists(), "hooks run in the start directory of the agent");
    for expected in [
        "pre_tool_use: hook `breaks` (.checkrein/hooks.yaml:5) failed with exit code 1: oops",
        "(3 times)",
        "stop: hook `never` (.checkrein/hooks.yaml:16): refused the stop 8 times in a row; the agent stops now",
        "post_tool_use: hook `later` failed in the background",
    ] {
        assert!(warnings.contains(expected), "{expected}:\n{warnings}");
    }
    let ran = place.run(&["simulate", "--json"]);
    assert!(ran.stderr.contains("hook `later` failed in the background"), "no record has it: {}", ran.stderr);
}

#[test]
fn custom_script_is_played() {
    let script = "steps:\n  - prompt: hi\n  - tool: Bash\n    input: { command: rm -rf x }\n  - tool: Read\n";
    let hooks = HOOKS.replace("exit 1", "exit 0");
    let place = Place::with(&[(".checkrein/hooks.yaml", &hooks), ("session.yaml", script)]);
    let by_name = records(&place.run(&["simulate", "session.yaml", "--json"]).stdout);
    let events: Vec<_> = by_name.iter().map(|record| record.event.as_str()).collect();
    assert_eq!(events, ["prompt_submit", "pre_tool_use", "pre_tool_use", "post_tool_use"]);
    assert_eq!(by_name[1].verdict.reason.as_deref(), Some("move it instead"));
    let by_stdin = records(&place.run_with(&["simulate", "-", "--json"], script).stdout);
    assert_eq!(by_stdin.len(), by_name.len());

    let printed = fine(place.run(&["simulate", "--print-script"]));
    assert_eq!(printed, Script::DEFAULT);
}

#[test]
fn script_of_the_documentation_is_valid() {
    let documents = include_str!("../../../docs/simulate.md");
    let script = documents.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let place = Place::with(&[("session.yaml", script)]);
    let records = records(&place.run(&["simulate", "session.yaml", "--json"]).stdout);
    assert_eq!((records[0].session_id.as_deref(), records.len()), (Some("s-1"), 13));
}

#[test]
fn invalid_script_is_reported_with_line_and_column() {
    let script = "steps:\n  - promt: hi\n  - tool: Bash\n    answer: 5\n";
    let ran = Place::with(&[("session.yaml", script)]).run(&["simulate", "session.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    for expected in
        ["session.yaml:2:5: error[unknown-key]", "did you mean `prompt`?", "session.yaml:4:13: error[wrong-type]"]
    {
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let ran = Place::with(&[]).run(&["simulate", "missing.yaml"]);
    assert_eq!(ran.code, 64);
    assert!(ran.stderr.contains("cannot read missing.yaml"), "{}", ran.stderr);
}

#[test]
fn hooks_of_other_agents_use_their_rules() {
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "exit 1"}]}]}}"#;
    let place = Place::with(&[(".claude/settings.json", settings)]);
    let printed = records(&place.run(&["simulate", "--as", "claude", "--json"]).stdout);
    assert!(printed.iter().all(|record| record.dialect == "claude"));
    let denied = printed.iter().filter(|record| record.verdict.decision == Decision::Deny).count();
    assert_eq!(denied, 3);
    let failures: Vec<_> = printed.iter().flat_map(|record| &record.hooks).filter_map(|hook| hook.failure).collect();
    assert_eq!(failures, [FailureKind::Exit; 3]);
}

#[test]
fn examples_are_not_played_if_a_file_has_errors() {
    let place = Place::with(&[(".checkrein/hooks.yaml", "hooks: 5\n")]);
    let ran = place.run(&["simulate"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains(".checkrein/hooks.yaml:1:8"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("example hooks"), "{}", ran.stdout);
    // A named file replaces the examples, even if it has no hooks.
    let place = Place::with(&[("empty.yaml", "hooks: {}\n")]);
    let printed = fine(place.run(&["simulate", "--config", "empty.yaml"]));
    assert!(printed.contains(", 0 runs of hooks"), "{printed}");
}

#[test]
fn hooks_can_be_skipped() {
    let place = Place::with(&[(".checkrein/hooks.yaml", HOOKS)]);
    let output = place.command(&["simulate", "--json"]).env("CHECKREIN_SKIP", "never,breaks,later").output().unwrap();
    let ran = place.ran(output);
    let ids: Vec<_> = records(&ran.stdout).iter().flat_map(|record| record.hooks.clone()).map(|hook| hook.id).collect();
    assert!(ids.iter().all(|id| id == "no-rm") && !ids.is_empty(), "{ids:?}");
}

#[test]
fn piped_output_has_no_escapes_and_one_line_per_hook() {
    let odd = "hooks: [{id: odd, event: Stop, command: \"printf 'a\\\\nb\\\\033[31mc' >&2; exit 2\"}]\n";
    let place = Place::with(&[("odd.yaml", odd)]);
    let printed = fine_but_warned(place.run(&["simulate", "--config", "odd.yaml"]));
    assert!(!printed.contains('\x1b'), "{printed}");
    assert!(printed.contains("    odd                  deny       a b<U+001B>[31mc (N ms)\n"), "{printed}");
}

#[track_caller]
fn fine_but_warned(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

#[test]
fn interrupt_exits_with_130() {
    let hooks = "hooks: [{id: waits, event: PreToolUse, command: 'kill -INT $PPID; sleep 600'}]\n";
    let place = Place::with(&[("hooks.yaml", hooks)]);
    let ran = place.run(&["simulate", "--config", "hooks.yaml"]);
    assert_eq!(ran.code, 130, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
}

/// A hook that ends after the test has seen it run.
const WAITS: &str =
    "hooks: [{id: waits, event: Stop, command: 'until test -e seen; do sleep 0.01; done; echo ended >&2; exit 1'}]\n";

#[test]
fn live_view_shows_running_hooks_and_is_erased() {
    let place = Place::with(&[("hooks.yaml", WAITS)]);
    let seen = place.dir.path().join("seen");
    let command = place.command(&["simulate", "--config", "hooks.yaml"]);
    // The second match is the redrawn line.
    let (code, shown) = terminal::talk(command, 40, &[("\x1b[1A", Does::Makes(&seen))]);
    assert_eq!(code, 0, "{shown}");
    // The line is drawn, redrawn, and erased before the result is printed.
    let line = shown.split("\x1b[?25l").nth(1).unwrap();
    assert!(line.contains("waits") && line.contains(" s\r\n"), "{shown}");
    let (_, after) = shown.rsplit_once("\x1b[?25h").unwrap();
    assert!(!after.contains("\x1b[?25l") && after.contains("failed     "), "{shown}");
    let drawn = shown.matches("\x1b[?25l").count();
    assert_eq!(shown.matches("\x1b[1A").count(), drawn, "each goes up once, the last to be taken away: {shown}");
    // All lines fit the terminal, except the warnings at the end, which are not cut.
    for line in shown.split("\n19 events").next().unwrap().lines().filter(|line| !line.contains('\x1b')) {
        assert!(line.chars().count() <= 40, "{line:?}");
    }
    let plain = place.command(&["simulate", "--config", "hooks.yaml", "--json"]);
    assert!(!terminal::talk(plain, 40, &[]).1.contains('\x1b'));
}

#[test]
fn interrupt_restores_the_terminal() {
    let place = Place::with(&[("hooks.yaml", WAITS)]);
    let command = place.command(&["simulate", "--config", "hooks.yaml"]);
    let (code, shown) = terminal::talk(command, 80, &[("\x1b[?25l", Does::Interrupts)]);
    assert_eq!(code, 130, "{shown}");
    let (_, after) = shown.rsplit_once("\x1b[?25h").expect("the cursor is shown again");
    assert!(!after.contains("\x1b[?25l") && after.contains("interrupted"), "{shown}");
    assert!(shown.rfind("\x1b[?7h") > shown.rfind("\x1b[?7l"), "lines wrap again: {shown}");
}

#[test]
fn usage_errors_exit_with_64() {
    let place = Place::with(&[]);
    for arguments in [&["simulat"][..], &["simulate", "--jsn"], &["simulate", "--as", "unknown"], &[]] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{arguments:?}");
        assert!(!ran.stderr.is_empty());
    }
    for arguments in [&["--help"][..], &["simulate", "--help"], &["--version"]] {
        assert!(!fine(place.run(arguments)).is_empty());
    }
}

#[test]
fn closed_pipe_is_not_an_error() {
    let place = Place::with(&[]);
    let mut child = place.command(&["simulate"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = place.ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}
