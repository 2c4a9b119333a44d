//! Exit of a process whose parent is another process of the user.

use std::io;

use rustix::process::Pid;
use tokio::net::UnixStream;

use super::child::Child;
use super::procfs::{self, HasMarker, Stat};
use super::procfs_tree::ProcEntry;
use super::reader::PipeReader;
use super::start::{RunningChild, Writer, set_nonblocking};
use crate::handover::{ExitReport, Handover};
use crate::marker::Marker;
use crate::run_output::Exit;
use crate::stdin::Stdin;

/// A process of another parent, and the connection on which that parent reports its exit status.
pub(super) struct ForeignProcess {
    entry: ProcEntry,
    parent: UnixStream,
    report: [u8; ExitReport::LEN],
    received: usize,
}

impl ForeignProcess {
    /// Waits for the report. Cancel-safe.
    pub(super) async fn exited(&mut self) -> io::Result<()> {
        while self.report()?.is_none() {
            self.parent.readable().await?;
        }
        Ok(())
    }

    /// The exit status, if the parent has reported it.
    pub(super) fn report(&mut self) -> io::Result<Option<Exit>> {
        while self.received < ExitReport::LEN {
            match self.parent.try_read(&mut self.report[self.received..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.received += read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let report = ExitReport::from_bytes(self.report).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some(report.0))
    }

    pub(super) fn is_alive(&self) -> bool {
        self.entry.is_alive()
    }
}

/// Takes over a process.
///
/// The marker proves that the process is the one that its parent started, and not another one with its id.
pub(crate) fn adopt(handover: Handover, marker: Marker, stdin: &Stdin) -> io::Result<RunningChild> {
    let gone = || io::Error::new(io::ErrorKind::NotFound, "the process is not the one with the marker");
    let pid = i32::try_from(handover.pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let number = pid.as_raw_nonzero().get();
    let last = procfs::last_pid();
    let stat = Stat::read(number).filter(|stat| stat.is_alive() && stat.group == number).ok_or_else(gone)?;
    if !procfs::is_ours() || procfs::has_marker(number, &marker) != HasMarker::Yes {
        return Err(gone());
    }
    handover.parent.set_nonblocking(true)?;
    let parent = UnixStream::from_std(handover.parent)?;
    let foreign = ForeignProcess { entry: ProcEntry::new(stat), parent, report: [0; ExitReport::LEN], received: 0 };
    // From here on, an error drops the child, which kills the process.
    let child = Child::foreign(pid, marker, foreign, last);
    super::stdin::widen(&handover.stdin, stdin.len());
    Ok(RunningChild {
        child,
        writer: Some(Writer::from_owned_fd_unchecked(set_nonblocking(handover.stdin)?)?),
        stdout: PipeReader::new(set_nonblocking(handover.stdout)?),
        stderr: PipeReader::new(set_nonblocking(handover.stderr)?),
    })
}
