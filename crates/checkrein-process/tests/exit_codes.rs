//! How a process ended is reported as it was.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use checkrein_process::{Exit, HookCommand, Stdin};
use common::{limits, place, run, shell};

#[tokio::test]
async fn exit_codes_are_passed_on() {
    for code in [0, 1, 2, 126, 127, 255] {
        let reply = shell(&format!("exit {code}"), Stdin::none()).await;
        assert_eq!(reply.exit, Exit::Exited(code));
        assert_eq!(reply.exit.success(), code == 0);
        assert!(!reply.timed_out);
        assert!(reply.leftovers.is_empty());
    }
}

#[tokio::test]
async fn signals_are_told_from_codes() {
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15)] {
        let reply = shell(&format!("kill -{name} $$"), Stdin::none()).await;
        assert_eq!(reply.exit, Exit::Signalled(number), "{name}");
        assert_eq!(reply.exit.code(), None);
        assert!(!reply.timed_out, "it did that by itself");
    }
}

#[tokio::test]
async fn a_program_that_only_the_shell_misses_reads_as_the_shell_has_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plain"), "text").unwrap();
    let place = place(dir.path());
    for (text, code) in [("no-such-program-here --x", 127), ("./none", 127), ("./plain", 126), ("/", 126)] {
        let reply = run(HookCommand::shell(text), &place, &Stdin::none(), &limits()).await.unwrap();
        assert_eq!(reply.exit, Exit::Exited(code), "{text}");
        assert!(!reply.stderr.bytes.is_empty());
    }
}

#[tokio::test]
async fn a_program_that_vanishes_between_two_runs_reads_as_the_shell_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("check");
    common::script(&script, "#!/bin/sh\nexit 3\n");
    let place = place(dir.path());
    let prepared = HookCommand::shell("./check").prepare(&place).unwrap();

    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.exit, reply.ran_without_shell), (Exit::Exited(3), true));

    common::script(&script, "exit 4\n");
    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!(reply.exit, Exit::Exited(4), "a script without its first line is the shell's");

    std::fs::remove_file(&script).unwrap();
    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.exit, reply.ran_without_shell), (Exit::Exited(127), false));
}
