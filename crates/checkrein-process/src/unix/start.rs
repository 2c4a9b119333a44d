//! Start of a process: creates its streams, spawns it and registers the wait for its exit.

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

/// A running process and the host's ends of its streams.
pub(crate) struct RunningChild {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// Starts a process. Returns after it has executed its program, so a missing program is an error here.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O enabled.
pub(crate) fn start(spec: &SpawnSpec<'_>, stdin: &Stdin) -> Result<RunningChild, StartError> {
    let (stdio, pipes) = create_streams(stdin, spec.stdout_closed).map_err(StartError::before)?;
    // An early return or a panic after this drops `child`, which kills the process.
    let mut child = spawn(spec, stdio)?;
    child.watch().map_err(StartError::after)?;
    pipes.with_child(child, stdin).map_err(StartError::after)
}

#[cfg(target_os = "linux")]
fn spawn(spec: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Child, StartError> {
    let marker = spec.marker.clone();
    let Some(limits) = spec.context.sandboxed() else {
        return Ok(Child::new(spawn::spawn(spec, stdio)?, marker));
    };
    let prepared = sandbox::PreparedSandbox::new(limits, spec).map_err(StartError::sandbox)?;
    let pid = sandbox::spawn(spec, &prepared, &stdio)?;
    Ok(Child::new(pid, marker).with_sandbox(sandbox::UsageMonitor::new(pid, limits, spec.temporary)))
}

#[cfg(not(target_os = "linux"))]
fn spawn(spec: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Child, StartError> {
    Ok(Child::new(spawn::spawn(spec, stdio)?, spec.marker.clone()))
}

/// The stdin, stdout and stderr of a new process. All have numbers above 2.
pub(super) struct ChildStdio(pub(super) [OwnedFd; 3]);

/// The host's ends of the pipes of a process.
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
                Some(Writer::from_owned_fd_unchecked(set_nonblocking(end)?)?)
            }
            None => None,
        };
        Ok(RunningChild {
            child,
            writer,
            stdout: PipeReader::new(set_nonblocking(self.stdout)?),
            stderr: PipeReader::new(set_nonblocking(self.stderr)?),
        })
    }
}

/// Creates the streams of a new process and the host's ends of them.
fn create_streams(stdin: &Stdin, stdout_closed: bool) -> io::Result<(ChildStdio, ParentPipes)> {
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
        // The read end is closed before the process starts, so that its first write fails too. The host reads from another
        // pipe, which has ended.
        parent_out = io::pipe()?.0;
    }
    let stdio = ChildStdio([above_stderr(child_in)?, above_stderr(child_out.into())?, above_stderr(child_err.into())?]);
    Ok((stdio, ParentPipes { stdin: parent_in, stdout: parent_out.into(), stderr: parent_err.into() }))
}

/// Moves a descriptor above stderr. In a host without stdin, stdout or stderr, new descriptors get these numbers, and one
/// `dup2` in the child would overwrite another descriptor.
fn above_stderr(stream: OwnedFd) -> io::Result<OwnedFd> {
    const FIRST: i32 = 3;
    if stream.as_raw_fd() >= FIRST {
        return Ok(stream);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&stream, FIRST)?)
}

/// Makes the host's end nonblocking. The end of the process must keep blocking.
pub(super) fn set_nonblocking(end: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&end, OFlags::NONBLOCK)?;
    Ok(end)
}
