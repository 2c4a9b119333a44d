//! Processes on Windows. Each run has a job object, which contains all its processes.
//!
//! `unix/` has the same interface. The module compiles, but no test has run on Windows yet.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStdin, Command};
use tokio::time::{self, Instant};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_PROCESS_ID_LIST,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

use crate::exec_context::ExecContext;
use crate::launch::{Args, SpawnSpec, StartError};
use crate::run_output::{Exit, Leftover};
use crate::sandbox::LimitExceeded;
pub(crate) use crate::sandbox::unsupported::{Temporary, temporary};
use crate::stdin::Stdin;

/// Does nothing: on Windows, children inherit only listed handles.
pub(crate) fn close_descriptors_on_exec() {}

/// Does nothing: Windows has no such signal.
pub(crate) fn survive_file_size_limit() {}

/// Windows has no user database with home directories.
pub(crate) fn user_home() -> Option<std::path::PathBuf> {
    None
}

/// Not implemented on Windows.
pub(crate) fn user_name() -> Option<OsString> {
    None
}

/// A job ends with its last handle, so nothing is left to wait for.
pub(crate) fn reap_dropped(_: Duration) -> bool {
    true
}

/// `true` if simple shell texts run without a shell on this system.
pub(crate) const HAS_DIRECT: bool = false;

/// The exit code of terminated processes.
const ENDED: u32 = 1;
/// Maximum time to wait for terminated processes.
const END_WAIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// Read end of an output pipe.
pub(crate) struct PipeReader(Box<dyn AsyncRead + Send + Unpin>);

impl PipeReader {
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        Pin::new(&mut self.0).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }
}

/// Output is read from the start.
pub(crate) const READ_DELAY: Duration = Duration::ZERO;

pub(crate) type Writer = ChildStdin;

/// Always returns `true`: Windows decides by the file extension.
pub(crate) fn may_execute(_: &Path) -> bool {
    true
}

/// File names to search for a program: the name itself if it has an extension, and the name with each extension of `PATHEXT`.
pub(crate) fn file_names(name: &OsStr, context: &ExecContext) -> impl Iterator<Item = OsString> + use<> {
    let has_extension = Path::new(name).extension().is_some();
    let extensions = context.var("PATHEXT").and_then(OsStr::to_str).unwrap_or(".COM;.EXE;.BAT;.CMD");
    let extensions: Vec<String> = extensions.split(';').map(str::to_owned).collect();
    let name = name.to_owned();
    let plain = has_extension.then(|| name.clone());
    plain.into_iter().chain(extensions.into_iter().map(move |extension| {
        let mut full = name.clone();
        full.push(extension);
        full
    }))
}

/// A running process and the host's ends of its streams.
pub(crate) struct RunningChild {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

pub(crate) fn start(spec: &SpawnSpec<'_>, stdin: &Stdin) -> Result<RunningChild, StartError> {
    let mut command = Command::new(spec.program);
    match spec.args {
        Args::List(args) => command.args(args),
        // cmd has its own parsing of arguments: everything between the outer quotes is text.
        Args::Shell(args, text) if is_cmd(spec.program) => {
            let mut quoted = OsString::from("\"");
            quoted.push(text);
            quoted.push("\"");
            command.args(args).raw_arg(quoted)
        }
        Args::Shell(args, text) => command.args(args).arg(text),
    };
    command
        .current_dir(spec.context.cwd())
        .env_clear()
        .envs(spec.variables())
        .stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(if spec.stdout_closed { closed_pipe().map_err(StartError::before)? } else { Stdio::piped() })
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // The process must be in the job before it can start others.
        .creation_flags(CREATE_SUSPENDED);

    let job = Job::new().map_err(StartError::before)?;
    let process = command.spawn().map_err(StartError::before)?;
    connect(job, process).map_err(StartError::after)
}

fn connect(job: Job, mut process: tokio::process::Child) -> io::Result<RunningChild> {
    let gone = || io::Error::other("the process ended before it was resumed");
    let pid = process.id().ok_or_else(gone)?;
    job.add(process.raw_handle().ok_or_else(gone)?)?;
    resume(pid)?;

    let missing = || io::Error::other("the process has no stderr");
    Ok(RunningChild {
        writer: process.stdin.take(),
        stdout: match process.stdout.take() {
            Some(stdout) => PipeReader(Box::new(stdout)),
            // stdout is closed.
            None => PipeReader(Box::new(tokio::io::empty())),
        },
        stderr: PipeReader(Box::new(process.stderr.take().ok_or_else(missing)?)),
        child: Child { pid, process, job },
    })
}

/// A pipe whose read end is closed, so that writes fail.
fn closed_pipe() -> io::Result<Stdio> {
    let (_, writer) = io::pipe()?;
    Ok(writer.into())
}

fn is_cmd(program: &Path) -> bool {
    program.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("cmd"))
}

/// A started process with its descendants. Dropping it ends them all: the job ends when its handle is closed.
pub(crate) struct Child {
    pid: u32,
    process: tokio::process::Child,
    job: Job,
}

impl Child {
    /// Waits until the first process has exited. Windows has no sandboxes, so no limit is exceeded.
    pub(crate) async fn exited_or_exceeded(&mut self) -> io::Result<Option<LimitExceeded>> {
        self.process.wait().await.map(|_| None)
    }

