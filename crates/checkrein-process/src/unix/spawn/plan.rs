//! What a new process does until it is its program.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use libc::{c_char, c_int, c_long, c_void};

use super::super::sandbox::{Cage, Capabilities, ResourceLimit};
use super::borrow::{self, Signals};
use super::call::{Answer, call};
use super::texts::Texts;
use crate::launch::StartError;
use crate::sandbox::SandboxError;

/// What the new process is doing, for when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Step {
    Start = 0,
    Streams,
    Directory,
    Privileges,
    Files,
    Limits,
    Calls,
    Execute,
}

const STEPS: &[Step] = &[
    Step::Start,
    Step::Streams,
    Step::Directory,
    Step::Privileges,
    Step::Files,
    Step::Limits,
    Step::Calls,
    Step::Execute,
];

impl Step {
    /// What it means that this went wrong on the way into a sandbox.
    pub(super) fn failed_in_a_sandbox(self, error: io::Error, program: impl FnOnce() -> PathBuf) -> StartError {
        let part = match self {
            Self::Start | Self::Directory => return StartError::before(error),
            Self::Execute if error.kind() == io::ErrorKind::PermissionDenied => {
                return StartError::sandbox(SandboxError::OutOfReach { program: program() });
            }
            Self::Execute => return StartError::before(error),
            Self::Streams => "to close the host's descriptors",
            Self::Privileges => "to give up privileges",
            Self::Files => "to keep files from a process",
            Self::Limits => "a limit",
            Self::Calls => "to filter system calls",
        };
        StartError::sandbox(SandboxError::Refused { part, source: error })
    }
}

/// What there is to do, and how far it got. What it points to lives as long as the process works on it.
pub(super) struct Plan {
    program: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    cwd: *const c_char,
    streams: [AtomicI32; 3],
    cage: Option<Bars>,
    /// Whether the host is let off the processor before the program starts.
    yields: AtomicBool,
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

impl Plan {
    pub(super) fn new(texts: &Texts) -> Self {
        Self {
            program: texts.program(),
            argv: texts.argv(),
            envp: texts.envp(),
            cwd: texts.cwd(),
            streams: [const { AtomicI32::new(-1) }; 3],
            cage: None,
            yields: AtomicBool::new(false),
            step: AtomicI32::new(0),
            error: AtomicI32::new(0),
        }
    }

    /// Says what becomes stdin, stdout and stderr, and whether the host is let off the processor. For when nobody follows it yet.
    pub(super) fn complete(&self, streams: [RawFd; 3], yields: bool) {
        for (place, stream) in self.streams.iter().zip(streams) {
            place.store(stream, Ordering::Relaxed);
        }
        self.yields.store(yields, Ordering::Relaxed);
    }

