//! Starting a process in its sandbox.
//!
//! The new process borrows the host's memory, and the thread that starts it stands still, until it has become the program
//! or has failed (`CLONE_VM` and `CLONE_VFORK`, as `posix_spawn` does). So between [`child`] and `execve` nothing may take
//! memory or a lock: only plain system calls, on what was made ready before.

#![expect(unsafe_code, reason = "between two processes in one memory there is nothing that the compiler could check")]

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_char, c_int, c_long, c_void};
use rustix::process::Pid;

use super::Cage;
use super::limits::{Capabilities, ResourceLimit};
use crate::launch::{Launch, StartError};
use crate::marker::MARKER;
use crate::sandbox::SandboxError;

/// What the process gets as stdin, stdout and stderr.
pub(in super::super) struct Streams(pub(in super::super) [OwnedFd; 3]);

pub(in super::super) struct Spawned {
    pub(in super::super) pid: Pid,
}

/// How large the stack is on which the new process makes its calls.
const STACK: usize = 64 * 1024;

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
    ruleset: RawFd,
    capabilities: *const Capabilities,
    limits: *const ResourceLimit,
    limit_count: usize,
    filter: libc::sock_fprog,
    step: AtomicI32,
    error: AtomicI32,
}

pub(in super::super) fn spawn(launch: &Launch<'_>, cage: &Cage, streams: &Streams) -> Result<Spawned, StartError> {
    let texts = Texts::of(launch).map_err(StartError::before)?;
    let (argv, envp) = (pointers(&texts.argv), pointers(&texts.envp));
    let filter_len =
        u16::try_from(cage.filter.code.len()).map_err(|_| StartError::before(io::ErrorKind::InvalidInput.into()))?;
    let mut plan = Plan {
        program: texts.program.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        cwd: texts.cwd.as_ptr(),
        streams: streams.0.each_ref().map(AsRawFd::as_raw_fd),
        ruleset: cage.ruleset.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        capabilities: &raw const cage.capabilities,
        limits: cage.limits.as_ptr(),
        limit_count: cage.limits.len(),
        filter: libc::sock_fprog { len: filter_len, filter: cage.filter.code.as_ptr().cast_mut() },
        step: AtomicI32::new(0),
        error: AtomicI32::new(0),
    };
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    // It grows downwards.
    let top = stack.as_mut_ptr_range().end;

    // No signal may run one of the host's handlers in the new process, which would do its work on the host's memory.
    let all = u64::MAX;
    let mut before = 0_u64;
    // SAFETY: both masks are as long as the kernel's, and live on this stack.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, &raw mut before, 8_usize) };
    // SAFETY: the stack and the plan live until the call returns, which it does when the new process has let go of them:
    // it has become the program, or is gone. What `child` does is safe for a process in another's memory, see there.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child, top.cast::<c_void>(), flags, (&raw mut plan).cast::<c_void>())
    };
    let refused = io::Error::last_os_error();
    // SAFETY: as above.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const before, ptr::null_mut::<u64>(), 8_usize)
    };
    let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(|| StartError::before(refused))?;

    let error = plan.error.load(Ordering::Acquire);
    if error == 0 {
        return Ok(Spawned { pid });
    }
    // It is gone already, only its status is not.
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    let step = STEPS.iter().find(|step| **step as i32 == plan.step.load(Ordering::Acquire)).copied();
    Err(failed(step.unwrap_or(Step::Start), io::Error::from_raw_os_error(error), launch))
}

fn failed(step: Step, error: io::Error, launch: &Launch<'_>) -> StartError {
    let part = match step {
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
extern "C" fn child(plan: *mut c_void) -> c_int {
    // SAFETY: it is the plan of the call that started this process, and whoever made it waits.
    let plan = unsafe { &*plan.cast::<Plan>() };
    // SAFETY: this is a new process that shares the host's memory.
    let error = unsafe { become_program(plan) };
    plan.error.store(error.max(1), Ordering::Release);
    // SAFETY: ends this process at once, and nothing of the host's.
    unsafe { libc::_exit(127) }
}

/// Puts this process into its sandbox and makes it the program. Comes back only when that fails, with the system's number.
///
/// # Safety
///
/// Only for a process that shares the memory of one that stands still. It makes system calls and nothing else: no memory
/// is taken, no lock, and the only thing of the host's that changes is the calling thread's `errno`.
unsafe fn become_program(plan: &Plan) -> i32 {
    let at = |step: Step| plan.step.store(step as i32, Ordering::Release);
    // SAFETY: every pointer in the plan is valid until the host goes on, and each structure is as the call wants it.
    unsafe {
        reset_signals();
        // A group of its own, and a session: without the host's terminal, and where the system shares processors among
        // sessions, those that multiply take nothing from the host, which has to end them.
        if libc::setsid() < 0 {
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
        at(Step::Privileges);
        let (on, none): (c_long, c_long) = (1, 0);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, none, none, none) != 0 {
            return errno();
        }
        let (header, sets) = (&raw const (*plan.capabilities).header, &raw const (*plan.capabilities).sets);
        if libc::syscall(libc::SYS_capset, header, sets) != 0 {
            return errno();
        }
        at(Step::Files);
        if plan.ruleset >= 0 && libc::syscall(libc::SYS_landlock_restrict_self, plan.ruleset, 0_u32) != 0 {
            return errno();
        }
        at(Step::Streams);
        // Whatever the host has open, whether it meant to share it or not.
        if libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) != 0 {
            return errno();
        }
        at(Step::Limits);
        for number in 0..plan.limit_count {
            let limit = plan.limits.add(number);
            let (resource, value) = ((*limit).resource, &raw const (*limit).value);
            if libc::syscall(libc::SYS_prlimit64, 0, resource, value, ptr::null_mut::<libc::rlimit64>()) != 0 {
                return errno();
            }
        }
        at(Step::Calls);
        if libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const plan.filter) != 0 {
            return errno();
        }
        at(Step::Execute);
        let no_signals = 0_u64;
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const no_signals,
            ptr::null_mut::<u64>(),
            8_usize,
        );
        libc::execve(plan.program, plan.argv, plan.envp);
        errno()
    }
}

