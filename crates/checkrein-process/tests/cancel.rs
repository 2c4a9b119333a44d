//! Dropping the future of a run kills all its processes.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use std::task::Poll;
use std::time::Duration;

use checkrein_process::{HookCommand, Stdin};
use common::{ENDLESS, Tag, limits, run, until, zombies};

#[tokio::test]
async fn drop_kills_all_processes() {
    for (way, text) in ENDLESS {
        let dir = tempfile::tempdir().unwrap();
        let tag = Tag::new();
        // The command also creates a file, so that the drop comes after all processes have started.
        let text = tag.text(text).replace("echo up", "echo up; : > up");
        let place = tag.place(dir.path());
        let (stdin, limits) = (Stdin::bytes(vec![0; 1 << 20]), limits());
        let up = dir.path().join("up");
        tokio::select! {
            reply = run(HookCommand::shell(text), &place, &stdin, &limits) => panic!("{way}: {reply:?}"),
            () = until("the command has started", || up.exists()) => {}
        }
        until(&format!("{way}: all processes have ended"), || tag.living().is_empty()).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(tag.living(), [""; 0], "{way}: no new process was started");
    }
    until("all processes are reaped", || zombies().is_empty()).await;
}

/// The process may not have executed its program yet.
#[tokio::test]
async fn drop_after_the_first_poll_kills_all_processes() {
    let tag = Tag::new();
    let place = tag.place("/");
    let prepared = HookCommand::shell(tag.text("sleep 100; :")).prepare(&place).unwrap();
    let (stdin, limits) = (Stdin::none(), limits());
    for _ in 0..if common::stress() { 2000 } else { 100 } {
        let mut run = Box::pin(prepared.run(&place, &stdin, &limits));
        assert!(std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_pending());
    }
    until("all processes are reaped", || tag.living().is_empty() && zombies().is_empty()).await;
}

#[test]
fn end_of_the_runtime_kills_all_processes() {
    let tag = Tag::new();
    let dir = tempfile::tempdir().unwrap();
    let place = tag.place(dir.path());
    let up = dir.path().join("up");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.spawn(async move {
        let program = HookCommand::shell("setsid sleep 100 & : > up; sleep 100");
        run(program, &place, &Stdin::none(), &limits()).await.unwrap();
    });
    runtime.block_on(until("the command has started", || up.exists()));
    drop(runtime);
    // The processes are reaped without a runtime.
    let begun = std::time::Instant::now();
    while !tag.living().is_empty() || !zombies().is_empty() {
        assert!(begun.elapsed() < common::SOON, "{:?} {:?}", tag.living(), zombies());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Tasks that drop runs at random times, move them to other tasks, and are dropped with their runtime.
#[test]
fn drops_at_random_times_kill_all_processes() {
    for round in 0..if common::stress() { 100 } else { 6 } {
        let tag = Tag::new();
        let place = tag.place("/");
        let texts = ["echo x", "sleep 100; :", "setsid sleep 100 & :", "no-such-program-here", "sleep 0.006; :"];
        let runs = texts.map(|text| HookCommand::shell(tag.text(text)).prepare(&place).unwrap());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1 + round % 3).enable_all().build().unwrap();
        for task in 0..2 {
            let (runs, place) = (runs.clone(), place.clone());
            runtime.spawn(async move {
                // A fixed sequence of pseudo-random numbers.
                let mut state = (round * 64 + task + 1) as u64;
                let mut below = move |most: u64| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state % most
                };
                loop {
                    let (prepared, place) = (runs[below(5) as usize].clone(), place.clone());
                    let run = async move { prepared.run(&place, &Stdin::none(), &limits()).await };
                    let (mut run, wait) = (Box::pin(run), Duration::from_micros(below(9000)));
                    if std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_ready() {
                        continue;
                    }
                    match below(3) {
                        0 => std::thread::sleep(wait),
                        1 => drop(tokio::time::timeout(wait, run).await),
                        _ => {
                            let elsewhere = tokio::spawn(run);
                            tokio::time::sleep(wait).await;
                            elsewhere.abort();
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        drop(runtime);
        assert!(checkrein_process::reap_dropped(common::SOON));
        assert_eq!(tag.living(), [""; 0]);
    }
}
