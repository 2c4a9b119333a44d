//! Excessive numbers of hooks, processes and seconds. All of them are bounded.

use std::fmt::Write as _;

use crate::common::Place;
use crate::{GUARD, PROJECT, USER, asked, assert_denied, assert_guarded};

#[test]
fn thousand_hooks_do_not_hide_a_guard() {
    let mut hooks = "hooks:\n".to_owned();
    for at in 0..1000 {
        writeln!(hooks, "  - {{id: h{at}, event: PreToolUse, command: [/bin/true, '{at}']}}").unwrap();
    }
    let place = Place::with(&[(PROJECT, &hooks), (USER, GUARD)]);
    assert_guarded(&asked(&place, &[]));
}

/// The fork bomb creates at most some hundred processes, also if checkrein does not stop it.
#[cfg(target_os = "linux")]
#[test]
fn fork_bomb_is_killed_with_all_children() {
    let mark = format!("31.{}", std::process::id());
    let command = format!("i=0; while [ $i -lt 150 ]; do sleep {mark} & i=$((i+1)); done; wait");
    let hooks = format!(
        "hooks: [{{id: bomb, event: PreToolUse, command: '{command}', timeout: 20, sandbox: {{processes: 20}}}}]"
    );
    let place = Place::with(&[(PROJECT, &hooks)]);
    assert_denied(&asked(&place, &[]), "sandbox");
    assert_eq!(running(&mark), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn timeout_kills_the_whole_process_tree() {
    let mark = format!("32.{}", std::process::id());
    let command = format!("(setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & trap '' TERM; sleep {mark}");
    let hooks = format!("hooks: [{{id: stays, event: PreToolUse, command: \"{command}\", timeout: 0.5}}]");
    let place = Place::with(&[(PROJECT, &hooks)]);
    assert_denied(&asked(&place, &[]), "timed out after");
    assert_eq!(running(&mark), 0);
}

/// Number of processes with this text in their arguments, without zombies.
#[cfg(target_os = "linux")]
fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let lives = |path: &std::path::Path| {
        let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    processes.filter(|path| lives(path)).count()
}
