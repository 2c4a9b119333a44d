//! Starting a process on Linux, in a sandbox or without one.
//!
//! The new process borrows the host's memory until it has become the program or has failed (`CLONE_VM`), so nothing of it
//! is copied. Between its first step and `execve` it may take no memory and no lock: it makes plain system calls, on what
//! was made ready before ([`plan`]). The host goes on meanwhile, so a program on a disk that does not answer stops nobody; and
//! whether there is a program is known when the process has exited ([`Lent::failed`]). Where the system lacks what that takes, the
//! thread that starts it stands still so long (`CLONE_VFORK`, as in `posix_spawn`).
//!
//! The C library's `posix_spawn` has no room for a sandbox, and takes longer: it waits, maps a stack for each start, and asks
//! for the handler of each of 64 signals.

#![expect(unsafe_code, reason = "between two processes in one memory there is nothing that the compiler could check")]

mod borrow;
mod call;
mod frame;
mod plan;
mod room;
mod texts;

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::process::Pid;

use self::borrow::Borrowed;
pub(super) use self::frame::{Lent, free_forsaken};
pub(super) use self::room::is_there_room;
use super::sandbox::Cage;
use crate::launch::{Launch, StartError};

/// What the process gets as stdin, stdout and stderr. None of them has the number of one of these.
pub(super) struct Streams(pub(super) [OwnedFd; 3]);

pub(super) struct Spawned {
    pub(super) pid: Pid,
    /// Tells when it has exited, if somebody wants it and the system gave it at once.
    pub(super) descriptor: Option<OwnedFd>,
    /// What it works on until it is its program.
    pub(super) frame: Lent,
}

/// What a new process works on.
pub(super) fn make_ready(launch: &Launch<'_>, cage: Option<Cage>) -> Result<Lent, StartError> {
    Lent::new(launch, cage).map_err(StartError::before)
}

