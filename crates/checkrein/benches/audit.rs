//! What the audit log adds to a fire. `cargo bench -p checkrein --features audit --bench audit`
//!
//! The same fire is measured in turns with and without a log, so that whatever else the machine does befalls both alike. The
//! difference of the medians is what counts.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark reports to people")]

use std::time::{Duration, Instant};

use checkrein::audit::AuditLog;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};

const ROUNDS: usize = 4000;
const BUDGET: Duration = Duration::from_micros(50);

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{:<34} {:>10} {:>10} {:>10} {:>8}", "case", "with", "without", "adds", "budget");
    for (name, size) in [("input of 100 bytes", 100), ("input of 2 KiB", 2 << 10), ("input of 20 KiB", 20 << 10)] {
        let hook = || HookSpec::builtin("guard", EventKind::PreToolUse, "block_dangerous_commands");
        let log = AuditLog::at(dir.path().join(format!("{size}.jsonl")));
        let (with, without) =
            (Engine::builder().hook(hook()).audit(log.clone()).build(), Engine::builder().hook(hook()).build());
        let event = event(size);
        let fire = |engine: &Engine| {
            let begun = Instant::now();
            runtime.block_on(engine.fire(event.clone()));
            begun.elapsed()
        };
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            one.push(fire(&with));
            other.push(fire(&without));
        }
        assert_eq!(log.verify(None).unwrap().lines, ROUNDS as u64);
        let (with, without) = (median(one), median(other));
        let adds = with.saturating_sub(without);
        let over = if adds > BUDGET { "  over budget" } else { "" };
        println!("{name:<34} {with:>10.1?} {without:>10.1?} {adds:>10.1?} {BUDGET:>8.0?}{over}");
    }
}

fn event(size: usize) -> Event {
    let words = "cargo test --workspace and then some ".repeat(size / 37 + 1);
    let input = RawJson::parse(format!(r#"{{"command":{}}}"#, RawJson::string(&words[..size]))).unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