    /// Puts it into a sandbox, which stays where it is from now on.
    pub(super) fn confine(&mut self, cage: &Cage) -> io::Result<()> {
        let len = u16::try_from(cage.filter.code.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.cage = Some(Bars {
            ruleset: cage.ruleset.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            capabilities: &raw const cage.capabilities,
            limits: cage.limits.as_ptr(),
            limit_count: cage.limits.len(),
            filter: libc::sock_fprog { len, filter: cage.filter.code.as_ptr().cast_mut() },
        });
        Ok(())
    }

    /// What went wrong, and when.
    pub(super) fn failed(&self) -> Option<(Step, io::Error)> {
        let error = self.error.load(Ordering::Acquire);
        let at = self.step.load(Ordering::Acquire);
        let step = STEPS.iter().find(|step| **step as i32 == at).copied().unwrap_or(Step::Start);
        (error != 0).then(|| (step, io::Error::from_raw_os_error(error)))
    }
}

/// The new process.
pub(super) extern "C" fn follow(plan: *const c_void, signals: Signals) -> c_int {
    const NO_PROGRAM: usize = 127;
    // SAFETY: it is the plan of the call that started this process, and stays until that is its program or gone. It is a new
    // process that works on the host's memory, and the last call ends it alone.
    unsafe {
        let plan = &*plan.cast::<Plan>();
        let error = become_program(plan, signals);
        plan.error.store(error.max(1), Ordering::Release);
        loop {
            call(libc::SYS_exit_group, [NO_PROGRAM, 0, 0, 0, 0, 0]);
        }
    }
}

/// Puts this process into its sandbox, if there is one, and makes it the program. Comes back only when that fails, with the
/// system's number.
///
/// # Safety
///
/// Only for a new process on another's memory. It makes system calls and nothing else: no memory is taken, no lock, and
/// nothing of the host's changes but the plan's own notes.
unsafe fn become_program(plan: &Plan, signals: Signals) -> c_int {
    let at = |step: Step| plan.step.store(step as i32, Ordering::Release);
    // SAFETY: every pointer in the plan is valid until this is another program, and each structure is as the call wants it.
    unsafe {
        borrow::reset_signals(signals);
        // A group of its own. In a sandbox also a session: without the host's terminal, and where the system shares
        // processors among sessions, those that multiply take nothing from the host, which has to end them.
        let led = match &plan.cage {
            Some(_) => call(libc::SYS_setsid, [0; 6]),
            None => call(libc::SYS_setpgid, [0; 6]),
        };
        if led < 0 {
            return wrong(led);
        }
        at(Step::Streams);
        for (number, stream) in plan.streams.iter().enumerate() {
            // None of them is 0, 1 or 2, so none is in another's way, and the copies stay open.
            let copied = call(libc::SYS_dup3, [value(stream.load(Ordering::Relaxed)), number, 0, 0, 0, 0]);
            if copied < 0 {
                return wrong(copied);
            }
        }
        // Whatever the host has open, whether it meant to share it or not. And before anything that may take long: as long as
        // this holds the stdin of another run, that has no end. Systems that cannot do that are old, and nearly everything
        // closes itself anyway; that is not enough for a sandbox.
        let closed = close_the_hosts(plan.cage.as_ref().map_or(-1, |bars| bars.ruleset));
        if closed < 0 && plan.cage.is_some() {
            return wrong(closed);
        }
        at(Step::Directory);
        let entered = call(libc::SYS_chdir, [pointer(plan.cwd), 0, 0, 0, 0, 0]);
        if entered < 0 {
            return wrong(entered);
        }
        if let Some(bars) = &plan.cage {
            let entered = enter(bars, at);
            if entered < 0 {
                return wrong(entered);
            }
        }
        at(Step::Execute);
        borrow::let_signals_through();
        if plan.yields.load(Ordering::Relaxed) {
            // The host may still be in the queue of the processor though it waits, since it has run for longer than its
            // share; then the system takes that for busy and moves the new program to another one, which takes longer than
            // what else it does to start it. This takes the host out of the queue. Where others wait, it would cost us our
            // turn.
            call(libc::SYS_sched_yield, [0; 6]);
        }
        wrong(call(libc::SYS_execve, [pointer(plan.program), pointer(plan.argv), pointer(plan.envp), 0, 0, 0]))
    }
}

/// Puts this process into its sandbox. Less than zero, if something went wrong.
///
/// # Safety
///
/// As [`become_program`].
unsafe fn enter(bars: &Bars, at: impl Fn(Step)) -> Answer {
    // SAFETY: as there.
    unsafe {
        let step = |step: Step, number: c_long, values: [usize; 6]| {
            at(step);
            call(number, values)
        };
        let mut answer = step(Step::Privileges, libc::SYS_prctl, [value(libc::PR_SET_NO_NEW_PRIVS), 1, 0, 0, 0, 0]);
        if answer >= 0 {
            let (header, sets) = (&raw const (*bars.capabilities).header, &raw const (*bars.capabilities).sets);
            answer = step(Step::Privileges, libc::SYS_capset, [pointer(header), pointer(sets), 0, 0, 0, 0]);
        }
        if answer >= 0 && bars.ruleset >= 0 {
            answer = step(Step::Files, libc::SYS_landlock_restrict_self, [value(bars.ruleset), 0, 0, 0, 0, 0]);
        }
        for number in 0..bars.limit_count {
            if answer >= 0 {
                let limit = bars.limits.add(number);
                let (resource, new) = ((*limit).resource, pointer(&raw const (*limit).value));
                answer = step(Step::Limits, libc::SYS_prlimit64, [0, resource as usize, new, 0, 0, 0]);
            }
        }
        if answer >= 0 {
            let filter = pointer(&raw const bars.filter);
            let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
            answer = step(Step::Calls, libc::SYS_seccomp, [mode, 0, filter, 0, 0, 0]);
        }
        answer
    }
}

/// Closes all but the three streams and one other, if there is one, which closes itself when the program starts.
///
/// # Safety
///
/// As [`become_program`].
unsafe fn close_the_hosts(other: RawFd) -> Answer {
    const FIRST: usize = 3;
    const LAST: usize = u32::MAX as usize;
    // SAFETY: it takes numbers, and the descriptors are this process's own copies.
    let close = |from: usize, to: usize| unsafe { call(libc::SYS_close_range, [from, to, 0, 0, 0, 0]) };
    match usize::try_from(other) {
        Ok(other) if other > FIRST => close(FIRST, other - 1).min(close(other + 1, LAST)),
        Ok(FIRST) => close(FIRST + 1, LAST),
        _ => close(FIRST, LAST),
    }
}

/// An address as a system call takes it.
fn pointer<T>(to: *const T) -> usize {
    to.expose_provenance()
}

/// A number as a system call takes it.
fn value(number: c_int) -> usize {
    number as isize as usize
}

/// The number of what went wrong.
fn wrong(answer: Answer) -> c_int {
    c_int::try_from(-answer).unwrap_or(libc::EINVAL)
}
