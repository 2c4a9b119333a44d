//! Isolation between the host and its processes: descriptors, signals, environment, memory and zombies.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd as _, OwnedFd};

use checkrein_process::{ExecContext, HookCommand, MARKER, Stdin};
#[cfg(target_os = "linux")]
use checkrein_process::{Limits, RunError, Sandbox};
use common::{limits, path, place, run, shell, text, until, zombies};

/// Descriptors of this process without the close-on-exec flag. Children inherit them.
fn inheritable() -> BTreeSet<String> {
    let numbers = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten().map(|entry| entry.file_name());
    let numbers = numbers.filter_map(|number| number.into_string().ok());
    let open_on_exec = |number: &String| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0)
    };
    numbers.filter(open_on_exec).collect()
}

#[tokio::test]
async fn descriptors_of_the_host_are_not_inherited() {
    let file = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    let inheritable = inheritable();
    assert!(!inheritable.contains(&file.as_raw_fd().to_string()));
    // Parallel runs, whose pipes must not be inherited either.
    let others: Vec<_> = (0..10).map(|_| tokio::spawn(shell("sleep 0.3", Stdin::bytes(vec![0; 1 << 20])))).collect();
    for stdin in [Stdin::none(), Stdin::bytes("x"), Stdin::bytes(vec![0; 1 << 20])] {
        let reply = run(HookCommand::argv(["ls", "/proc/self/fd"]), &place("/"), &stdin, &limits()).await.unwrap();
        let found = text(&reply.stdout.bytes).lines().filter(|number| !inheritable.contains(*number));
        // Besides the three streams, only the listed directory is open.
        let found: Vec<&str> = found.filter(|number| !["0", "1", "2"].contains(number)).collect();
        assert!(found.len() <= 1, "{found:?}");
    }
    for other in others {
        other.await.unwrap();
    }
}

/// Without the call, every child inherits these descriptors.
#[cfg(target_os = "linux")]
#[test]
fn close_descriptors_on_exec_applies_to_all_descriptors() {
    if !common::is_own_process("CHECKREIN_CLOSES_ON_EXEC") {
        return;
    }
    let file = std::fs::File::open("/dev/null").unwrap();
    let open = rustix::io::fcntl_dupfd_cloexec(&file, 50).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    assert!(inheritable().contains(&open.as_raw_fd().to_string()));
    checkrein_process::close_descriptors_on_exec();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for stdin in [Stdin::none(), Stdin::bytes("x"), Stdin::bytes(vec![0; 1 << 20])] {
        let (place, limits) = (place("/"), limits());
        let reply = runtime.block_on(run(HookCommand::argv(["ls", "/proc/self/fd"]), &place, &stdin, &limits)).unwrap();
        // The last is the listed directory.
        assert_eq!(text(&reply.stdout.bytes), "0\n1\n2\n3\n");
    }
}

/// The program survives the limit, and processes get the default action of the signal.
#[cfg(target_os = "linux")]
#[test]
fn file_size_limit_is_an_error_for_the_host_only() {
    if !common::is_own_process("CHECKREIN_FILE_SIZE") {
        return;
    }
    checkrein_process::survive_file_size_limit();
    let mut file = tempfile::tempfile().unwrap();
    rustix::process::setrlimit(
        rustix::process::Resource::Fsize,
        rustix::process::Rlimit { current: Some(0), maximum: None },
    )
    .unwrap();
    let error = std::io::Write::write_all(&mut file, b"x").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for place in [place("/"), place("/").sandbox(Sandbox::new())] {
        let command = HookCommand::argv(["grep", "Sig[CI]g", "/proc/self/status"]);
        let reply = runtime.block_on(run(command, &place, &Stdin::bytes("x"), &limits())).unwrap();
        let masks = text(&reply.stdout.bytes);
        assert_eq!(masks.lines().count(), 2, "{masks}");
        for line in masks.lines() {
            let mask = u64::from_str_radix(line.split_once(':').unwrap().1.trim(), 16).unwrap();
            assert_eq!(mask & (1 << 24), 0, "{masks}");
        }
    }
}