/// Starts a process, which lets this thread off the processor before it becomes its program, if there is room for that.
pub(super) fn spawn(frame: Lent, streams: &Streams, is_room: bool) -> Result<Spawned, StartError> {
    frame.plan().complete(streams.0.each_ref().map(AsRawFd::as_raw_fd), is_room);
    let plan = &raw const *frame.plan();
    // SAFETY: it is a plan, and lasts as long as its frame. What it does is safe for a process on another's memory, see there.
    let started = unsafe { borrow::start(&frame, plan::follow, plan.cast(), true) };
    let Borrowed { pid, descriptor } = started.map_err(StartError::before)?;
    Ok(Spawned { pid, descriptor, frame })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::Duration;

    use super::frame;
    use crate::{Limits, Place, Program, RunError, Sandbox, Stdin};

    /// Whether the host goes on while a new process prepares itself, on this system. It is known once one was started.
    async fn goes_on() -> bool {
        let [place, _] = places();
        let prepared = Program::argv(["true"]).prepare(&place).unwrap();
        prepared.run(&place, &Stdin::none(), &Limits::new(Duration::from_secs(60))).await.unwrap();
        super::borrow::goes_on()
    }

    /// Makes everybody wait who opens a file, until it is closed here: up to a time of the system's, which is 45 seconds.
    /// None where the disk has nothing like it.
    fn withheld(path: &Path) -> Option<File> {
        /// Is sent to those who withhold a file that somebody wants. It is ignored, where the usual one would end them.
        const WANTED: i32 = libc::SIGURG;
        const SET_SIGNAL: i32 = 10;
        let file = File::options().read(true).write(true).open(path).unwrap();
        // SAFETY: takes numbers.
        let taken = unsafe {
            libc::fcntl(file.as_raw_fd(), SET_SIGNAL, WANTED) == 0
                && libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) == 0
        };
        taken.then_some(file)
    }

    /// Answers one system call in another way from now on, for this thread and what it starts. What the system says to that.
    pub(super) fn answer_call(call: libc::c_long, answer: u32, flags: libc::c_ulong) -> libc::c_long {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code: u16, jf: u8, k: u32| libc::sock_filter { code, jt: 0, jf, k };
        let mut steps = [
            step(LOAD, 0, 0),
            step(IS, 1, u32::try_from(call).unwrap()),
            step(RETURN, 0, answer),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let filter = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
        // SAFETY: the filter lives until the calls have returned, and holds for this thread alone.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter)
        }
    }

    /// Makes everybody wait who makes this call. None where the system has nothing like it.
    fn withheld_call(call: libc::c_long) -> Option<OwnedFd> {
        let asked = answer_call(call, libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
        // SAFETY: the system has just made it.
        i32::try_from(asked).ok().filter(|asked| *asked >= 0).map(|asked| unsafe { OwnedFd::from_raw_fd(asked) })
    }

    const SHORT: Duration = Duration::from_millis(100);
    const PATIENT: Duration = Duration::from_secs(20);

    /// Without a sandbox and with one.
    fn places() -> [Place; 2] {
        let plain = Place::new("/").env([("PATH", "/usr/bin:/bin")]);
        [plain.clone(), plain.sandbox(Sandbox::new())]
    }

    /// In a thread of its own, which stays as it becomes there.
    fn in_a_thread(test: impl Future<Output = ()> + Send + 'static) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        std::thread::spawn(move || runtime.block_on(test)).join().unwrap();
    }

    /// On a directory that does not answer, say.
    #[test]
    fn who_gets_stuck_on_the_way_is_in_nobodys_way() {
        for place in places() {
            in_a_thread(async move {
                if !goes_on().await {
                    return;
                }
                // It reads to the end, which is there when nobody else holds its stdin.
                let [usual, _] = places();
                let reads = Program::shell("sleep 0.3; wc -c").prepare(&usual).unwrap();
                let (large, limits) = (Stdin::bytes(vec![0; 1 << 20]), Limits::new(PATIENT));
                let mut reader = Box::pin(reads.run(&usual, &large, &limits));
                assert!(tokio::time::timeout(SHORT, &mut reader).await.is_err());

                let Some(_asked) = withheld_call(libc::SYS_chdir) else { return };
                let (stuck, none) = (Program::argv(["true"]).prepare(&place).unwrap(), Stdin::none());
                let mut stuck = Box::pin(stuck.run(&place, &none, &limits));
                assert!(tokio::time::timeout(SHORT, &mut stuck).await.is_err());
                let reply = reader.await.unwrap();
                assert!(!reply.timed_out && reply.stdout.bytes == b"1048576\n", "{reply:?}");
            });
        }
    }

    #[test]
    fn who_does_not_lead_a_group_yet_is_ended_all_the_same() {
        for (call, place) in [libc::SYS_setpgid, libc::SYS_setsid].into_iter().zip(places()) {
            in_a_thread(async move {
                if !goes_on().await {
                    return;
                }
                let Some(_asked) = withheld_call(call) else { return };
                let (stuck, none) = (Program::argv(["true"]).prepare(&place).unwrap(), Stdin::none());
                let reply = stuck.run(&place, &none, &Limits::new(SHORT).term(SHORT)).await.unwrap();
                assert!(reply.timed_out && reply.leftovers.is_empty(), "{reply:?}");
                // One that had survived would be waited for.
                assert!(crate::wait_for_dropped(PATIENT));

                let limits = Limits::new(PATIENT);
                assert!(tokio::time::timeout(SHORT, stuck.run(&place, &none, &limits)).await.is_err());
                assert!(crate::wait_for_dropped(PATIENT));
            });
        }
    }

    #[tokio::test]
    async fn what_was_forsaken_is_freed_with_the_next_that_is_gone() {
        let [place, _] = places();
        let sleeps = Program::argv(["sleep", "100"]).prepare(&place).unwrap();
        let is_there = frame::tests::forsaken_and_let_go();
        let (none, limits) = (Stdin::none(), Limits::new(PATIENT));
        assert!(tokio::time::timeout(SHORT, sleeps.run(&place, &none, &limits)).await.is_err());
        assert!(crate::wait_for_dropped(PATIENT));
        assert!(!is_there());
    }

    /// On each of these the rest is tried.
    fn disks() -> impl Iterator<Item = tempfile::TempDir> {
        [std::env::temp_dir().as_path(), Path::new("/dev/shm")].map(tempfile::tempdir_in).into_iter().flatten()
    }

    #[tokio::test]
    async fn a_program_that_does_not_come_stops_nobody() {
        for disk in disks() {
            let path = disk.path().join("program");
            fs::copy("/bin/true", &path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
            let [place, _] = places();
            let prepared = Program::argv([path.as_os_str()]).prepare(&place).unwrap();
            let (stdin, limits) = (Stdin::none(), Limits::new(Duration::from_millis(100)));
            if !goes_on().await {
                return;
            }
            let Some(file) = withheld(&path) else { continue };

            // One that stood still here would see no deadline.
            let reply = prepared.run(&place, &stdin, &limits).await.unwrap();
            assert!(reply.timed_out && reply.leftovers.is_empty(), "{reply:?}");
            // And what it works on stays as long as it does.
            let dropped = tokio::time::timeout(Duration::from_millis(20), prepared.run(&place, &stdin, &limits)).await;
            assert!(dropped.is_err());
            assert!(crate::wait_for_dropped(Duration::from_secs(60)));

            drop(file);
            let reply = prepared.run(&place, &stdin, &Limits::new(Duration::from_secs(60))).await.unwrap();
            assert!(reply.exit.success(), "{reply:?}");
        }
    }

    /// A script that cannot start.
    fn without_interpreter(dir: &Path) -> Program {
        let path = dir.join("program");
        fs::write(&path, "#!/nowhere/at/all\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Program::argv([path.as_os_str()])
    }

    #[tokio::test]
    async fn what_is_wrong_is_known_also_where_there_was_no_time() {
        let ([place, _], disk) = (places(), tempfile::tempdir().unwrap());
        let prepared = without_interpreter(disk.path()).prepare(&place).unwrap();
        for _ in 0..50 {
            let ended = prepared.run(&place, &Stdin::none(), &Limits::new(Duration::ZERO)).await;
            // It may have been ended before it could find out.
            assert!(
                matches!(&ended, Err(RunError::BadInterpreter { .. }))
                    || ended.as_ref().is_ok_and(|reply| reply.timed_out),
                "{ended:?}"
            );
        }
    }

    /// In a process of its own, since it is about all children.
    #[test]
    fn what_is_wrong_is_known_also_where_the_host_loses_its_children() {
        const ALONE: &str = "CHECKREIN_LOSES_CHILDREN";
        if std::env::var_os(ALONE).is_none() {
            let name = std::thread::current().name().unwrap().to_owned();
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &name, "--nocapture"])
                .env(ALONE, "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
            return;
        }
        // SAFETY: no handler is installed.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let ([place, _], disk) = (places(), tempfile::tempdir().unwrap());
        let program = without_interpreter(disk.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for timeout in [Duration::from_secs(60), Duration::ZERO] {
            let (stdin, limits) = (Stdin::none(), Limits::new(timeout));
            let run = |program: &Program| {
                runtime.block_on(async { program.clone().prepare(&place).unwrap().run(&place, &stdin, &limits).await })
            };
            let ended = run(&program);
            // Without time it may have been ended before it could find out.
            assert!(
                matches!(&ended, Err(RunError::BadInterpreter { .. }))
                    || timeout.is_zero() && matches!(&ended, Err(RunError::Lost { .. })),
                "{ended:?}"
            );
            let ended = run(&Program::argv(["true"]));
            assert!(matches!(&ended, Err(RunError::Lost { .. })), "{ended:?}");
        }
    }
}
