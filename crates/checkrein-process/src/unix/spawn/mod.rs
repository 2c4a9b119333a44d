//! Starting a process on Linux, in a sandbox or without one.
//!
//! The new process borrows the host's memory, and the thread that starts it stands still, until it has become the program
//! or has failed (`CLONE_VM` and `CLONE_VFORK`, as `posix_spawn` does). So between [`child`] and `execve` nothing may take
//! memory or a lock: only plain system calls, on what was made ready before.
//!
//! The C library's `posix_spawn` has no room for a sandbox, and takes longer: it maps a stack for each start, and asks for
//! the handler of each of 64 signals.

#![expect(unsafe_code, reason = "between two processes in one memory there is nothing that the compiler could check")]

mod borrow;
mod room;
mod texts;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_char, c_int, c_long, c_void};
use rustix::process::Pid;

use self::borrow::{Borrowed, Signals};
use self::room::is_there_room;
use self::texts::Texts;
use super::sandbox::{Cage, Capabilities, ResourceLimit};
use crate::launch::{Launch, StartError};
use crate::sandbox::SandboxError;

/// What the process gets as stdin, stdout and stderr. None of them has the number of one of these.
pub(super) struct Streams(pub(super) [OwnedFd; 3]);

pub(super) struct Spawned {
    pub(super) pid: Pid,
    /// Tells when it has exited, if the system gave it at once.
    pub(super) descriptor: Option<OwnedFd>,
}

/// What the new process is doing, for when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Step {
    Start = 0,
    Directory,
    Streams,
    Privileges,
    Files,
    Limits,
    Calls,
    Execute,
}

const STEPS: &[Step] = &[
    Step::Start,
    Step::Directory,
    Step::Streams,
    Step::Privileges,
    Step::Files,
    Step::Limits,
    Step::Calls,
    Step::Execute,
];

/// All that the new process needs. It lives in the host's stack, which stands still meanwhile.
struct Plan {
    program: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    cwd: *const c_char,
    streams: [RawFd; 3],
    cage: Option<Bars>,
    /// Whether the host is let off the processor before the program starts.
    yields: bool,
    step: AtomicI32,
    error: AtomicI32,
}

/// What a sandbox is made of.
struct Bars {
    ruleset: RawFd,
    capabilities: *const Capabilities,
    limits: *const ResourceLimit,
    limit_count: usize,
    filter: libc::sock_fprog,
}

