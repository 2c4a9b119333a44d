//! Where there are as many runs as processors, a thread of its own starts each process and waits for it. Nobody should notice.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use checkrein_process::{Exit, Limits, Program, RunError, Stdin};
use common::hands::{all_go, alone, begun, crowded, hands, processors, refuse, run, runtime, with_a_hand};
use common::{ENDLESS, SOON, Tag, limits, place, text, until, zombies};
use tokio::runtime::Builder;

#[test]
fn replies_are_the_same() {
    let _alone = alone();
    let runtime = runtime();
    let limited = |text: &str, stdin: Stdin, limits: Limits| {
        let program = Program::shell(text);
        crowded(&runtime, async move { run(program, place("/"), stdin, limits).await }).unwrap()
    };
    let reply = |text: &str, stdin: Stdin| limited(text, stdin, limits());
    let first = reply("cat; echo err >&2; exit 3", Stdin::bytes("in"));
    assert_eq!((first.exit, text(&first.stdout.bytes), text(&first.stderr.bytes)), (Exit::Exited(3), "in", "err\n"));
    assert_eq!(reply("kill -KILL $$", Stdin::none()).exit, Exit::Signalled(9));
    assert_eq!(reply("no-such-program-here", Stdin::none()).exit, Exit::Exited(127));
    // More than fits into a pipe; and one that runs for longer than its streams go unread.
    let large = reply("head -c 1000000 /dev/zero; sleep 0.02; echo end", Stdin::none());
    assert_eq!(large.stdout.total, 1_000_004);
    // Fed while it runs, so not by such a thread.
    assert_eq!(reply("cat", Stdin::bytes(vec![b'x'; 1 << 20])).stdout.total, 1 << 20);
    // As much as fits into a pipe, on both streams, of one that is gone before anybody reads.
    let fills = "head -c 65536 /dev/zero; head -c 65536 /dev/zero >&2; exit 4";
    let both = reply(fills, Stdin::none());
    assert_eq!((both.exit, both.stdout.bytes.len(), both.stderr.bytes.len()), (Exit::Exited(4), 65536, 65536));
    assert!(both.stdout.ended && both.stderr.ended && !both.stdout.cut);
    let cut = limited(fills, Stdin::none(), limits().output_cap(1000)).stdout;
    assert_eq!((cut.bytes.len(), cut.total, cut.cut), (1000, 65536, true));
    // Somebody is left, who holds both streams, or one, or none.
    for held in ["", ">/dev/null", ">/dev/null 2>&1"] {
        let left = reply(&format!("sleep 100 {held} & echo started"), Stdin::none());
        assert_eq!((left.exit, text(&left.stdout.bytes), left.leftovers.len()), (Exit::Exited(0), "started\n", 1));
        assert!(left.leftovers.iter().all(|left| left.ended));
    }
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
            let run = begun(prepared.run(&place, &stdin, &limits)).await;
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
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
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
    let restrict = || rustix::thread::set_no_new_privs(true).unwrap();
    let restricted = with_a_hand(Builder::new_multi_thread().on_thread_start(restrict));
    let free = runtime();
    for (runtime, expected) in [(&free, "0"), (&restricted, "1"), (&free, "0"), (&restricted, "1")] {
        assert_eq!(crowded(runtime, no_new_privs()), expected);
    }
}

/// What a process says that is started here.
async fn no_new_privs() -> String {
    let status = Program::shell("exec grep NoNewPrivs /proc/self/status");
    let reply = run(status, place("/"), Stdin::none(), limits()).await.unwrap();
    text(&reply.stdout.bytes).split_whitespace().last().unwrap().into()
}

