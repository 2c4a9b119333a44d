//! Processes on Windows: one job object each, which holds whatever the process starts. Compiled, but not yet run.

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

use crate::launch::{Args, SpawnSpec, StartError};
use crate::place::Place;
use crate::reply::{Exit, Leftover};
use crate::sandbox::Over;
pub(crate) use crate::sandbox::nowhere::{Temporary, temporary};
use crate::stdin::Stdin;

/// Windows passes on only handles that are named.
pub(crate) fn close_descriptors_on_exec() {}

/// A job ends with its last handle, so nothing is left to wait for.
pub(crate) fn reap_dropped(_: Duration) -> bool {
    true
}

/// Whether texts that need no shell are run without one.
pub(crate) const HAS_DIRECT: bool = false;

/// The exit code of processes that are ended.
const ENDED: u32 = 1;
/// How long processes may take to end.
const END_WAIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// Our end of a process's output.
pub(crate) struct PipeReader(Box<dyn AsyncRead + Send + Unpin>);

impl PipeReader {
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        Pin::new(&mut self.0).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }
}

/// Streams are read from the start.
pub(crate) const UNREAD: Duration = Duration::ZERO;

pub(crate) type Writer = ChildStdin;

/// Whether the host may execute a file. Windows asks only for the right ending.
pub(crate) fn may_execute(_: &Path) -> bool {
    true
}

/// The file names that a program's name stands for: with each ending of `PATHEXT`, or as it is, if it has one.
pub(crate) fn file_names(name: &OsStr, place: &Place) -> impl Iterator<Item = OsString> + use<> {
    let with_ending = Path::new(name).extension().is_some();
    let endings = place.var("PATHEXT").and_then(OsStr::to_str).unwrap_or(".COM;.EXE;.BAT;.CMD");
    let endings: Vec<String> = endings.split(';').map(str::to_owned).collect();
    let name = name.to_owned();
    let plain = with_ending.then(|| name.clone());
    plain.into_iter().chain(endings.into_iter().map(move |ending| {
        let mut full = name.clone();
        full.push(ending);
        full
    }))
}

/// A process that runs, and our ends of its streams.
pub(crate) struct RunningChild {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

pub(crate) fn start(launch: &SpawnSpec<'_>, stdin: &Stdin) -> Result<RunningChild, StartError> {
    let mut command = Command::new(launch.program);
    match launch.args {
        Args::List(args) => command.args(args),
        // cmd does not read arguments as others do: between the outer quotes everything is text.
        Args::Shell(args, text) if is_cmd(launch.program) => {
            let mut quoted = OsString::from("\"");
            quoted.push(text);
            quoted.push("\"");
            command.args(args).raw_arg(quoted)
        }
        Args::Shell(args, text) => command.args(args).arg(text),
    };
    command
        .current_dir(launch.place.cwd())
        .env_clear()
        .envs(launch.variables())
        .stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(if launch.stdout_closed { unread().map_err(StartError::before)? } else { Stdio::piped() })
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // It must be in the job before it can start anything.
        .creation_flags(CREATE_SUSPENDED);

    let job = Job::new().map_err(StartError::before)?;
    let process = command.spawn().map_err(StartError::before)?;
    connect(job, process).map_err(StartError::after)
}

fn connect(job: Job, mut process: tokio::process::Child) -> io::Result<RunningChild> {
    let gone = || io::Error::other("process ended before it began");
    let pid = process.id().ok_or_else(gone)?;
    job.take_in(process.raw_handle().ok_or_else(gone)?)?;
    resume(pid)?;

    let missing = || io::Error::other("stream missing");
    Ok(RunningChild {
        writer: process.stdin.take(),
        stdout: match process.stdout.take() {
            Some(stdout) => PipeReader(Box::new(stdout)),
            // Nobody reads it.
            None => PipeReader(Box::new(tokio::io::empty())),
        },
        stderr: PipeReader(Box::new(process.stderr.take().ok_or_else(missing)?)),
        child: Child { pid, process, job },
    })
}

/// A pipe that nobody reads, from before the process starts.
fn unread() -> io::Result<Stdio> {
    let (_, writer) = io::pipe()?;
    Ok(writer.into())
}

fn is_cmd(program: &Path) -> bool {
    program.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("cmd"))
}

