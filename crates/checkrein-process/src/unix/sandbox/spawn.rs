//! Spawning of a process in its sandbox.
//!
//! The child shares the host's memory until it executes its program, and the thread that starts it is suspended so long
//! (`CLONE_VM | CLONE_VFORK`, as in `posix_spawn`). So nothing is copied, and all that the child needs can live on the stack and heap
//! of that thread. Between its first instruction and `execve` the child makes system calls and nothing else: it allocates nothing,
//! takes no lock and never panics. `posix_spawn` itself cannot be used: it has no actions for Landlock, seccomp and limits.

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

/// Spawns a process that enters its sandbox and executes its program. Returns when it has, or has failed.
pub(in super::super) fn spawn(
    launch: &SpawnSpec<'_>,
    sandbox: &PreparedSandbox,
    stdio: &ChildStdio,
) -> Result<Pid, StartError> {
    let strings = ExecStrings::new(launch).map_err(StartError::before)?;
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
    // Its status says nothing, and the host may have taken it.
    while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(Errno::INTR)) {}
    Err(setup.step.failure(error.into(), launch))
}

/// The strings that `execve` takes.
struct ExecStrings {
    program: CString,
    cwd: CString,
    args: Vec<CString>,
    variables: Vec<CString>,
}

impl ExecStrings {
    fn new(launch: &SpawnSpec<'_>) -> io::Result<Self> {
        let string = |text: &OsStr| CString::new(text.as_bytes());
        let mut variables = Vec::new();
        for (name, value) in launch.variables().collect::<BTreeMap<_, _>>() {
            variables.push(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?);
        }
        Ok(Self {
            program: string(launch.program.as_os_str())?,
            cwd: string(launch.place.cwd().as_os_str())?,
            args: std::iter::once(launch.arg0).chain(launch.args.iter()).map(string).collect::<Result<_, _>>()?,
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
    // A signal in the child must not run one of the host's handlers, which would work on the host's memory.
    let blocked = set_signal_mask(&all_signals());
    // SAFETY: the stack and the setup outlive the child's use of them, since this thread is suspended so long. The end of the stack is
    // aligned for a call. `child_main` expects a setup, and does nothing that would harm the memory that it shares.
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
        // A group of its own, and a session: without the host's terminal, and where the kernel shares processors among sessions,
        // processes that multiply take nothing from the host, which has to end them.
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

/// The last thing that the child did, for the error.
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
    fn failure(self, error: io::Error, launch: &SpawnSpec<'_>) -> StartError {
        let part = match self {
            Self::Start | Self::Directory => return StartError::before(error),
            Self::Execute if error.kind() == io::ErrorKind::PermissionDenied => {
                let program = launch.place.cwd().join(launch.program);
                return StartError::sandbox(SandboxError::OutOfReach { program });
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
    // SAFETY: the program is as long as it says and its steps have the kernel's layout. The kernel only reads it.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

/// Sets all handlers of the host to their defaults, since they must not run in the child. `SIGPIPE` gets its default as well: Rust
/// programs ignore it, and a new program expects otherwise. Other ignored signals stay ignored.
fn reset_signal_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: both structures live on this stack, and all zero is the default action. For signals that have no action the call
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
