//! The start of a process: its streams, the process itself, and the wait for its exit.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{OFlags, fcntl_setfl};
use tokio::net::unix::pipe;

use super::child::Child;
use super::reader::PipeReader;
#[cfg(target_os = "linux")]
use super::sandbox;
use super::spawn;
use super::stdin::Source;
use crate::launch::{SpawnSpec, StartError};
use crate::stdin::Stdin;

pub(crate) type Writer = pipe::Sender;

/// A process that runs, and our ends of its streams.
pub(crate) struct RunningChild {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// Starts a process. Returns when it executes its program: a missing program is an error here.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O enabled.
pub(crate) fn start(launch: &SpawnSpec<'_>, stdin: &Stdin) -> Result<RunningChild, StartError> {
    let (stdio, pipes) = streams(stdin, launch.stdout_closed).map_err(StartError::before)?;
    // After this, an early return or a panic ends the process: `child` does that when it is dropped.
    let mut child = spawn(launch, stdio)?;
    child.watch().map_err(StartError::after)?;
    pipes.with_child(child, stdin).map_err(StartError::after)
}

#[cfg(target_os = "linux")]
fn spawn(launch: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Child, StartError> {
    let marker = launch.marker.clone();
    let Some(limits) = launch.place.sandboxed() else {
        return Ok(Child::new(spawn::spawn(launch, stdio)?, marker));
    };
    let prepared = sandbox::PreparedSandbox::new(limits, launch).map_err(StartError::sandbox)?;
    let pid = sandbox::spawn(launch, &prepared, &stdio)?;
    Ok(Child::new(pid, marker).confined(sandbox::UsageMonitor::new(pid, limits)))
}

#[cfg(not(target_os = "linux"))]
fn spawn(launch: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Child, StartError> {
    Ok(Child::new(spawn::spawn(launch, stdio)?, launch.marker.clone()))
}

/// The stdin, stdout and stderr of a new process. All have numbers above 2.
pub(super) struct ChildStdio(pub(super) [OwnedFd; 3]);

/// Our ends of a process's pipes.
struct ParentPipes {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl ParentPipes {
    fn with_child(self, child: Child, stdin: &Stdin) -> io::Result<RunningChild> {
        let writer = match self.stdin {
            Some(end) => {
                super::stdin::widen(&end, stdin.len());
                Some(Writer::from_owned_fd_unchecked(without_blocking(end)?)?)
            }
            None => None,
        };
        Ok(RunningChild {
            child,
            writer,
            stdout: PipeReader::new(without_blocking(self.stdout)?),
            stderr: PipeReader::new(without_blocking(self.stderr)?),
        })
    }
}

/// Makes the streams of a new process and our ends of them.
fn streams(stdin: &Stdin, stdout_closed: bool) -> io::Result<(ChildStdio, ParentPipes)> {
    let (child_in, parent_in) = match Source::new(stdin) {
        Source::Null => (OwnedFd::from(File::open("/dev/null")?), None),
        Source::File(file) => (file, None),
        Source::Pipe => {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(OwnedFd::from(writer)))
        }
    };
    let (mut parent_out, child_out) = io::pipe()?;
    let (parent_err, child_err) = io::pipe()?;
    if stdout_closed {
        // The read end is closed before the process starts, so that its first write fails as well. We read from a pipe at its end.
        parent_out = io::pipe()?.0;
    }
    let stdio = ChildStdio([above_stderr(child_in)?, above_stderr(child_out.into())?, above_stderr(child_err.into())?]);
    Ok((stdio, ParentPipes { stdin: parent_in, stdout: parent_out.into(), stderr: parent_err.into() }))
}

/// Moves a descriptor above stderr. In a host without stdin, stdout or stderr, new descriptors get these numbers, and one copy would
/// overwrite the next.
fn above_stderr(stream: OwnedFd) -> io::Result<OwnedFd> {
    const FIRST: i32 = 3;
    if stream.as_raw_fd() >= FIRST {
        return Ok(stream);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&stream, FIRST)?)
}

/// Sets only our end: the process has one of its own, which must block.
fn without_blocking(end: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&end, OFlags::NONBLOCK)?;
    Ok(end)
}
