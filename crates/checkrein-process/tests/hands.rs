//! Where there are as many runs as processors, a thread of its own starts each process and waits for it. Nobody should notice.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use checkrein_process::{Exit, Limits, Place, Program, Reply, RunError, Stdin};
use common::{ENDLESS, SOON, Tag, limits, place, text, until, zombies};
use tokio::runtime::{Builder, Runtime};

/// One test at a time: others would change how many runs there are.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    all_go();
    alone
}

/// Waits until there is no such thread any more.
fn all_go() {
    let waits = Builder::new_current_thread().enable_time().build().unwrap();
    waits.block_on(until("no thread is left", || hands() == 0));
}

fn processors() -> usize {
    rustix::thread::sched_getaffinity(None).unwrap().count() as usize
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// How many such threads there are.
fn hands() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path().join("comm"));
    names.filter(|name| std::fs::read_to_string(name).is_ok_and(|name| name.trim() == "checkrein-hand")).count()
}

/// Does something in a task while all processors but one have a process.
fn crowded<T: Send + 'static>(runtime: &Runtime, work: impl Future<Output = T> + Send + 'static) -> T {
    let tag = Tag::new();
    let (place, stdin, limits) = (tag.place("/"), Stdin::none(), limits());
    let sleeps = Program::shell(tag.text("sleep 100; :")).prepare(&place).unwrap();
    runtime.block_on(async {
        // These are no tasks, so they are started as ever.
        let mut others = Vec::new();
        for _ in 1..processors() {
            let mut other = Box::pin(sleeps.run(&place, &stdin, &limits));
            assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
            others.push(other);
        }
        tokio::spawn(work).await.unwrap()
    })
}

async fn run(program: Program, place: Place, stdin: Stdin, limits: Limits) -> Result<Reply, RunError> {
    program.prepare(&place)?.run(&place, &stdin, &limits).await
}

#[test]
fn replies_are_the_same() {
    let _alone = alone();
    let runtime = runtime();
    let reply = |text: &'static str, stdin: Stdin| {
        crowded(&runtime, async move { run(Program::shell(text), place("/"), stdin, limits()).await }).unwrap()
    };
    let first = reply("cat; echo err >&2; exit 3", Stdin::bytes("in"));
    assert_eq!(hands(), usize::from(processors() > 1), "one thread has done it");
    assert_eq!((first.exit, text(&first.stdout.bytes), text(&first.stderr.bytes)), (Exit::Exited(3), "in", "err\n"));
    assert_eq!(reply("kill -KILL $$", Stdin::none()).exit, Exit::Signalled(9));
    assert_eq!(reply("no-such-program-here", Stdin::none()).exit, Exit::Exited(127));
    // More than fits into a pipe; and one that runs for longer than its streams go unread.
    let large = reply("head -c 1000000 /dev/zero; sleep 0.02; echo end", Stdin::none());
    assert_eq!(large.stdout.total, 1_000_004);
    // Fed while it runs, so not by such a thread.
    assert_eq!(reply("cat", Stdin::bytes(vec![b'x'; 1 << 20])).stdout.total, 1 << 20);
    let left = reply("sleep 100 & echo started", Stdin::none());
    assert_eq!((left.exit, left.leftovers.len()), (Exit::Exited(0), 1));
    assert!(left.leftovers.iter().all(|left| left.ended));
    assert!(hands() <= 4 * processors(), "and a few have done the others");
}

#[test]
fn failed_starts_are_told() {
    let _alone = alone();
    let runtime = runtime();
    let failed = crowded(&runtime, async {
        let gone = tempfile::tempdir().unwrap();
        let place = place(gone.path());
        let prepared = Program::argv(["true"]).prepare(&place).unwrap();
        drop(gone);
        prepared.run(&place, &Stdin::none(), &limits()).await
    });
    assert!(matches!(failed, Err(RunError::Cwd { .. })), "{failed:?}");
    let long = "x".repeat(200_000);
    let failed = crowded(&runtime, async {
        run(Program::argv(["true".into(), long]), place("/"), Stdin::none(), limits()).await
    });
    assert!(matches!(failed, Err(RunError::ArgumentsTooLong { .. })), "{failed:?}");
}

#[test]
fn deadlines_hold() {
    let _alone = alone();
    let runtime = runtime();
    for (way, text) in ENDLESS {
        let tag = Tag::new();
        let (text, place) = (tag.text(text), tag.place("/"));
        let limits = Limits::new(Duration::from_millis(60)).term(Duration::from_millis(20));
        let reply =
            crowded(&runtime, async move { run(Program::shell(text), place, Stdin::none(), limits).await }).unwrap();
        assert!(reply.timed_out, "{way}");
        assert_eq!(tag.living(), [""; 0], "{way}");
    }
    assert!(hands() <= 4 * processors());
}

#[test]
fn nothing_survives_a_drop() {
    let _alone = alone();
    let runtime = runtime();
    let tag = Tag::new();
    let (place, rounds) = (tag.place("/"), if common::stress() { 3000 } else { 150 });
    let prepared = std::sync::Arc::new(Program::shell(tag.text("sleep 100; :")).prepare(&place).unwrap());
    crowded(&runtime, async move {
        let (stdin, limits) = (Stdin::none(), limits());
        for round in 0..rounds {
            let mut run = Box::pin(prepared.run(&place, &stdin, &limits));
            assert!(poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_pending());
            // Before it is begun, while it is, or after.
            for _ in 0..(round % 50) * 200 {
                std::hint::spin_loop();
            }
            if round % 7 == 0 {
                tokio::time::sleep(Duration::from_millis(round % 11)).await;
            }
            drop(run);
        }
        assert!(checkrein_process::wait_for_dropped(SOON));
    });
    assert_eq!(tag.living(), [""; 0]);
    runtime.block_on(until("the dead are taken note of", || zombies().is_empty()));
    drop(runtime);
    all_go();
}

#[test]
fn two_tasks_leave_nothing_behind() {
    let _alone = alone();
    let runtime = runtime();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let rounds = if common::stress() { 10_000 } else { 200 };
    let round = |count: usize| {
        runtime.block_on(async move {
            let tasks = (0..processors()).map(|_| {
                tokio::spawn(async move {
                    for _ in 0..count {
                        let reply = run(Program::shell("echo x"), place("/"), Stdin::none(), limits()).await.unwrap();
                        assert_eq!(text(&reply.stdout.bytes), "x\n");
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
    };
    round(50);
    let before = (hands(), descriptors());
    round(rounds);
    let most = 4 * processors();
    assert!(hands() <= most && descriptors() <= before.1 + 4 * (most - before.0), "{before:?}");
    assert_eq!(zombies(), [""; 0]);
    drop(runtime);
    // They go with the runtime.
    all_go();
}

/// A runtime whose threads have given up something must not get it back by a thread that another has made.
#[test]
fn processes_inherit_from_the_thread_that_starts_them() {
    let _alone = alone();
    let restricted = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_thread_start(|| rustix::thread::set_no_new_privs(true).unwrap())
        .build()
        .unwrap();
    let free = runtime();
    for (runtime, expected) in [(&free, "0"), (&restricted, "1"), (&free, "0"), (&restricted, "1")] {
        let status = Program::shell("exec grep NoNewPrivs /proc/self/status");
        let reply = crowded(runtime, async { run(status, place("/"), Stdin::none(), limits()).await }).unwrap();
        assert_eq!(text(&reply.stdout.bytes).split_whitespace().last(), Some(expected));
    }
}
