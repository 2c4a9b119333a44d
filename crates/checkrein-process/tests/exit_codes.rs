//! Exit codes and signals are reported unchanged.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use checkrein_process::{Exit, HookCommand, Stdin};
use common::{limits, place, run, shell};

#[tokio::test]
async fn exit_codes_are_reported() {
    for code in [0, 1, 2, 126, 127, 255] {
        let reply = shell(&format!("exit {code}"), Stdin::none()).await;
        assert_eq!(reply.exit, Exit::Exited(code));
        assert_eq!(reply.exit.success(), code == 0);
        assert!(!reply.timed_out);
        assert!(reply.leftovers.is_empty());
    }
}

#[tokio::test]
async fn signals_are_distinguished_from_exit_codes() {
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15)] {
        let reply = shell(&format!("kill -{name} $$"), Stdin::none()).await;
        assert_eq!(reply.exit, Exit::Signalled(number), "{name}");
        assert_eq!(reply.exit.code(), None);
        assert!(!reply.timed_out, "the process ended itself");
    }
}

#[tokio::test]
async fn missing_program_in_a_shell_text_has_the_exit_code_of_the_shell() {
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
async fn program_removed_between_two_runs_has_the_exit_code_of_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("check");
    common::script(&script, "#!/bin/sh\nexit 3\n");
    let place = place(dir.path());
    let prepared = HookCommand::shell("./check").prepare(&place).unwrap();

    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.exit, reply.ran_without_shell), (Exit::Exited(3), true));

    common::script(&script, "exit 4\n");
    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!(reply.exit, Exit::Exited(4), "the shell runs a script without `#!`");

    std::fs::remove_file(&script).unwrap();
    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.exit, reply.ran_without_shell), (Exit::Exited(127), false));
}
