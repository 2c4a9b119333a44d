//! At the deadline everything ends, whatever it tried.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::time::{Duration, Instant};

use checkrein_process::{HookCommand, Limits, Stdin};
use common::{ENDLESS, LONG, SOON, Tag, run};

/// How much later than it has to a reply may come. A busy machine needs some of it; a reply that waits for one of the sleepers, or
/// for more output, is late by three times as much.
const BUSY: Duration = Duration::from_secs(30);

#[tokio::test]
async fn nothing_is_left_alive() {
    // All at once: each has two seconds to get under way, which none needs.
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
async fn the_grace_is_not_waited_out_when_all_obey() {
    let tag = Tag::new();
    let limits = Limits::new(Duration::from_millis(100)).term_grace(LONG);
    let text = "setsid sleep 100 & sleep 100 & sleep 100 | cat";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert!(reply.timed_out && reply.duration < SOON);
    assert_eq!(tag.living(), [""; 0]);
}

#[tokio::test]
async fn without_a_grace_kill_comes_at_once() {
    let tag = Tag::new();
    let limits = Limits::new(Duration::from_millis(100)).term_grace(Duration::ZERO);
    let text = "trap 'echo trapped' TERM; sleep 100";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.exit, checkrein_process::Exit::Signalled(9));
    assert!(reply.stdout.bytes.is_empty());
}

#[tokio::test]
async fn the_deadline_counts_while_stdin_waits_and_output_floods() {
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
async fn a_timeout_of_nothing_and_one_without_end() {
    let place = common::place("/");
    let program = HookCommand::shell("sleep 100");
    let reply = run(program, &place, &Stdin::none(), &Limits::new(Duration::ZERO)).await.unwrap();
    assert!(reply.timed_out);
    let limits = Limits::new(Duration::MAX).term_grace(Duration::MAX).drain_grace(Duration::MAX);
    let reply = run(HookCommand::shell("exit 3"), &place, &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.exit.code(), Some(3));
}
