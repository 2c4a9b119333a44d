//! Spawn of a process in its sandbox.
//!
//! The child shares the memory of the host until it executes its program, and the calling thread is suspended so long
//! (`CLONE_VM | CLONE_VFORK`, as in `posix_spawn`). So nothing is copied, and the input of the child can be on the stack and
//! heap of the caller. Before `execve` the child must only make system calls: it must not allocate, lock or panic.
//! `posix_spawn` cannot be used: it has no actions for Landlock, seccomp and limits.

#![expect(unsafe_code, reason = "the child runs on the memory of its host")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use libc::{c_char, c_int, c_long, c_void};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, setrlimit, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::thread::{set_capabilities, set_no_new_privs};
use seccompiler::BpfProgramRef;

use super::super::start::ChildStdio;
use super::PreparedSandbox;
use crate::launch::{SpawnSpec, StartError};
use crate::sandbox::SandboxError;

/// The size of the child's stack, in units of its alignment (16 bytes): 64 KiB. Only the pages that the child uses are touched.
const STACK: usize = 4096;

/// Spawns a process that enters its sandbox and executes its program. Returns after the `execve` or a failure.
pub(in super::super) fn spawn(
    spec: &SpawnSpec<'_>,
    sandbox: &PreparedSandbox,
    stdio: &ChildStdio,
) -> Result<Pid, StartError> {
    let strings = ExecStrings::new(spec).map_err(StartError::before)?;
    let (argv, envp) = (pointers(&strings.args), pointers(&strings.variables));
    let mut setup = ChildSetup {
        program: &strings.program,
        cwd: &strings.cwd,
        argv: &argv,
        envp: &envp,
        stdio,
        sandbox,
        step: Step::Start,
        error: None,
    };
    let pid = clone(&mut setup).map_err(StartError::before)?;
    let Some(error) = setup.error else { return Ok(pid) };
    // The status has no information, and other code of the host may have reaped the child.
    while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(Errno::INTR)) {}
    Err(setup.step.failure(error.into(), spec))
}

/// The strings for `execve`.
struct ExecStrings {
    program: CString,
    cwd: CString,
    args: Vec<CString>,
    variables: Vec<CString>,
}

impl ExecStrings {
    fn new(spec: &SpawnSpec<'_>) -> io::Result<Self> {
        let string = |text: &OsStr| CString::new(text.as_bytes());
        let mut variables = Vec::new();
        for (name, value) in spec.variables().collect::<BTreeMap<_, _>>() {
            variables.push(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?);
        }
        Ok(Self {
            program: string(spec.program.as_os_str())?,
            cwd: string(spec.context.cwd().as_os_str())?,
            args: std::iter::once(spec.arg0).chain(spec.args.iter()).map(string).collect::<Result<_, _>>()?,
            variables,
        })
    }
}

/// A null-terminated array of pointers to these strings.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// Input and result of the child.
struct ChildSetup<'a> {
    program: &'a CStr,
    cwd: &'a CStr,
    argv: &'a [*const c_char],
    envp: &'a [*const c_char],
    stdio: &'a ChildStdio,
    sandbox: &'a PreparedSandbox,
    /// The step that the child has reached.
    step: Step,
    /// The error of that step.
    error: Option<Errno>,
}

/// Starts the child with all signals blocked, and waits until it has executed its program or has exited.
fn clone(setup: &mut ChildSetup<'_>) -> io::Result<Pid> {
    let mut stack = Box::<[u128]>::new_uninit_slice(STACK);
    let stack_top = stack.as_mut_ptr_range().end.cast::<c_void>();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // A signal in the child must not run a handler of the host, which would work on the memory of the host.
    let blocked = set_signal_mask(&all_signals());
    // SAFETY: the stack and the setup outlive the child's use of them, since this thread is suspended so long. The end of the
    // stack is aligned for a call. `child_main` expects a setup, and only changes its own fields in the shared memory.
    let pid = unsafe { libc::clone(child_main, stack_top, flags, ptr::from_mut(setup).cast()) };
    let error = io::Error::last_os_error();
    set_signal_mask(&blocked);
    if pid <= 0 {
        return Err(error);
    }
    Pid::from_raw(pid).ok_or(error)
}

