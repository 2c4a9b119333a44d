//! Cost of a fire with processes. The baseline does the same work with the standard library alone: start the process in a new
//! group with three pipes, write, read, wait. `cargo bench -p checkrein --bench engine -- 10` measures only cases with `10` in
//! their names.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failed benchmark panics")]
#![cfg_attr(not(unix), allow(dead_code, unused_imports, reason = "the baselines need Unix"))]

use std::io::Write;
use std::process::{Command, Stdio};

use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use checkrein_bench::Bench;
use tokio::runtime::Runtime;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const TRUE: &str = "true";
/// Budget for one command hook.
const ONE_HOOK: f64 = 1.10;
/// Budget for several hooks at a time, against two threads that start processes.
const IN_PARALLEL: f64 = 1.15;
/// Budget for two tasks. They share one runtime with the code that reaps their processes; the baseline is two threads that block.
const FROM_TWO_TASKS: f64 = 1.30;
const ANSWERS: &str = "cat >/dev/null; echo {}";

fn main() {
    #[cfg(unix)]
    measure();
}

#[cfg(unix)]
fn measure() {
    // A single fire runs on one thread, parallel fires on two.
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
    // Short bursts, including start and end, and longer ones.
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

    // A host with much memory: a fork would have to copy its page tables.
    let ballast = vec![1_u8; 1 << 30];
    case("1 hook, `true`, from a host with 1 GiB", ONE_HOOK, 100)
        .compare(|| fire(&runtime, &one, &small), || bare(TRUE, &payload));
    std::hint::black_box(&ballast);
}

fn engine(text: &str, hooks: usize) -> Engine {
    let hook = |n: usize| HookSpec::shell(n.to_string(), EventKind::PreToolUse, text);
    // The environment of the baseline: a shell searches programs in every directory of `PATH`.
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

/// Fires from threads without a runtime.
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

/// Baseline: the standard library only.
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
    // A process that exits without reading is no error.
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