impl Bars {
    fn of(cage: &Cage) -> io::Result<Self> {
        let len = u16::try_from(cage.filter.code.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(Self {
            ruleset: cage.ruleset.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            capabilities: &raw const cage.capabilities,
            limits: cage.limits.as_ptr(),
            limit_count: cage.limits.len(),
            filter: libc::sock_fprog { len, filter: cage.filter.code.as_ptr().cast_mut() },
        })
    }
}

pub(super) fn spawn(launch: &Launch<'_>, cage: Option<&Cage>, streams: &Streams) -> Result<Spawned, StartError> {
    let texts = Texts::of(launch).map_err(StartError::before)?;
    let mut plan = Plan {
        program: texts.program(),
        argv: texts.argv(),
        envp: texts.envp(),
        cwd: texts.cwd(),
        streams: streams.0.each_ref().map(AsRawFd::as_raw_fd),
        cage: cage.map(Bars::of).transpose().map_err(StartError::before)?,
        yields: is_there_room(),
        step: AtomicI32::new(0),
        error: AtomicI32::new(0),
    };
    // SAFETY: the plan and all that it points to live until the call returns, which it does when the new process has let go
    // of them: it has become the program, or is gone. What `child` does is safe for a process in another's memory, see there.
    let started = unsafe { borrow::start(child, (&raw mut plan).cast::<c_void>()) };
    let Borrowed { pid, descriptor } = started.map_err(StartError::before)?;

    let error = plan.error.load(Ordering::Acquire);
    if error == 0 {
        return Ok(Spawned { pid, descriptor });
    }
    // It is gone already, only its status is not.
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    let step = STEPS.iter().find(|step| **step as i32 == plan.step.load(Ordering::Acquire)).copied();
    Err(failed(step.unwrap_or(Step::Start), io::Error::from_raw_os_error(error), launch))
}

fn failed(step: Step, error: io::Error, launch: &Launch<'_>) -> StartError {
    let part = match step {
        _ if launch.place.sandboxed().is_none() => return StartError::before(error),
        Step::Start | Step::Directory => return StartError::before(error),
        Step::Execute if error.kind() == io::ErrorKind::PermissionDenied => {
            let program = launch.place.cwd().join(launch.program);
            return StartError::sandbox(SandboxError::OutOfReach { program });
        }
        Step::Execute => return StartError::before(error),
        Step::Streams => "to close the host's descriptors",
        Step::Privileges => "to give up privileges",
        Step::Files => "to keep files from a process",
        Step::Limits => "a limit",
        Step::Calls => "to filter system calls",
    };
    StartError::sandbox(SandboxError::Refused { part, source: error })
}

/// The new process.
extern "C" fn child(plan: *mut c_void, signals: Signals) -> c_int {
    // SAFETY: it is the plan of the call that started this process, and whoever made it waits.
    let plan = unsafe { &*plan.cast::<Plan>() };
    // SAFETY: this is a new process that shares the host's memory.
    let error = unsafe { become_program(plan, signals) };
    plan.error.store(error.max(1), Ordering::Release);
    // SAFETY: ends this process at once, and nothing of the host's.
    unsafe { libc::_exit(127) }
}

/// Puts this process into its sandbox, if there is one, and makes it the program. Comes back only when that fails, with the
/// system's number.
///
/// # Safety
///
/// Only for a process that shares the memory of one that stands still. It makes system calls and nothing else: no memory
/// is taken, no lock, and the only thing of the host's that changes is the calling thread's `errno`.
unsafe fn become_program(plan: &Plan, signals: Signals) -> i32 {
    let at = |step: Step| plan.step.store(step as i32, Ordering::Release);
    // SAFETY: every pointer in the plan is valid until the host goes on, and each structure is as the call wants it.
    unsafe {
        borrow::reset_signals(signals);
        // A group of its own. In a sandbox also a session: without the host's terminal, and where the system shares
        // processors among sessions, those that multiply take nothing from the host, which has to end them.
        let led = if plan.cage.is_some() { libc::setsid() } else { libc::setpgid(0, 0) };
        if led < 0 {
            return errno();
        }
        at(Step::Directory);
        if libc::chdir(plan.cwd) != 0 {
            return errno();
        }
        at(Step::Streams);
        for (number, stream) in [0, 1, 2].into_iter().zip(plan.streams) {
            // None of them is 0, 1 or 2, so none is in another's way, and the copies stay open.
            if libc::dup2(stream, number) < 0 {
                return errno();
            }
        }
        if let Some(bars) = &plan.cage {
            let error = enter(bars, at);
            if error != 0 {
                return error;
            }
        } else {
            // Whatever the host has open, whether it meant to share it or not. Systems that cannot do that are old, and
            // nearly everything closes itself anyway.
            libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32);
        }
        at(Step::Execute);
        borrow::let_signals_through();
        if plan.yields {
            // A host that waits for this process may still be in the queue of the processor, since it has run for longer than
            // its share; then the system takes that for busy and moves the new program to another one, which takes longer
            // than what else it does to start it. This takes the host out of the queue. Where others wait, it would cost us
            // our turn.
            libc::sched_yield();
        }
        libc::execve(plan.program, plan.argv, plan.envp);
        errno()
    }
}

/// Puts this process into its sandbox. Zero, or the number of what went wrong.
///
/// # Safety
///
/// As [`become_program`].
unsafe fn enter(bars: &Bars, at: impl Fn(Step)) -> i32 {
    // SAFETY: as there.
    unsafe {
        at(Step::Privileges);
        let (on, none): (c_long, c_long) = (1, 0);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, none, none, none) != 0 {
            return errno();
        }
        let (header, sets) = (&raw const (*bars.capabilities).header, &raw const (*bars.capabilities).sets);
        if libc::syscall(libc::SYS_capset, header, sets) != 0 {
            return errno();
        }
        at(Step::Files);
        if bars.ruleset >= 0 && libc::syscall(libc::SYS_landlock_restrict_self, bars.ruleset, 0_u32) != 0 {
            return errno();
        }
        at(Step::Streams);
        // Whatever the host has open, whether it meant to share it or not.
        if libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) != 0 {
            return errno();
        }
        at(Step::Limits);
        for number in 0..bars.limit_count {
            let limit = bars.limits.add(number);
            let (resource, value) = ((*limit).resource, &raw const (*limit).value);
            if libc::syscall(libc::SYS_prlimit64, 0, resource, value, ptr::null_mut::<libc::rlimit64>()) != 0 {
                return errno();
            }
        }
        at(Step::Calls);
        if libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const bars.filter) != 0 {
            return errno();
        }
    }
    0
}

fn errno() -> i32 {
    // SAFETY: always valid. It is the host thread's own, which stands still.
    unsafe { *libc::__errno_location() }
}