    /// Returns `true` if the first process has exited.
    pub(crate) fn is_about_to_exit(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Returns `true` if only the first process, which has exited, is left.
    pub(crate) fn reap_and_check_descendants(&mut self) -> io::Result<bool> {
        Ok(self.others()?.is_empty())
    }

    /// Returns the processes other than the first, which has exited, and keeps them running.
    #[expect(clippy::unused_async, reason = "the function for Unix is async")]
    pub(crate) async fn leftovers(&mut self) -> io::Result<Vec<Leftover>> {
        let others = self.others()?;
        self.job.set_kill_on_close(false)?;
        Ok(others.into_iter().map(|pid| report(pid, false)).collect())
    }

    /// Ends all processes. Windows has no TERM that works for all programs, so the grace period is not used.
    pub(crate) async fn end(&mut self, _: Duration) -> Vec<Leftover> {
        let found = self.others().unwrap_or_default();
        self.job.end();
        let _ = time::timeout(END_WAIT, self.process.wait()).await;
        let until = Instant::now() + END_WAIT;
        while self.others().is_ok_and(|others| !others.is_empty()) && Instant::now() < until {
            time::sleep(PAUSE).await;
        }
        let alive = self.others().unwrap_or_default();
        found.into_iter().map(|pid| report(pid, !alive.contains(&pid))).collect()
    }

    /// Returns the exit code.
    pub(crate) fn reap(mut self) -> io::Result<Exit> {
        let status = self.process.try_wait()?;
        let code = status.and_then(|status| status.code());
        Ok(Exit::Exited(code.unwrap_or(ENDED.cast_signed())))
    }

    fn others(&self) -> io::Result<Vec<u32>> {
        let mut pids = self.job.members()?;
        pids.retain(|&pid| pid != self.pid);
        Ok(pids)
    }
}

fn report(pid: u32, ended: bool) -> Leftover {
    Leftover { pid, name: String::new(), ended }
}

/// A job object. Descendants of its processes are in the job too.
struct Job(OwnedHandle);

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: both pointers may be null: no security attributes, no name.
        let handle = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        let job = Self(owned(handle)?);
        job.set_kill_on_close(true)?;
        Ok(job)
    }

    fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Sets whether the processes end when the handle of the job is closed.
    fn set_kill_on_close(&self, kill: bool) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        if kill {
            limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        }
        // SAFETY: the pointer and the size are those of a live structure of the kind that is named.
        let done = unsafe {
            SetInformationJobObject(
                self.handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                small_size::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            )
        };
        checked(done)
    }

    fn add(&self, process: HANDLE) -> io::Result<()> {
        // SAFETY: both handles are open.
        checked(unsafe { AssignProcessToJobObject(self.handle(), process) })
    }

    fn end(&self) {
        // SAFETY: the handle is open. An error means that the job is empty.
        let _ = unsafe { TerminateJobObject(self.handle(), ENDED) };
    }

    /// Ids of the living processes.
    fn members(&self) -> io::Result<Vec<u32>> {
        const CAPACITY: usize = 1024;
        #[repr(C)]
        struct List {
            head: JOBOBJECT_BASIC_PROCESS_ID_LIST,
            more: [usize; CAPACITY],
        }
        let mut list = Box::new(List { head: JOBOBJECT_BASIC_PROCESS_ID_LIST::default(), more: [0; CAPACITY] });
        // SAFETY: the pointer and the size are those of a live structure that starts with the requested type and has
        // space after its last field, an array of variable length. The pointer for the written length may be null.
        let done = unsafe {
            QueryInformationJobObject(
                self.handle(),
                JobObjectBasicProcessIdList,
                (&raw mut *list).cast(),
                small_size::<List>(),
                std::ptr::null_mut(),
            )
        };
        checked(done)?;
        let count = usize::try_from(list.head.NumberOfProcessIdsInList).unwrap_or(usize::MAX);
        let pids = list.head.ProcessIdList.iter().chain(&list.more).take(count);
        Ok(pids.filter_map(|&pid| u32::try_from(pid).ok()).collect())
    }
}

/// Resumes a process that was created suspended. It has one thread.
fn resume(pid: u32) -> io::Result<()> {
    // SAFETY: takes numbers, and returns a handle or the invalid value.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    let snapshot = owned(snapshot)?;
    let mut entry = THREADENTRY32 { dwSize: small_size::<THREADENTRY32>(), ..THREADENTRY32::default() };
    // SAFETY: the handle is open and the entry contains its own size.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) } != 0;
    while more {
        if entry.th32OwnerProcessID == pid {
            // SAFETY: takes numbers, and returns a handle or null.
            let thread = owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) })?;
            // SAFETY: the handle is open and has the required right.
            return match unsafe { ResumeThread(thread.as_raw_handle()) } {
                u32::MAX => Err(io::Error::last_os_error()),
                _ => Ok(()),
            };
        }
        // SAFETY: as above.
        more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) } != 0;
    }
    Err(io::Error::other("the process has no thread"))
}

fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and not null, and no other code closes it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn checked(done: i32) -> io::Result<()> {
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The size of a structure as `u32`, which the system expects.
const fn small_size<T>() -> u32 {
    assert!(size_of::<T>() <= u32::MAX as usize);
    size_of::<T>() as u32
}
