//! `checkrein test --watch`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use common::Place;

struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(place: &Place) -> Self {
        let mut child = place
            .command(&["test", "--watch"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Output up to the line that reports waiting.
    fn round(&mut self) -> String {
        let mut text = String::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if line.starts_with("watching for changes") {
                return text;
            }
            text.push_str(&line);
            text.push('\n');
        }
        panic!("it ended: {text}");
    }

    /// Sends SIGINT, as Ctrl-C does.
    fn interrupt(&mut self) -> i32 {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_repeats_after_changes_of_hooks_scripts_and_cases() {
    let place = Place::with(&[
        (".checkrein/hooks.yaml", "hooks: [{id: guard, event: PreToolUse, command: ./hooks/guard.sh}]"),
        ("hooks/guard.sh", "#!/bin/sh\n. ./hooks/lib.sh\nexit $CODE\n"),
        ("hooks/lib.sh", "CODE=0\n"),
        (".checkrein/tests/it.yaml", "cases: [{name: refuses, event: PreToolUse, expect: {decision: deny}}]"),
    ]);
    let mut watching = Watching::start(&place);
    assert!(watching.round().contains("1 case: 0 passed, 1 failed"));
    // A file beside a script.
    place.write("hooks/lib.sh", "CODE=2\n");
    assert!(watching.round().contains("1 case: 1 passed"));
    // The script itself.
    place.write("hooks/guard.sh", "#!/bin/sh\nexit 0\n");
    assert!(watching.round().contains("1 case: 0 passed, 1 failed"));
    // The hooks.
    place.write(".checkrein/hooks.yaml", "hooks: [{id: guard, event: PreToolUse, command: exit 2}]");
    assert!(watching.round().contains("1 case: 1 passed"));
    // The cases: a second file, first valid, then with an error.
    place.write(".checkrein/tests/more.yaml", "cases: [{name: more, event: Stop, expect: {ran: []}}]");
    assert!(watching.round().contains("2 cases: 2 passed"));
    place.write(".checkrein/tests/more.yaml", "cases: 7");
    assert!(watching.round().contains("  error: .checkrein/tests/more.yaml:1:"));
    assert_eq!(watching.interrupt(), 130);
}

#[test]
fn interrupt_ends_running_hooks() {
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks: [{id: slow, event: Stop, command: 'echo $$ > \"$TO.new\"; mv \"$TO.new\" \"$TO\"; exec sleep 600', env_allow: [TO]}]",
    )]);
    let to = place.dir.path().join("pid");
    let case = format!(
        "cases: [{{name: slow, event: Stop, environment: {{TO: {}}}, expect: {{exit_code: 0}}}}]",
        to.display()
    );
    place.write(".checkrein/tests/it.yaml", &case);
    let mut watching = Watching::start(&place);
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&to) {
            break pid.trim().to_owned();
        }
        assert!(watching.child.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    };
    assert_eq!(watching.interrupt(), 130);
    // The hook's parent has exited, so that init reaps it, which may take a moment.
    while Command::new("sh")
        .args(["-c", &format!("kill -0 {pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/{pid}/status 2>/dev/null")])
        .status()
        .unwrap()
        .success()
    {
        std::thread::yield_now();
    }
}
