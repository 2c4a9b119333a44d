//! What a process leaves behind after a normal exit.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::time::{Duration, Instant};

use checkrein_process::{Exit, HookCommand, Leftovers, Stdin};
use common::{LONG, SOON, Tag, limits, run, until};

/// Ways to leave something behind that keeps running.
const WAYS: &[(&str, &str)] = &[
    ("holds the streams", "sleep 100 & echo done"),
    ("silent", "sleep 100 >/dev/null 2>&1 </dev/null & echo done"),
    ("setsid, holds the streams", "setsid sleep 100 & echo done"),
    ("setsid, silent", "setsid sleep 100 >/dev/null 2>&1 </dev/null & echo done"),
    ("double fork, silent", "(setsid sh -c 'sleep 100 & sleep 100' >/dev/null 2>&1 </dev/null &); echo done"),
    ("ignores TERM", "(trap '' TERM; sleep 100) & echo done"),
    ("drops the mark", "env -i sleep 100 & echo done"),
];

#[tokio::test]
async fn leftovers_are_ended() {
    for (way, text) in WAYS {
        let tag = Tag::new();
        let begun = Instant::now();
        let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits()).await.unwrap();
        assert_eq!(tag.living(), [""; 0], "{way}");
        assert_eq!((reply.exit, &*reply.stdout.bytes), (Exit::Exited(0), &b"done\n"[..]), "{way}");
        assert!(!reply.timed_out && !reply.stdout.cut, "{way}");
        assert!(!reply.leftovers.is_empty(), "{way}");
        for leftover in &reply.leftovers {
            assert!(leftover.ended, "{way}: {leftover:?}");
            assert_eq!(common::stat_if_alive(leftover.pid), None, "{way}");
        }
        assert!(begun.elapsed() < LONG, "{way}");
    }
}

#[tokio::test]
async fn leftovers_are_left_and_reported() {
    for (way, text) in &WAYS[..5] {
        let tag = Tag::new();
        let limits = limits().leftovers(Leftovers::Leave).drain_grace(Duration::from_secs(1));
        let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
        assert_eq!((reply.exit, &*reply.stdout.bytes), (Exit::Exited(0), &b"done\n"[..]), "{way}");
        assert!(!reply.leftovers.is_empty(), "{way}");
        assert_eq!(reply.stdout.ended, way.ends_with("silent"), "{way}");
        for leftover in &reply.leftovers {
            assert!(!leftover.ended);
            assert!(common::stat_if_alive(leftover.pid).is_some(), "{way}: {leftover:?} is gone");
        }
        until("this test's own processes are gone", || tag.kill() == 0).await;
    }
}

#[tokio::test]
async fn a_server_that_is_left_may_go_on_printing() {
    let dir = tempfile::tempdir().unwrap();
    let tag = Tag::new();
    // More than a pipe holds, after the reply.
    let text = "(while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero && echo ok > done) & echo up";
    let limits = limits().leftovers(Leftovers::Leave).drain_grace(Duration::from_millis(10));
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place(dir.path()), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.stdout.bytes, b"up\n");
    std::fs::write(dir.path().join("go"), "").unwrap();
    until("the server has printed all", || dir.path().join("done").exists()).await;
    until("the server is done", || tag.living().is_empty()).await;
}

#[tokio::test]
async fn output_that_a_child_prints_shortly_after_the_exit_is_kept() {
    let tag = Tag::new();
    let limits = limits().drain_grace(SOON);
    let text = "(sleep 0.2; echo late) & echo early";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.stdout.bytes, b"early\nlate\n");
    assert!(reply.stdout.ended && reply.duration < SOON, "the grace is not waited out");
}

#[tokio::test]
async fn nothing_left_is_nothing_reported() {
    for text in ["sleep 0.01 & wait", "seq 100 | tail -n 1 | cat", "(setsid true)", "true", "/bin/true"] {
        for fate in [Leftovers::End, Leftovers::Leave] {
            let tag = Tag::new();
            let limits = limits().leftovers(fate);
            let reply =
                run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
            assert_eq!(reply.leftovers, [], "{text}");
        }
    }
}
