//! The cost of a fire with processes. A floor is the same work by the standard library alone: start the process in a group of
//! its own with three pipes, write, read, wait. `cargo bench -p checkrein --bench engine -- 10` measures only what has `10` in its
//! name.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark reports to people")]
#![cfg_attr(not(unix), allow(dead_code, unused_imports, reason = "the floors are Unix's"))]

use std::io::Write;
use std::process::{Command, Stdio};

use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use checkrein_bench::Bench;
use tokio::runtime::Runtime;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const TRUE: &str = "true";
/// The budget for one command hook.
const ONE_HOOK: f64 = 1.10;
/// The budget for several at a time, against two threads that start processes.
const IN_PARALLEL: f64 = 1.15;
/// Two tasks share one runtime with the code that reaps their processes; the floor is two threads that block.
const FROM_TWO_TASKS: f64 = 1.30;
const ANSWERS: &str = "cat >/dev/null; echo {}";

fn main() {
    #[cfg(unix)]
    measure();
}

#[cfg(unix)]
fn measure() {
    // A single fire waits where it runs; many at once are spread over two threads.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let spread = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let bench = Bench::from_args();
    let case = |name: &str, budget: f64, rounds: usize| bench.case(name).budget(budget).rounds(rounds);

    let small = event(300);
    let payload = bytes(&small);
    for (name, text) in [("1 hook, `true`", TRUE), ("1 hook that reads and answers", ANSWERS)] {
        let engine = engine(text, 1);
        case(name, ONE_HOOK, 150).compare(|| fire(&runtime, &engine, &small), || bare(text, &payload));
    }
    let engine_direct = engine("/bin/true", 1);
    case("1 hook, `/bin/true`, against sh -c", 0.86, 150)
        .compare(|| fire(&runtime, &engine_direct, &small), || bare("/bin/true", &payload));
    let ten = engine(TRUE, 10);
    case("10 hooks side by side, `true`", IN_PARALLEL, 60)
        .compare(|| fire(&spread, &ten, &small), || on_threads(2, 5, TRUE, &payload));
    for (name, size, budget, rounds) in [
        ("1 KiB payload, read", 1 << 10, ONE_HOOK, 150),
        ("100 KiB payload, read", 100 << 10, ONE_HOOK, 150),
        ("10 MiB payload, read", 10 << 20, 12.0 / 9.4, 40),
    ] {
        let (engine, event) = (engine(ANSWERS, 1), event(size));
        let payload = bytes(&event);
        case(name, budget, rounds).compare(|| fire(&runtime, &engine, &event), || bare(ANSWERS, &payload));
    }
    let (unread, large) = (engine(TRUE, 1), event(10 << 20));
    case("10 MiB payload, unread", 1.5 / 0.74, 60).compare(|| fire(&runtime, &unread, &large), || bare(TRUE, b""));

    let one = engine(TRUE, 1);
    // Bursts, with how they begin and end, and for a while.
    for (name, tasks, each, budget, rounds) in [
        ("fires from 2 tasks, 32 in all", 2, 16, FROM_TWO_TASKS, 150),
        ("fires from 2 tasks, 512 in all", 2, 256, FROM_TWO_TASKS, 15),
        ("fires from 64 tasks, 64 in all", 64, 1, IN_PARALLEL, 150),
        ("fires from 64 tasks, 512 in all", 64, 8, IN_PARALLEL, 15),
    ] {
        case(name, budget, rounds)
            .compare(|| many(&spread, &one, &small, tasks, each), || on_threads(2, tasks * each / 2, TRUE, &payload));
    }

    case("fires from 2 threads, 32 in all", IN_PARALLEL, 75)
        .compare(|| threads(&one, &small, 2, 16), || on_threads(2, 16, TRUE, &payload));

    // A host that holds a lot of memory: a fork would have to copy its page tables.
    let ballast = vec![1_u8; 1 << 30];
    case("1 hook, `true`, from a host with 1 GiB", ONE_HOOK, 100)
        .compare(|| fire(&runtime, &one, &small), || bare(TRUE, &payload));
    std::hint::black_box(&ballast);
}

fn engine(text: &str, hooks: usize) -> Engine {
    let hook = |n: usize| HookSpec::shell(n.to_string(), EventKind::PreToolUse, text);
    // The same environment as the floor has: a shell looks for programs in every directory of it.
    Engine::builder().vars([("PATH", PATH)]).cwd("/").hooks((0..hooks).map(hook)).build()
}

fn event(size: usize) -> Event {
    let input = format!(r#"{{"command":"{}"}}"#, "x".repeat(size));
    Event::pre_tool_use(ToolCall::new("Bash", input.parse::<RawJson>().unwrap()))
}

fn bytes(event: &Event) -> Vec<u8> {
    event.to_json().into_bytes()
}

fn fire(runtime: &Runtime, engine: &Engine, event: &Event) {
    let verdict = runtime.block_on(engine.fire(event.clone()));
    assert_eq!(verdict.failures().count(), 0, "{verdict:?}");
}

fn many(runtime: &Runtime, engine: &Engine, event: &Event, tasks: usize, each: usize) {
    runtime.block_on(async {
        let fires: Vec<_> = (0..tasks)
            .map(|_| {
                let (engine, event) = (engine.clone(), event.clone());
                tokio::spawn(async move {
                    for _ in 0..each {
                        engine.fire(event.clone()).await;
                    }
                })
            })
            .collect();
        for fire in fires {
            fire.await.unwrap();
        }
    });
}

/// Without a runtime around.
fn threads(engine: &Engine, event: &Event, threads: usize, each: usize) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..each {
                    engine.fire_blocking(event.clone());
                }
            });
        }
    });
}

/// The floor: the standard library and nothing else.
#[cfg(unix)]
fn bare(text: &str, payload: &[u8]) {
    use std::os::unix::process::CommandExt;
    let mut child = Command::new("/bin/sh")
        .args(["-c", text])
        .env_clear()
        .env("PATH", PATH)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A process that has gone without reading is no error.
    let _ = child.stdin.take().unwrap().write_all(payload);
    assert!(child.wait_with_output().unwrap().status.success());
}

#[cfg(unix)]
fn on_threads(threads: usize, each: usize, text: &str, payload: &[u8]) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..each).for_each(|_| bare(text, payload)));
        }
    });
}
