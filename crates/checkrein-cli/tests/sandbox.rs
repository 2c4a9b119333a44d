//! Sandboxed hooks of `checkrein hook`: their temporary directories, and limits that the agent has set.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};

const FILE: &str = ".checkrein/hooks.yaml";
const SENT: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

/// A hang is a failure. No wait of these tests takes so long.
const WATCHDOG: Duration = Duration::from_secs(120);

#[track_caller]
fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < WATCHDOG, "timeout: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A project whose hook runs this command in a sandbox. Temporary directories are made in `tmp`.
fn project(command: &str, more: &str) -> Place {
    let hook = format!(
        "hooks:\n  - id: h\n    event: PreToolUse\n    sandbox: {{project: write, file_size: 8MiB}}\n    command: |\n      {command}\n    {more}\n"
    );
    let place = Place::with(&[(FILE, &hook)]);
    std::fs::create_dir(place.dir.path().join("tmp")).unwrap();
    place
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("TMPDIR", place.dir.path().join("tmp"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn send(mut command: Command, place: &Place) -> Ran {
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(SENT.as_bytes()).unwrap();
    place.ran(child.wait_with_output().unwrap())
}

/// Returns `true` if this machine has sandboxes. Otherwise the test is skipped.
fn has_sandbox() -> bool {
    let place = project("echo $TMPDIR > seen", "");
    let ran = send(command(&place, &["hook", "claude"]), &place);
    let is_there = place.dir.path().join("seen").exists();
    if !is_there {
        common::skip("landlock", ran.stdout);
    }
    is_there
}

const FILL: &str = "mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; mkdir -m 000 $TMPDIR/d; echo $TMPDIR > seen;";

#[test]
fn temporary_directory_is_gone_after_the_hook() {
    if !has_sandbox() {
        return;
    }
    for (end, more, expected) in [
        ("exit 0", "", ""),
        ("echo no >&2; exit 2", "", "\"deny\""),
        ("exit 7", "", "\"deny\""),
        ("kill -9 $$", "", "\"deny\""),
        ("trap '' TERM; sleep 1000", "timeout: 0.5", "timed out"),
        ("(sleep 1000 &) ; exit 0", "", ""),
        ("head -c 20000000 /dev/zero > $TMPDIR/x", "", "\"deny\""),
        ("for i in 1 2 3 4; do head -c 3000000 /dev/zero > $TMPDIR/$i; done; sleep 1000", "", "in TMPDIR"),
    ] {
        let place = project(&format!("{FILL} {end}"), more);
        let ran = send(command(&place, &["hook", "claude"]), &place);
        assert!(ran.stdout.contains(expected), "{end}: {ran:?}");
        let seen = std::fs::read_to_string(place.dir.path().join("seen")).unwrap();
        assert!(!Path::new(seen.trim()).exists(), "{end}: {seen}");
        assert_eq!(names(&place.dir.path().join("tmp")), [""; 0], "{end}");
    }
    for arguments in [&["run", "PreToolUse"][..], &["explain", "PreToolUse"], &["simulate"]] {
        let place = project(&format!("{FILL} exit 0"), "");
        send(command(&place, arguments), &place);
        assert_eq!(names(&place.dir.path().join("tmp")), [""; 0], "{arguments:?}");
    }
}

#[test]
fn temporary_directory_of_a_background_hook_is_gone() {
    if !has_sandbox() {
        return;
    }
    let place = project(&format!("{FILL} exit 0"), "async: true");
    send(command(&place, &["hook", "claude"]), &place);
    until("the hook runs", || place.dir.path().join("seen").exists());
    until("the directory is removed", || names(&place.dir.path().join("tmp")).is_empty());
}

#[test]
fn temporary_directory_is_gone_after_a_signal() {
    if !has_sandbox() {
        return;
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let place = project(&format!("{FILL} echo ready > ready; sleep 1000"), "");
        let mut program = command(&place, &["hook", "claude"]).spawn().unwrap();
        program.stdin.take().unwrap().write_all(SENT.as_bytes()).unwrap();
        until("the hook runs", || place.dir.path().join("ready").exists());
        assert_eq!(names(&place.dir.path().join("tmp")).len(), 1);
        kill_process(Pid::from_child(&program), signal).unwrap();
        let ran = place.ran(program.wait_with_output().unwrap());
        assert!(ran.stdout.contains("\"deny\""), "{ran:?}");
        assert_eq!(names(&place.dir.path().join("tmp")), [""; 0], "{signal:?}");
    }
}

/// A write beyond the limit must not end the program in the middle of a decision.
#[test]
fn file_size_limit_of_the_agent_loses_no_decision() {
    let hooks = "audit: {}\nhooks:\n  - {id: guard, event: PreToolUse, command: 'grep -q rm && { echo no >&2; exit 2; }; exit 0'}\n  - {id: once, event: PreToolUse, once: true, command: 'true'}\n  - {id: later, event: PreToolUse, async: true, command: 'true'}\n  - {id: stop, event: Stop, command: 'echo more >&2; exit 2'}\n";
    for (event, expected) in [
        (SENT.replace("ls", "rm"), "\"permissionDecision\":\"deny\""),
        (SENT.to_owned(), "cannot write to the audit log"),
        (r#"{"hook_event_name":"Stop","session_id":"s"}"#.to_owned(), "\"decision\":\"block\""),
    ] {
        let place = Place::with(&[("home/.config/checkrein/hooks.yaml", hooks)]);
        let program = place.command(&["hook", "claude"]);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "ulimit -f 0 && exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
        shell.current_dir(place.dir.path()).env_clear();
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        let ran = place.ran(child.wait_with_output().unwrap());
        assert!(ran.code == 0 && ran.stdout.contains(expected), "{event}: {ran:?}");
        assert!(ran.stdout.contains("File too large"), "the failure is a note: {ran:?}");
    }
}