extern "C" fn child_main(setup: *mut c_void) -> c_int {
    const NO_PROGRAM: c_int = 127;
    // SAFETY: `clone` above passes a setup, which nothing else uses while this process does.
    let setup = unsafe { &mut *setup.cast::<ChildSetup<'_>>() };
    let Err(error) = setup.execute();
    setup.error = Some(error);
    // SAFETY: ends this process without the host's exit handlers.
    unsafe { libc::_exit(NO_PROGRAM) }
}

impl ChildSetup<'_> {
    /// Enters the sandbox and executes the program. Runs in the child and returns only if that fails.
    fn execute(&mut self) -> Result<Infallible, Errno> {
        reset_signal_handlers();
        // Its own group and session, without the terminal of the host. If the kernel schedules by session, a fork bomb cannot
        // starve the host, which has to end it.
        rustix::process::setsid()?;

        self.step = Step::Streams;
        let [stdin, stdout, stderr] = &self.stdio.0;
        dup2_stdin(stdin)?;
        dup2_stdout(stdout)?;
        dup2_stderr(stderr)?;
        let ruleset = self.sandbox.ruleset.as_ref().map(AsRawFd::as_raw_fd);
        close_others(ruleset)?;

        self.step = Step::Directory;
        rustix::process::chdir(self.cwd)?;

        self.step = Step::Privileges;
        set_no_new_privs(true)?;
        set_capabilities(None, self.sandbox.capabilities)?;

        if let Some(ruleset) = ruleset {
            self.step = Step::Files;
            restrict_files(ruleset)?;
        }

        self.step = Step::Limits;
        for (resource, limit) in &self.sandbox.limits {
            setrlimit(*resource, *limit)?;
        }

        self.step = Step::Calls;
        for filter in &self.sandbox.filters {
            filter_calls(filter)?;
        }

        self.step = Step::Execute;
        set_signal_mask(&no_signals());
        // SAFETY: the strings end with a zero and the arrays with a null.
        unsafe { libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
        Err(last_error())
    }
}

/// Last step of the child, for the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Start,
    Streams,
    Directory,
    Privileges,
    Files,
    Limits,
    Calls,
    Execute,
}

impl Step {
    fn failure(self, error: io::Error, spec: &SpawnSpec<'_>) -> StartError {
        let part = match self {
            Self::Start | Self::Directory => return StartError::before(error),
            Self::Execute if error.kind() == io::ErrorKind::PermissionDenied => {
                let program = spec.context.cwd().join(spec.program);
                return StartError::sandbox(SandboxError::OutOfReach { program });
            }
            Self::Execute => return StartError::before(error),
            Self::Streams => "close the file descriptors of the host",
            Self::Privileges => "give up privileges",
            Self::Files => "restrict file access",
            Self::Limits => "set a resource limit",
            Self::Calls => "filter system calls",
        };
        StartError::sandbox(SandboxError::Refused { part, source: error })
    }
}

/// Closes all descriptors above stderr but one, which closes itself at `execve`.
fn close_others(kept: Option<RawFd>) -> Result<(), Errno> {
    const FIRST: c_long = 3;
    const LAST: c_long = u32::MAX as c_long;
    // SAFETY: takes numbers, and closes the child's own copies.
    let close = |from: c_long, to: c_long| checked(unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) });
    let Some(kept) = kept.map(c_long::from) else { return close(FIRST, LAST) };
    if kept > FIRST {
        close(FIRST, kept - 1)?;
    }
    close(kept + 1, LAST)
}

fn restrict_files(ruleset: RawFd) -> Result<(), Errno> {
    // SAFETY: takes numbers.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

fn filter_calls(code: BpfProgramRef<'_>) -> Result<(), Errno> {
    let len = u16::try_from(code.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: code.as_ptr().cast_mut().cast() };
    // SAFETY: the length is that of the program, and its steps have the layout of the kernel. The kernel only reads it.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

/// Resets all signal handlers of the host, since they must not run in the child. `SIGPIPE` gets its default action too: Rust
/// programs ignore it, but new programs expect the default. Other ignored signals stay ignored.
fn reset_signal_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: both structures are on this stack, and all zero is the default action. For signals without an action the call
        // fails and changes nothing.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            let handled = !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN);
            if known && (handled || signal == libc::SIGPIPE) {
                libc::sigaction(signal, &zeroed(), ptr::null_mut());
            }
        }
    }
}

fn all_signals() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call writes the whole set.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
        set.assume_init()
    }
}

fn no_signals() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call writes the whole set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}

/// Sets the blocked signals of this thread. Returns those that were blocked before.
fn set_signal_mask(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = no_signals();
    // SAFETY: both sets are initialised.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before) };
    before
}

fn checked(result: c_long) -> Result<(), Errno> {
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}
