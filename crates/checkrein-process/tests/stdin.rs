//! Stdin of all sizes, for processes that read it, read it late or ignore it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

mod common;

use std::sync::Arc;

use checkrein_process::{Exit, HookCommand, Stdin};
use common::{limits, place, run, shell, text};

const MIB: usize = 1 << 20;

fn large() -> Stdin {
    Stdin::bytes(vec![b'x'; 10 * MIB])
}

#[tokio::test]
async fn process_can_ignore_large_stdin() {
    for command in ["echo done", "exec <&-; echo done", "sleep 0.2; echo done"] {
        let reply = shell(command, large()).await;
        assert_eq!((reply.exit, text(&reply.stdout.bytes)), (Exit::Exited(0), "done\n"), "{command}");
        assert!(!reply.timed_out);
    }
}

#[tokio::test]
async fn process_can_print_before_it_reads_stdin() {
    let reply = shell("head -c 1048576 /dev/zero; wc -c", large()).await;
    assert_eq!(reply.exit, Exit::Exited(0));
    assert_eq!(reply.stdout.total, MIB as u64 + 9);
    let reply = shell("head -c 1048576 /dev/zero >&2; wc -c", large()).await;
    assert_eq!(text(&reply.stdout.bytes).trim(), "10485760");
    assert_eq!(reply.stderr.total, MIB as u64);
}

#[tokio::test]
async fn process_can_read_and_print_at_the_same_time() {
    let place = place("/");
    let limits = limits().output_cap(20 * MIB);
    let bytes: Arc<[u8]> = (0..10 * MIB).map(|index| (index % 251) as u8).collect();
    let program = HookCommand::argv(["cat"]);
    let reply = run(program, &place, &Stdin::bytes(bytes.clone()), &limits).await.unwrap();
    assert!(reply.stdout.bytes == *bytes, "the output differs from the input");
    assert!(!reply.stdout.cut);
}

#[tokio::test]
async fn stdin_of_every_size_is_complete() {
    for size in [1, 1024, 64 * 1024, 100 * 1024, 100 * 1024 + 1, MIB + 1] {
        let reply = shell("wc -c", Stdin::bytes(vec![b'x'; size])).await;
        assert_eq!(text(&reply.stdout.bytes).trim(), size.to_string());
    }
}

#[tokio::test]
async fn chunks_are_written_in_order() {
    for size in [10, MIB] {
        let middle: Arc<str> = "m".repeat(size).into();
        let mut stdin = Stdin::bytes("head,").then(String::new());
        let mut expected = String::from("head,");
        for at in 0..40 {
            stdin = stdin.then(middle.clone()).then(format!(",{at},"));
            expected += &format!("{middle},{at},");
        }
        let limits = limits().output_cap(100 * MIB);
        let reply = run(HookCommand::argv(["cat"]), &place("/"), &stdin, &limits).await.unwrap();
        assert!(reply.stdout.bytes == expected.as_bytes(), "size {size}");
    }
}

#[tokio::test]
async fn empty_stdin_is_the_null_device() {
    for stdin in [Stdin::none(), Stdin::bytes("")] {
        let reply = shell("wc -c; readlink /proc/self/fd/0", stdin).await;
        assert_eq!(text(&reply.stdout.bytes), "0\n/dev/null\n");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn small_stdin_is_a_sealed_file() {
    let reply = shell("readlink /proc/self/fd/0; head -c 2; cat; cat /dev/stdin", Stdin::bytes("abcdef")).await;
    // `cat` continues at the offset of `head`; `/dev/stdin` starts from 0.
    assert_eq!(text(&reply.stdout.bytes), "/memfd:stdin (deleted)\nabcdefabcdef");

    let reply = shell("echo x >> /proc/self/fd/0 || echo sealed; cat", Stdin::bytes("abc")).await;
    assert_eq!(text(&reply.stdout.bytes), "sealed\nabc");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn large_stdin_is_a_pipe() {
    let reply = shell("readlink /proc/self/fd/0; cat >/dev/null", large()).await;
    assert!(text(&reply.stdout.bytes).starts_with("pipe:"));
}

#[tokio::test]
async fn resolved_command_runs_many_times() {
    let place = place("/");
    let prepared = HookCommand::shell("cat").prepare(&place).unwrap();
    for at in 0..20 {
        let reply = prepared.run(&place, &Stdin::bytes(format!("{at}")), &limits()).await.unwrap();
        assert_eq!(text(&reply.stdout.bytes), at.to_string());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn small_stdin_is_a_pipe_without_memfd() {
    common::without_calls(&[libc::SYS_memfd_create], libc::EPERM, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = runtime.block_on(shell("readlink /proc/self/fd/0; cat", Stdin::bytes("in")));
        let printed = text(&reply.stdout.bytes);
        assert!(printed.starts_with("pipe:") && printed.ends_with("\nin"), "{printed}");
    });
}
