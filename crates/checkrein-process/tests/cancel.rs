//! Dropping the future ends everything, at once and for good.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::task::Poll;
use std::time::Duration;

use checkrein_process::{Program, Stdin};
use common::{ENDLESS, Tag, limits, run, until, zombies};

#[tokio::test]
async fn nothing_survives_a_drop() {
    for (way, text) in ENDLESS {
        let dir = tempfile::tempdir().unwrap();
        let tag = Tag::new();
        // Where it says `up`, it also leaves a file, so that the drop comes when all is there.
        let text = tag.text(text).replace("echo up", "echo up; : > up");
        let place = tag.place(dir.path());
        let (stdin, limits) = (Stdin::bytes(vec![0; 1 << 20]), limits());
        let up = dir.path().join("up");
        tokio::select! {
            reply = run(Program::shell(text), &place, &stdin, &limits) => panic!("{way}: {reply:?}"),
            () = until("it is up", || up.exists()) => {}
        }
        until(&format!("{way}: all are gone"), || tag.living().is_empty()).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(tag.living(), [""; 0], "{way}: and stay gone");
    }
    until("the dead are taken note of", || zombies().is_empty()).await;
}

/// The process may not even be its program yet.
#[tokio::test]
async fn nothing_survives_a_drop_at_the_first_moment() {
    let tag = Tag::new();
    let place = tag.place("/");
    let prepared = Program::shell(tag.text("sleep 100; :")).prepare(&place).unwrap();
    let (stdin, limits) = (Stdin::none(), limits());
    for _ in 0..if common::stress() { 2000 } else { 100 } {
        let mut run = Box::pin(prepared.run(&place, &stdin, &limits));
        assert!(std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_pending());
    }
    until("all are gone", || tag.living().is_empty() && zombies().is_empty()).await;
}

#[test]
fn nothing_survives_the_end_of_the_runtime() {
    let tag = Tag::new();
    let dir = tempfile::tempdir().unwrap();
    let place = tag.place(dir.path());
    let up = dir.path().join("up");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.spawn(async move {
        let program = Program::shell("setsid sleep 100 & : > up; sleep 100");
        run(program, &place, &Stdin::none(), &limits()).await.unwrap();
    });
    runtime.block_on(until("it is up", || up.exists()));
    drop(runtime);
    // No runtime is left that could take note of the dead.
    let begun = std::time::Instant::now();
    while !tag.living().is_empty() || !zombies().is_empty() {
        assert!(begun.elapsed() < common::SOON, "{:?} {:?}", tag.living(), zombies());
        std::thread::sleep(Duration::from_millis(2));
    }
}