/// Takes the host's handlers away, which would run in this process as soon as signals come through. And a broken pipe ends
/// a program, as everywhere, though hosts written in Rust ignore it.
///
/// # Safety
///
/// Only in a new process, whose handlers are a copy.
unsafe fn reset_signals() {
    const SIGNALS: c_int = 64;
    // As the kernel has it, which is smaller than this: the handler comes first, and all zero is the default.
    let usual = [0_usize; 8];
    for signal in 1..=SIGNALS {
        let mut now = [0_usize; 8];
        // SAFETY: both are at least as large as the kernel's structure.
        unsafe {
            let none = ptr::null::<[usize; 8]>();
            let known = libc::syscall(libc::SYS_rt_sigaction, signal, none, &raw mut now, 8_usize) == 0;
            let is_ours = known && now[0] != libc::SIG_DFL && now[0] != libc::SIG_IGN;
            if is_ours || signal == libc::SIGPIPE {
                let old = ptr::null_mut::<[usize; 8]>();
                libc::syscall(libc::SYS_rt_sigaction, signal, &raw const usual, old, 8_usize);
            }
        }
    }
}

fn errno() -> i32 {
    // SAFETY: always valid. It is the host thread's own, which stands still.
    unsafe { *libc::__errno_location() }
}

/// Variables for programs that would rather die than do without a file in the home directory which is there and cannot
/// be read.
const IN_A_CLOSED_HOME: &[(&str, &str)] = &[("GIT_CONFIG_GLOBAL", "/dev/null")];

/// Whether the home directory is out of reach.
fn home_is_closed(launch: &Launch<'_>) -> bool {
    let (Some(home), Some(files)) =
        (launch.place.var("HOME").map(Path::new), launch.place.sandboxed().and_then(|sandbox| sandbox.files.as_ref()))
    else {
        return false;
    };
    !files.read.iter().chain(&files.write).any(|open| home.starts_with(open))
}

struct Texts {
    program: CString,
    argv: Vec<CString>,
    envp: Vec<CString>,
    cwd: CString,
}

impl Texts {
    fn of(launch: &Launch<'_>) -> io::Result<Self> {
        let text =
            |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
        let argv = std::iter::once(launch.arg0).chain(launch.args.iter());
        let own = [
            Some((OsStr::new(MARKER), launch.marker.value())),
            launch.pwd.map(|pwd| (OsStr::new("PWD"), pwd)),
            launch.temporary.map(|path| (OsStr::new("TMPDIR"), path.as_os_str())),
        ];
        // Of a name that comes twice, the last value counts.
        let given = launch.place.variables().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let closed_home = IN_A_CLOSED_HOME.iter().filter(|_| home_is_closed(launch));
        let own_wish = closed_home.filter(|(name, _)| launch.place.var(name).is_none());
        let own = own.into_iter().flatten().chain(own_wish.map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
        let mut variables: Vec<(&OsStr, &OsStr)> = Vec::new();
        for (name, value) in given.chain(own) {
            match variables.iter_mut().find(|(have, _)| *have == name) {
                Some(variable) => variable.1 = value,
                None => variables.push((name, value)),
            }
        }
        let variable = |(name, value): (&OsStr, &OsStr)| {
            let mut both = Vec::with_capacity(name.len() + value.len() + 2);
            both.extend_from_slice(name.as_bytes());
            both.push(b'=');
            both.extend_from_slice(value.as_bytes());
            text(OsStr::from_bytes(&both))
        };
        Ok(Self {
            program: text(launch.program.as_os_str())?,
            argv: argv.map(text).collect::<io::Result<_>>()?,
            envp: variables.into_iter().map(variable).collect::<io::Result<_>>()?,
            cwd: text(launch.place.cwd().as_os_str())?,
        })
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}
