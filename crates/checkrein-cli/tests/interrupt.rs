//! Signals end the program and all processes of its hooks, and define the exit code.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::Place;
use rustix::process::{Pid, Signal, kill_process};

/// Longer than any wait of these tests, and shorter than the hooks run.
const SOON: Duration = Duration::from_secs(60);

#[track_caller]
fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < SOON, "timeout: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which may contain brackets.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Process ids that hooks have written to files, one per line.
fn pids(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Starts the program, waits until `count` processes of its hooks are there, and sends it a signal.
fn ends_all(hooks: &str, arguments: &[&str], count: usize, signal: Signal, code: i32) {
    let place = Place::with(&[(".checkrein/hooks.json", hooks), ("kept.jsonl", KEPT)]);
    let mut command = place.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().unwrap();
    until("the hooks are up", || pids(place.dir.path()).len() >= count);
    kill_process(Pid::from_child(&program), signal).unwrap();
    let ran = place.ran(program.wait_with_output().unwrap());
    // The processes end before the program exits.
    let living: Vec<_> = pids(place.dir.path()).into_iter().filter(|pid| is_alive(pid)).collect();
    assert_eq!(living, [""; 0], "{hooks}");
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, "checkrein: interrupted; all processes of hooks were ended\n");
}

const KEPT: &str = r#"{"event":"pre_tool_use","dialect":"native","verdict":{"decision":"allow","reasons":[],"context":[],"system_messages":[],"warnings":[],"cancelled":false},"hooks":[]}"#;

const SLEEPS: &str = r#"{"hooks": {"PreToolUse": [{ "command": "echo $$ >> pids; sleep 100; true" }]}}"#;

#[test]
fn running_hook_is_ended() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        ends_all(SLEEPS, &["run", "PreToolUse"], 1, signal, code);
    }
}

#[test]
fn descendants_of_a_hook_are_ended() {
    let hooks = r#"{"hooks": {"PreToolUse": [{ "command":
        "setsid sh -c 'echo $$ >> pids; sleep 100; true' & echo $$ >> pids; trap '' TERM; sleep 100; true" }]}}"#;
    ends_all(hooks, &["run", "PreToolUse"], 2, Signal::INT, 130);
}

#[test]
fn background_hooks_are_ended() {
    let hooks = r#"{"hooks": {"PostToolUse": [{ "async": true, "command": "echo $$ >> pids; sleep 100; true" }]}}"#;
    ends_all(hooks, &["run", "PostToolUse"], 1, Signal::INT, 130);
}

#[test]
fn benchmark_can_be_interrupted() {
    ends_all(SLEEPS, &["bench"], 1, Signal::INT, 130);
}

#[test]
fn replay_can_be_interrupted() {
    ends_all(SLEEPS, &["replay", "kept.jsonl"], 1, Signal::INT, 130);
}