/// A process that we started, with everything that it started. Dropping it ends them all: the job dies with its handle.
pub(crate) struct Child {
    pid: u32,
    process: tokio::process::Child,
    job: Job,
}

impl Child {
    /// Waits until the first process has exited. There are no sandboxes that could be too full.
    pub(crate) async fn exited_or_over(&mut self) -> io::Result<Option<Over>> {
        self.process.wait().await.map(|_| None)
    }

    /// Whether the first process exits this very moment.
    pub(crate) fn exits_now(&mut self) -> bool {
        self.process.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Whether provably nothing is left beside the first process, which has exited.
    pub(crate) fn has_no_descendants(&mut self) -> io::Result<bool> {
        Ok(self.others()?.is_empty())
    }

    /// What is left beside the first process, which has exited. It may go on.
    #[expect(clippy::unused_async, reason = "its twin waits")]
    pub(crate) async fn left(&mut self) -> io::Result<Vec<Leftover>> {
        let others = self.others()?;
        self.job.ends_on_close(false)?;
        Ok(others.into_iter().map(|pid| report(pid, false)).collect())
    }

    /// Ends everything. There is no gentle way that works for all programs, so the grace is not used.
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

    /// Takes the exit code.
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

/// A job object: the processes in it, and all that they start.
struct Job(OwnedHandle);

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: both pointers may be null: no security attributes, no name.
        let handle = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        let job = Self(owned(handle)?);
        job.ends_on_close(true)?;
        Ok(job)
    }

    fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Whether the processes in it end when the job's handle is closed.
    fn ends_on_close(&self, ends: bool) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        if ends {
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

    fn take_in(&self, process: HANDLE) -> io::Result<()> {
        // SAFETY: both handles are open.
        checked(unsafe { AssignProcessToJobObject(self.handle(), process) })
    }

    fn end(&self) {
        // SAFETY: the handle is open. An error means that nobody is there.
        let _ = unsafe { TerminateJobObject(self.handle(), ENDED) };
    }

    /// The processes in it that live.
    fn members(&self) -> io::Result<Vec<u32>> {
        const ROOM: usize = 1024;
        #[repr(C)]
        struct List {
            head: JOBOBJECT_BASIC_PROCESS_ID_LIST,
            more: [usize; ROOM],
        }
        let mut list = Box::new(List { head: JOBOBJECT_BASIC_PROCESS_ID_LIST::default(), more: [0; ROOM] });
        // SAFETY: the pointer and the size are those of a live structure that begins as the named kind does and has
        // room behind its last field, which is an array of any length. The length that was written may be null.
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

/// Lets a process begin that was created suspended. It has one thread.
fn resume(pid: u32) -> io::Result<()> {
    // SAFETY: plain numbers go in, a handle or the invalid value comes out.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    let snapshot = owned(snapshot)?;
    let mut entry = THREADENTRY32 { dwSize: small_size::<THREADENTRY32>(), ..THREADENTRY32::default() };
    // SAFETY: the handle is open and the entry says its own size.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) } != 0;
    while more {
        if entry.th32OwnerProcessID == pid {
            // SAFETY: plain numbers go in, a handle or null comes out.
            let thread = owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) })?;
            // SAFETY: the handle is open and has the right that is needed.
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
    // SAFETY: the handle was just made for us, is not null, and nobody else closes it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn checked(done: i32) -> io::Result<()> {
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The size of a structure, as the system wants it.
const fn small_size<T>() -> u32 {
    assert!(size_of::<T>() <= u32::MAX as usize);
    size_of::<T>() as u32
}