/// A child of `vfork` shares the memory of the host, so a handler in the child would change the state of the host.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a signal handler")]
#[test]
fn signal_handlers_of_the_host_do_not_run_in_a_child() {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    static HOST: AtomicU32 = AtomicU32::new(0);
    static RAN: AtomicBool = AtomicBool::new(false);
    static RAN_IN_CHILD: AtomicBool = AtomicBool::new(false);
    extern "C" fn handler(_: i32) {
        let is_host = std::process::id() == HOST.load(Ordering::Relaxed);
        if is_host { &RAN } else { &RAN_IN_CHILD }.store(true, Ordering::Relaxed);
    }
    if !common::is_own_process("CHECKREIN_HANDLES_SIGNALS") {
        return;
    }
    HOST.store(std::process::id(), Ordering::Relaxed);
    // A signal that a process without a handler ignores.
    // SAFETY: the handler only loads and stores atomics.
    unsafe { libc::signal(libc::SIGURG, handler as *const () as usize) };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                rustix::process::kill_current_process_group(rustix::process::Signal::URG).unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for place in [place("/"), place("/").sandbox(Sandbox::new())] {
            let prepared = HookCommand::argv(["true"]).prepare(&place).unwrap();
            for _ in 0..100 {
                let (stdin, limits) = (Stdin::none(), limits());
                let reply = runtime.block_on(prepared.run(&place, &stdin, &limits)).unwrap();
                assert!(reply.exit.success(), "{reply:?}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!((RAN.load(Ordering::Relaxed), RAN_IN_CHILD.load(Ordering::Relaxed)), (true, false));
}

/// A host that ignores `SIGCHLD` loses the exit status of its children.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "no handler is installed")]
#[test]
fn lost_exit_status_is_an_error() {
    if !common::is_own_process("CHECKREIN_LOSES_CHILDREN") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script");
    common::script(&script, "#!/nowhere/at/all\n");
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for place in [place("/"), place("/").sandbox(Sandbox::new())] {
        for timeout in [common::SOON, std::time::Duration::ZERO] {
            let (stdin, limits) = (Stdin::none(), Limits::new(timeout));
            let ended = |program: HookCommand| runtime.block_on(run(program, &place, &stdin, &limits));
            let failed = ended(HookCommand::argv([script.as_os_str()]));
            assert!(matches!(failed, Err(RunError::BadInterpreter { .. })), "{failed:?}");
            let lost = ended(HookCommand::argv(["true"]));
            assert!(matches!(lost, Err(RunError::Lost { .. })), "{lost:?}");
        }
    }
}

#[tokio::test]
async fn process_leads_its_own_group() {
    let reply = shell("cut -d' ' -f1,5 /proc/$$/stat", Stdin::none()).await;
    let mut numbers = text(&reply.stdout.bytes).split_whitespace();
    assert_eq!(numbers.next().unwrap(), numbers.next().unwrap());
}

#[tokio::test]
async fn environment_has_only_the_given_variables() {
    let place = ExecContext::new("/").env([("PATH", path()), ("A", "1".into()), ("A", "2".into())]);
    let reply = run(HookCommand::argv(["env"]), &place, &Stdin::none(), &limits()).await.unwrap();
    let lines: Vec<&str> = text(&reply.stdout.bytes).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines.contains(&"A=2"));
    let mark = lines.iter().find_map(|line| line.strip_prefix(&format!("{MARKER}="))).unwrap();
    assert!(mark.len() >= 32);
}

#[tokio::test]
async fn sigpipe_has_its_default_action() {
    // The host ignores SIGPIPE, as Rust programs do. If its children did too, `yes` would print an error.
    let reply = shell("{ yes; echo $? >&2; } | head -n 1 >/dev/null", Stdin::none()).await;
    assert_eq!(text(&reply.stderr.bytes), "141\n");
    let reply = shell("grep -E '^Sig(Blk|Ign)' /proc/self/status", Stdin::none()).await;
    let none = "0000000000000000";
    for line in text(&reply.stdout.bytes).lines() {
        let value = line.split_whitespace().last().unwrap();
        let mask = u64::from_str_radix(value, 16).unwrap();
        assert_eq!(mask & (1 << 12), 0, "SIGPIPE in {line}, not {none}");
    }
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In its own process, so that other tests do not affect the counts.
#[test]
fn many_runs_leak_no_descriptors_memory_or_zombies() {
    if !common::is_own_process("CHECKREIN_MANY") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let place = place("/");
        let texts = ["exit 0", "/bin/true", "cat", "sleep 100 & exit 1", "kill -KILL $$", "no-such-program-here"];
        let prepared = texts.map(|text| HookCommand::shell(text).prepare(&place).unwrap());
        let limits = limits().drain_grace(std::time::Duration::ZERO);
        let round = async |count: usize| {
            for index in 0..count {
                let stdin = Stdin::bytes(vec![b'x'; if index % 7 == 0 { 200_000 } else { 100 }]);
                let reply = prepared[index % texts.len()].run(&place, &stdin, &limits).await.unwrap();
                assert!(!reply.timed_out);
                if index % 10 == 0 {
                    // Cancelled after the start.
                    let run = prepared[3].run(&place, &stdin, &limits);
                    let _ = tokio::time::timeout(std::time::Duration::ZERO, run).await;
                }
            }
            until("the reaper is idle", || zombies().is_empty()).await;
        };
        round(60).await;
        let (descriptors, memory) = (open_descriptors(), resident_kib());
        round(if common::stress() { 10_000 } else { 300 }).await;
        assert_eq!(zombies(), [""; 0]);
        assert_eq!(open_descriptors(), descriptors);
        let grown = resident_kib().saturating_sub(memory);
        assert!(grown < 2048, "{grown} KiB more");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_parallel_runs_succeed() {
    let place = place("/");
    let prepared =
        HookCommand::shell("head -c 100000 /dev/zero; wc -c; head -c 100000 /dev/zero >&2").prepare(&place).unwrap();
    let runs: Vec<_> = (0..200)
        .map(|at| {
            let (prepared, place) = (prepared.clone(), place.clone());
            tokio::spawn(async move {
                let size = if at % 2 == 0 { 1000 } else { 300_000 };
                let reply = prepared.run(&place, &Stdin::bytes(vec![b'x'; size]), &limits()).await.unwrap();
                assert!(reply.exit.success() && !reply.timed_out);
                assert!(reply.stdout.bytes.ends_with(format!("{size}\n").as_bytes()));
                assert_eq!(reply.stderr.total, 100_000);
                assert_eq!(reply.leftovers, []);
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}