/// Work that has its thread to itself may change it at any time, and what it starts next must show that.
#[test]
fn work_that_is_bound_to_its_thread_starts_its_processes_there() {
    let _alone = alone();
    let (runtime, restrict) = (runtime(), || rustix::thread::set_no_new_privs(true).unwrap());
    let before = hands();
    let blocking = crowded(&runtime, async move {
        let handle = tokio::runtime::Handle::current();
        let work = move || {
            let free = (0..3).map(|_| handle.block_on(no_new_privs())).collect::<Vec<_>>();
            restrict();
            (free, handle.block_on(no_new_privs()))
        };
        tokio::task::spawn_blocking(work).await.unwrap()
    });
    assert_eq!(blocking, (vec!["0".into(); 3], "1".into()));

    let tag = Tag::new();
    let (place, stdin, limits) = (tag.place("/"), Stdin::none(), limits());
    let sleeps = Program::shell(tag.text("sleep 100; :")).prepare(&place).unwrap();
    let local = std::thread::scope(|scope| {
        let work = async {
            let mut others = Vec::new();
            for _ in 1..processors() {
                others.push(begun(sleeps.run(&place, &stdin, &limits)).await);
            }
            let task = tokio::task::spawn_local(async move {
                let mut free = Vec::new();
                for _ in 0..3 {
                    free.push(no_new_privs().await);
                }
                restrict();
                (free, no_new_privs().await)
            });
            task.await.unwrap()
        };
        scope.spawn(|| runtime.block_on(tokio::task::LocalSet::new().run_until(work))).join().unwrap()
    });
    assert_eq!(local, (vec!["0".into(); 3], "1".into()));
    assert_eq!(hands(), before);
}

/// What a thread says to a run that is gone is not for the one that gets the same number.
#[test]
fn numbers_that_come_round_are_not_mixed_up() {
    let _alone = alone();
    let task = async {
        let tag = Tag::new();
        let (place, stdin, limits) = (tag.place("/"), Stdin::none(), limits());
        let quick = Program::argv(["true"]).prepare(&place).unwrap();
        let slow = Program::shell(tag.text("sleep 100; :")).prepare(&place).unwrap();
        let mut others = Vec::new();
        for _ in 1..processors() {
            others.push(begun(slow.run(&place, &stdin, &limits)).await);
        }
        for _ in 0..256 {
            let _run = begun(quick.run(&place, &stdin, &limits)).await;
            // The runtime does not get to tell it that it is done.
            std::thread::sleep(Duration::from_millis(8));
        }
        // This one has the thread now, so the next needs another.
        let mut first = Box::pin(slow.run(&place, &stdin, &limits));
        assert!(tokio::time::timeout(Duration::from_millis(100), &mut first).await.is_err());
        others.pop();
        let next = tokio::time::timeout(SOON, quick.run(&place, &stdin, &limits)).await;
        assert!(next.is_ok_and(|reply| !reply.unwrap().timed_out));
    };
    runtime().block_on(async { tokio::spawn(task).await.unwrap() });
}

