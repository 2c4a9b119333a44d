//! `checkrein simulate`, as its users run it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may say so")]

use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use assert_cmd::cargo::CommandCargoExt;

fn checkrein(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("checkrein").unwrap();
    command.args(arguments).env_remove("CLICOLOR_FORCE");
    command
}

fn stdout_of(arguments: &[&str]) -> String {
    let output = checkrein(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing on standard error");
    String::from_utf8(output.stdout).unwrap()
}

/// Lines of the starter hooks' own source move when that file is edited; they are not what is tested.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + ".rs:LINE" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[test]
fn plays_a_session_and_shows_every_hook_and_verdict() {
    insta::assert_snapshot!(without_lines(&stdout_of(&["simulate"])));
}

#[test]
fn the_readme_shows_what_it_really_prints() {
    let readme = include_str!("../../../README.md");
    let shown = readme
        .split("```text\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the README has a block of output");
    let printed = stdout_of(&["simulate"]);
    for part in shown.split("…\n") {
        assert!(printed.contains(part.trim_matches('\n')), "the README shows what is not printed:\n{part}");
    }
}

#[test]
fn json_is_one_record_a_line() {
    let printed = stdout_of(&["simulate", "--json"]);
    let records: Vec<checkrein::Record> =
        printed.lines().map(|line| serde_json::from_str(line).expect("each line is a record")).collect();
    assert_eq!(records.len(), 11);
    let decided = |decision| records.iter().any(|record| record.verdict.decision == decision);
    assert!(decided(checkrein::Decision::Allow) && decided(checkrein::Decision::Deny));
    assert!(records.iter().any(|record| record.verdict.original_input != record.verdict.effective_input));
    let failures = || records.iter().flat_map(|record| &record.hooks).filter_map(|hook| hook.failure);
    assert!(failures().any(|kind| kind == checkrein::FailureKind::Panic));
}

#[test]
fn a_wrong_call_ends_with_64_and_says_what_is_wrong() {
    for arguments in [&["simulat"][..], &["simulate", "--jsn"], &[]] {
        let output = checkrein(arguments).output().unwrap();
        output.clone().assert().code(64);
        assert!(!output.stderr.is_empty());
        assert!(output.stdout.is_empty());
    }
    for arguments in [&["--help"][..], &["simulate", "--help"], &["--version"]] {
        let output = checkrein(arguments).output().unwrap();
        output.clone().assert().code(0);
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_problem() {
    let mut child = checkrein(&["simulate"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
