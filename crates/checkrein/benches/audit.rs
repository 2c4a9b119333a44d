//! Cost of the audit log: `cargo bench -p checkrein --features audit --bench audit`. The baseline is the same fire without a
//! log, and the result is the additional time.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failed benchmark panics")]

use std::time::Duration;

use checkrein::audit::AuditLog;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use checkrein_bench::Bench;

const ROUNDS: usize = 4000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = Bench::from_args();
    // Redaction and hashing read the whole input, so their cost grows with it.
    for (name, size, budget) in
        [("input of 100 bytes", 100, 50), ("input of 2 KiB", 2 << 10, 50), ("input of 20 KiB", 20 << 10, 400)]
    {
        if !bench.is_selected(name) {
            continue;
        }
        let hook = || HookSpec::builtin("guard", EventKind::PreToolUse, "block_dangerous_commands");
        let log = AuditLog::new(dir.path().join(format!("{size}.jsonl")));
        let (with, without) =
            (Engine::builder().hook(hook()).audit(log.clone()).build(), Engine::builder().hook(hook()).build());
        let event = event(size);
        let fire = |engine: &Engine| drop(runtime.block_on(engine.fire(event.clone())));
        let mut fires = 0;
        let logged = || {
            fires += 1;
            fire(&with);
        };
        bench.case(name).rounds(ROUNDS).budget_on_top(Duration::from_micros(budget)).compare(logged, || fire(&without));
        assert_eq!(log.verify(None).unwrap().lines, fires);
    }
}

fn event(size: usize) -> Event {
    let words = "cargo test --workspace and then some ".repeat(size / 37 + 1);
    let input = RawJson::parse(format!(r#"{{"command":{}}}"#, RawJson::string(&words[..size]))).unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}