/// Tasks that drop runs at any time, hand them to other tasks, and are dropped themselves with their runtime.
#[test]
fn nothing_survives_runtimes_that_end_at_any_time() {
    let _alone = alone();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mut before = usize::MAX;
    for round in 0..if common::stress() { 100 } else { 6 } {
        let tag = Tag::new();
        let place = tag.place("/");
        let texts = ["echo x", "sleep 100; :", "setsid sleep 100 & :", "no-such-program-here", "sleep 0.006; :"];
        let runs = texts.map(|text| Program::shell(tag.text(text)).prepare(&place).unwrap());
        let runtime = Builder::new_multi_thread().worker_threads(1 + round % 3).enable_all().build().unwrap();
        for task in 0..processors() {
            let (runs, place) = (runs.clone(), place.clone());
            runtime.spawn(async move {
                // Anything that looks like chance and is the same each time.
                let mut chance = (round * 64 + task + 1) as u64;
                let mut below = move |most: u64| {
                    chance ^= chance << 13;
                    chance ^= chance >> 7;
                    chance ^= chance << 17;
                    chance % most
                };
                loop {
                    let (prepared, place) = (runs[below(5) as usize].clone(), place.clone());
                    let run = async move { prepared.run(&place, &Stdin::none(), &limits()).await };
                    let (mut run, wait) = (Box::pin(run), Duration::from_micros(below(9000)));
                    if poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_ready() {
                        continue;
                    }
                    match below(4) {
                        0 => (0..below(6000)).for_each(|_| std::hint::spin_loop()),
                        1 => std::thread::sleep(wait),
                        2 => drop(tokio::time::timeout(wait, run).await),
                        _ => {
                            let elsewhere = tokio::spawn(run);
                            tokio::time::sleep(wait).await;
                            elsewhere.abort();
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        drop(runtime);
        assert!(checkrein_process::wait_for_dropped(SOON));
        assert_eq!((tag.living(), zombies()), (vec![], vec![]));
        all_go();
        // What is made once is there by then.
        if round == 2 {
            before = descriptors();
        }
        assert!(round < 2 || descriptors() <= before);
    }
}

/// In a process of its own, since it is about all children.
#[test]
fn a_host_that_loses_its_children_is_told_so() {
    const ALONE: &str = "CHECKREIN_HANDS_LOSE_CHILDREN";
    let _alone = alone();
    if std::env::var_os(ALONE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_host_that_loses_its_children_is_told_so", "--nocapture"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let (runtime, dir) = (runtime(), tempfile::tempdir().unwrap());
    let script = dir.path().join("script");
    common::script(&script, "#!/nowhere/at/all\n");
    #[allow(unsafe_code, reason = "no handler is installed")]
    // SAFETY: as above.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN)
    };
    let ended = |program: Program| crowded(&runtime, run(program, place("/"), Stdin::none(), limits()));
    for _ in 0..20 {
        let failed = ended(Program::argv([script.as_os_str()]));
        assert!(matches!(failed, Err(RunError::BadInterpreter { .. })), "{failed:?}");
        for text in ["true", "sleep 0.01; echo x"] {
            let lost = ended(Program::shell(text));
            assert!(matches!(lost, Err(RunError::Lost { .. })), "{lost:?}");
        }
    }
}

/// A user who may have few processes has them for what he runs. In a process of another user, since root may have as many as it likes.
#[test]
fn threads_take_no_process_from_those_who_have_few() {
    use std::os::unix::process::CommandExt as _;
    const FEW: &str = "CHECKREIN_HANDS_FEW_PROCESSES";
    let _alone = alone();
    if std::env::var_os(FEW).is_none() {
        if !rustix::process::getuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        let output = std::process::Command::new(copy)
            .args(["--exact", "threads_take_no_process_from_those_who_have_few", "--nocapture", "--test-threads=1"])
            .env(FEW, "1")
            .current_dir("/")
            // Nobody else's.
            .uid(20_000 + std::process::id() % 40_000)
            .output();
        // Where root may not become somebody else, there is nothing to try.
        let Ok(output) = output else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    // As many as there are threads and runs, and no more.
    let few = Some((threads + processors()) as u64);
    let limit = rustix::process::Rlimit { current: few, maximum: few };
    rustix::process::setrlimit(rustix::process::Resource::Nproc, limit).unwrap();
    crowded(&runtime, async {
        for _ in 0..4 {
            let reply = run(Program::argv(["true"]), place("/"), Stdin::none(), limits()).await;
            assert_eq!(reply.unwrap().exit, Exit::Exited(0));
            // Where there is a thread to be made, it is made now.
            tokio::task::yield_now().await;
        }
    });
}

/// As some sandboxes do. Others wait for the process then.
#[test]
fn a_thread_that_may_not_stand_still_stops_nobody() {
    let _alone = alone();
    // But not to look for an exit.
    let refuses_to_wait = || refuse(libc::SYS_waitid, libc::WNOHANG.unsigned_abs());
    let runtime = with_a_hand(Builder::new_multi_thread().on_thread_start(refuses_to_wait));
    for (text, code) in [("exit 3", 3), ("sleep 0.05; exit 4", 4), ("no-such-program-here", 127)] {
        let reply = crowded(&runtime, run(Program::shell(text), place("/"), Stdin::none(), limits())).unwrap();
        assert_eq!(reply.exit, Exit::Exited(code));
    }
    let limits = Limits::new(Duration::from_millis(50));
    let reply = crowded(&runtime, run(Program::shell("sleep 100"), place("/"), Stdin::none(), limits)).unwrap();
    assert!(reply.timed_out);
}
