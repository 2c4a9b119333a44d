//! The threads that run processes, in hosts that bring them into trouble: nothing may be left of them, and nobody wait.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use checkrein_process::{Chunk, Program, RunError, Stdin};
use common::hands::{all_go, alone, begun, crowded, has_hands, processors, refuse, run, runtime, with_a_hand};
use common::{SOON, Tag, limits, place, text, until};
use tokio::runtime::Builder;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Bytes of a host's own that can be asked for a few times only.
struct Brittle(AtomicUsize);

impl AsRef<[u8]> for Brittle {
    fn as_ref(&self) -> &[u8] {
        let left = self.0.load(Ordering::Relaxed).checked_sub(1).unwrap();
        self.0.store(left, Ordering::Relaxed);
        b"in"
    }
}

#[test]
fn what_panics_on_the_way_stops_nobody() {
    let _alone = alone();
    let runtime = runtime();
    let (mut panicked, mut failed, mut ran) = (0, 0, 0);
    for times in 1..20 {
        let ended = crowded(&runtime, async move {
            let brittle = Stdin::bytes(Chunk::from_owner(Brittle(AtomicUsize::new(times))));
            tokio::spawn(run(Program::shell("cat"), place("/"), brittle, limits())).await
        });
        match ended {
            // In the run itself.
            Err(_) => panicked += 1,
            Ok(Err(RunError::Io { source, .. })) if source.to_string().contains("panicked") => failed += 1,
            Ok(ended) => {
                assert_eq!(text(&ended.unwrap().stdout.bytes), "in");
                ran += 1;
            }
        }
    }
    assert!(panicked > 0 && ran > 0 && failed >= usize::from(has_hands()), "{panicked} {failed} {ran}");
    drop(runtime);
    all_go();
}

/// Bytes that a thread of ours has to wait for, and that panic there when they are dropped.
struct Withheld {
    asked: Arc<AtomicBool>,
    given: Arc<AtomicBool>,
}

fn is_hand() -> bool {
    std::thread::current().name() == Some("checkrein-hand")
}

impl AsRef<[u8]> for Withheld {
    fn as_ref(&self) -> &[u8] {
        while is_hand() && !self.given.load(Ordering::Acquire) {
            self.asked.store(true, Ordering::Release);
            std::thread::yield_now();
        }
        b"in"
    }
}

impl Drop for Withheld {
    fn drop(&mut self) {
        assert!(!is_hand(), "dropped where it should not be");
    }
}

#[test]
fn what_panics_when_nobody_wants_it_leaves_nothing() {
    let _alone = alone();
    if !has_hands() {
        return;
    }
    let (runtime, tag) = (runtime(), Tag::new());
    let (program, place) = (Program::shell(tag.text("sleep 100; :")), tag.place("/"));
    crowded(&runtime, async move {
        let [asked, given] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let withheld = Withheld { asked: Arc::clone(&asked), given: Arc::clone(&given) };
        let (stdin, limits) = (Stdin::bytes(Chunk::from_owner(withheld)), limits());
        let prepared = program.prepare(&place).unwrap();
        let run = begun(prepared.run(&place, &stdin, &limits)).await;
        until("it is being started", || asked.load(Ordering::Acquire)).await;
        drop(run);
        drop(stdin);
        given.store(true, Ordering::Release);
        assert!(checkrein_process::wait_for_dropped(SOON));
    });
    let living = tag.living();
    tag.kill();
    assert_eq!(living, [""; 0]);
    drop(runtime);
    all_go();
}

/// A run panics there, as its documentation says.
#[test]
fn a_runtime_without_io_leaves_no_thread() {
    let _alone = alone();
    let good = runtime();
    let panicked = crowded(&good, async {
        let bad = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let mut panicked = 0;
        for _ in 0..4 * processors() {
            let ran = bad.spawn(run(Program::argv(["true"]), place("/"), Stdin::none(), limits())).await;
            panicked += usize::from(ran.is_err());
        }
        bad.shutdown_background();
        panicked
    });
    assert_eq!(panicked, 4 * processors());
    drop(good);
    all_go();
}

#[test]
fn a_runtime_inside_of_another_leaves_nothing() {
    let _alone = alone();
    let runtime = runtime();
    crowded(&runtime, async {
        let before = descriptors();
        let nested = tokio::spawn(async {
            for _ in 0..4 {
                tokio::task::block_in_place(|| {
                    let inner = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
                    inner.block_on(run(Program::argv(["true"]), place("/"), Stdin::none(), limits())).unwrap();
                });
            }
        });
        nested.await.unwrap();
        until("descriptors are closed", || descriptors() <= before).await;
    });
    drop(runtime);
    all_go();
}

#[test]
fn runtimes_that_end_in_any_way_leave_nothing() {
    let _alone = alone();
    let mut counts = Vec::new();
    for way in 0..9 {
        let runtime = runtime();
        crowded(&runtime, run(Program::argv(["true"]), place("/"), Stdin::none(), limits())).unwrap();
        match way % 3 {
            0 => runtime.shutdown_background(),
            1 => runtime.shutdown_timeout(Duration::from_millis(1)),
            _ => drop(runtime),
        }
        all_go();
        counts.push(descriptors());
    }
    let waits = Builder::new_current_thread().enable_time().build().unwrap();
    // Its threads may be gone a moment before what they held.
    waits.block_on(until("descriptors are closed", || descriptors() <= counts[0]));
}

#[test]
fn where_there_is_no_memory_for_stdin_a_process_is_fed() {
    let _alone = alone();
    let refuses = || refuse(libc::SYS_memfd_create, 0);
    let runtime = with_a_hand(Builder::new_multi_thread().on_thread_start(refuses));
    for _ in 0..5 {
        let cat = run(Program::argv(["cat"]), place("/"), Stdin::bytes("in"), limits());
        assert_eq!(text(&crowded(&runtime, cat).unwrap().stdout.bytes), "in");
    }
    drop(runtime);
    all_go();
}
