//! Leftover processes after a normal exit.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use std::time::{Duration, Instant};

use checkrein_process::{Exit, HookCommand, Leftovers, Stdin};
use common::{LONG, SOON, Tag, limits, run, until};

/// Commands that leave a process running.
const WAYS: &[(&str, &str)] = &[
    ("holds the streams", "sleep 100 & echo done"),
    ("silent", "sleep 100 >/dev/null 2>&1 </dev/null & echo done"),
    ("setsid, holds the streams", "setsid sleep 100 & echo done"),
    ("setsid, silent", "setsid sleep 100 >/dev/null 2>&1 </dev/null & echo done"),
    ("double fork, silent", "(setsid sh -c 'sleep 100 & sleep 100' >/dev/null 2>&1 </dev/null &); echo done"),
    ("ignores TERM", "(trap '' TERM; sleep 100) & echo done"),
    ("removes the marker", "env -i sleep 100 & echo done"),
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
async fn leftovers_keep_running_and_are_reported() {
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
async fn leftover_server_can_continue_to_print() {
    let dir = tempfile::tempdir().unwrap();
    let tag = Tag::new();
    // More output than fits into a pipe, after the end of the run.
    let text = "(while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero && echo ok > done) & echo up";
    let limits = limits().leftovers(Leftovers::Leave).drain_grace(Duration::from_millis(10));
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place(dir.path()), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.stdout.bytes, b"up\n");
    std::fs::write(dir.path().join("go"), "").unwrap();
    until("the server has printed all", || dir.path().join("done").exists()).await;
    until("the server is done", || tag.living().is_empty()).await;
}

#[tokio::test]
async fn output_of_a_child_during_the_drain_grace_is_kept() {
    let tag = Tag::new();
    let limits = limits().drain_grace(SOON);
    let text = "(sleep 0.2; echo late) & echo early";
    let reply = run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
    assert_eq!(reply.stdout.bytes, b"early\nlate\n");
    assert!(reply.stdout.ended && reply.duration < SOON, "the grace period ends early");
}

#[tokio::test]
async fn processes_that_have_exited_are_not_reported() {
    for text in ["sleep 0.01 & wait", "seq 100 | tail -n 1 | cat", "(setsid true)", "true", "/bin/true"] {
        for leftovers in [Leftovers::End, Leftovers::Leave] {
            let tag = Tag::new();
            let limits = limits().leftovers(leftovers);
            let reply =
                run(HookCommand::shell(tag.text(text)), &tag.place("/"), &Stdin::none(), &limits).await.unwrap();
            assert_eq!(reply.leftovers, [], "{text}");
        }
    }
}
