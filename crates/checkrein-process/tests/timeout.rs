//! The timeout ends all processes of a run.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use std::time::{Duration, Instant};

use checkrein_process::{HookCommand, Limits, Stdin};
use common::{ENDLESS, LONG, SOON, Tag, run};

/// Allowed delay of a result on a busy machine. A run that wrongly waits for a `sleep 100` takes three times as long.
const BUSY: Duration = Duration::from_secs(30);

#[tokio::test]
async fn timeout_ends_all_processes() {
    // In parallel: each has two seconds to start, which is more than needed.
    let runs: Vec<_> = ENDLESS.iter().map(|(way, text)| tokio::spawn(ends(way, text))).collect();
    for run in runs {
        run.await.unwrap();
    }
}

async fn ends(way: &str, text: &str) {
    let tag = Tag::new();
    let (deadline, grace) = (Duration::from_secs(2), Duration::from_millis(200));
    let limits = Limits::new(deadline).term_grace(grace).drain_grace(LONG);
    let program = HookCommand::shell(tag.text(text));
    let begun = Instant::now();
    let reply = run(program, &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    let took = begun.elapsed();
    assert!(took < deadline + grace + BUSY, "{way}: {took:?}");
    assert_eq!(tag.living(), [""; 0], "{way}");
    assert!(reply.timed_out, "{way}");
    assert_eq!(reply.stdout.bytes, b"up\n", "{way}");
    for leftover in &reply.leftovers {
        assert!(leftover.ended, "{way}: {leftover:?}");
        assert_eq!(common::stat_if_alive(leftover.pid), None, "{way}: {leftover:?}");
    }
}

#[tokio::test]
async fn grace_period_ends_when_all_processes_have_exited() {
    let tag = Tag::new();
    let limits = Limits::new(Duration::from_millis(100)).term_grace(LONG);
    let text = "setsid sleep 100 & sleep 100 & sleep 100 | cat";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert!(reply.timed_out && reply.duration < SOON);
    assert_eq!(tag.living(), [""; 0]);
}

#[tokio::test]
async fn zero_grace_period_sends_kill_without_term() {
    let tag = Tag::new();
    let limits = Limits::new(Duration::from_millis(100)).term_grace(Duration::ZERO);
    let text = "trap 'echo trapped' TERM; sleep 100";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.exit, checkrein_process::Exit::Signalled(9));
    assert!(reply.stdout.bytes.is_empty());
}

#[tokio::test]
async fn timeout_applies_during_stdin_and_large_output() {
    for text in ["sleep 100", "yes", "yes >&2", "yes & yes >&2", "cat; sleep 100"] {
        let tag = Tag::new();
        let limits = Limits::new(Duration::from_millis(200));
        let stdin = Stdin::bytes(vec![0; 10 << 20]);
        let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &stdin, &limits).await.unwrap();
        assert!(reply.timed_out && reply.duration < SOON, "{text}");
        assert_eq!(tag.living(), [""; 0], "{text}");
    }
}

#[tokio::test]
async fn zero_and_maximum_timeouts_work() {
    let place = common::place("/");
    let program = HookCommand::shell("sleep 100");
    let reply = run(program, &place, &Stdin::none(), &Limits::new(Duration::ZERO)).await.unwrap();
    assert!(reply.timed_out);
    let limits = Limits::new(Duration::MAX).term_grace(Duration::MAX).drain_grace(Duration::MAX);
    let reply = run(HookCommand::shell("exit 3"), &place, &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.exit.code(), Some(3));
}
