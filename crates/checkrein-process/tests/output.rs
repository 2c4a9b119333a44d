//! Captured output: bytes, caps and closed streams.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use std::time::Duration;

use checkrein_process::{Exit, HookCommand, Stdin};
use common::{limits, place, run, shell};

#[tokio::test]
async fn binary_output_is_unchanged() {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let reply = shell("cat; cat /proc/self/fd/0 >&2", Stdin::bytes(bytes.clone())).await;
    assert!(reply.stdout.bytes == bytes && reply.stderr.bytes == bytes);
    assert!(!reply.stdout.cut && reply.stdout.ended && reply.stderr.ended);
    assert_eq!(reply.stdout.total, 100_000);

    let reply = shell(r"printf '\377\376a\000b\303('", Stdin::none()).await;
    assert_eq!(reply.stdout.bytes, b"\xff\xfea\0b\xc3(");
}

#[tokio::test]
async fn no_output_is_empty() {
    let reply = shell(":", Stdin::none()).await;
    assert!(reply.stdout.bytes.is_empty() && reply.stderr.bytes.is_empty());
    assert!(!reply.stdout.cut && !reply.stderr.cut);
}

#[tokio::test]
async fn stdout_and_stderr_are_separate() {
    let reply = shell("echo out; echo err >&2", Stdin::none()).await;
    assert_eq!((&*reply.stdout.bytes, &*reply.stderr.bytes), (&b"out\n"[..], &b"err\n"[..]));
}

#[tokio::test]
async fn closed_streams_are_no_error() {
    let reply = shell("exec >&- 2>&-; exit 3", Stdin::none()).await;
    assert_eq!(reply.exit, Exit::Exited(3));
}

#[tokio::test]
async fn output_is_cut_exactly_at_the_cap() {
    for (size, cut) in [(999, false), (1000, false), (1001, true), (300_000, true)] {
        let limits = limits().output_cap(1000);
        let text = format!("head -c {size} /dev/zero; head -c {size} /dev/zero >&2");
        let reply = run(HookCommand::shell(text), &place("/"), &Stdin::none(), &limits).await.unwrap();
        for output in [reply.stdout, reply.stderr] {
            assert_eq!(output.bytes.len(), size.min(1000));
            assert_eq!((output.total, output.cut), (size as u64, cut));
        }
        assert_eq!(reply.exit, Exit::Exited(0), "the process is not affected");
    }
}

#[tokio::test]
async fn output_during_the_grace_after_term_is_kept() {
    let limits = checkrein_process::Limits::new(Duration::from_secs(2)).term_grace(common::SOON);
    let text = "trap 'echo bye; exit 7' TERM; echo hello; while :; do sleep 0.01; done";
    let reply = run(HookCommand::shell(text), &place("/"), &Stdin::none(), &limits).await.unwrap();
    assert!(reply.timed_out);
    assert_eq!(reply.exit, Exit::Exited(7));
    assert_eq!(reply.stdout.bytes, b"hello\nbye\n");
}

#[tokio::test]
async fn write_to_a_closed_stdout_raises_sigpipe() {
    let cases = [
        ("echo out; echo not reached >&2", Exit::Signalled(13), ""),
        ("trap '' PIPE; echo out 2>/dev/null || { echo failed >&2; exit 3; }", Exit::Exited(3), "failed\n"),
        ("echo fine >&2; exit 2", Exit::Exited(2), "fine\n"),
    ];
    for (text, exit, stderr) in cases {
        let program = HookCommand::shell(text).prepare(&place("/")).unwrap();
        let reply = program.run(&place("/"), &Stdin::bytes("in"), &limits().close_stdout()).await.unwrap();
        assert_eq!((reply.exit, &*reply.stderr.bytes), (exit, stderr.as_bytes()), "{text}");
        assert!(reply.stdout.bytes.is_empty() && reply.stdout.ended, "{text}");
    }
}
