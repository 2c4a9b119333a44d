//! Large output: the process is not blocked, memory use stays constant, and the output is marked as cut.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use checkrein_process::{Exit, HookCommand, Stdin};
use common::{limits, place, run, stress};

const MIB: u64 = 1 << 20;
const CAP: usize = 1 << 20;

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In its own process, so that the memory of other tests is not counted.
#[test]
fn memory_use_is_constant() {
    if std::env::var_os("CHECKREIN_FLOOD").is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "memory_use_is_constant", "--nocapture"])
            .env("CHECKREIN_FLOOD", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let size = if stress() { 1024 * MIB } else { 64 * MIB };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let limits = limits().output_cap(CAP);
        let place = place("/");
        let warm_up = run(HookCommand::shell("echo"), &place, &Stdin::none(), &limits).await.unwrap();
        assert!(warm_up.exit.success());
        let before = peak_kib();

        let text = format!("head -c {size} /dev/zero & head -c {size} /dev/zero >&2; wait");
        let reply = run(HookCommand::shell(text), &place, &Stdin::none(), &limits).await.unwrap();
        let grown = peak_kib() - before;
        assert_eq!((reply.exit, reply.timed_out), (Exit::Exited(0), false));
        for output in [&reply.stdout, &reply.stderr] {
            assert!(output.cut && output.ended);
            assert_eq!((output.bytes.len(), output.total), (CAP, size));
        }
        // Both caps, and 2 MiB.
        assert!(grown <= 2 * CAP as u64 / 1024 + 2048, "{grown} KiB more");
        eprintln!("{size} bytes on each stream in {:?}, {grown} KiB more at the peak", reply.duration);
    });
}
