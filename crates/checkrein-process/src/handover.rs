//! [`Handover`]: a process that another process of the user has started and hands over.
//!
//! The resident process starts interpreters ahead of their events. `checkrein hook` takes one over and supervises it by the same
//! rules as a process of its own. The starting process stays the parent: it reports the exit status, and it must not reap the
//! process before the connection ends.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use crate::error::RunError;
use crate::limits::Limits;
use crate::marker::Marker;
use crate::run_output::{Exit, RunOutput};
use crate::stdin::Stdin;
use crate::supervise;
use crate::sys;

/// A process that waits for its input, with the ends of its streams.
#[derive(Debug)]
pub struct Handover {
    /// The program, for messages.
    pub program: PathBuf,
    /// Process id. The process leads its own group.
    pub pid: u32,
    /// Value of [`MARKER`](crate::MARKER) in the environment that the process was started with.
    pub marker: OsString,
    /// Write end of its stdin.
    pub stdin: OwnedFd,
    /// Read end of its stdout.
    pub stdout: OwnedFd,
    /// Read end of its stderr.
    pub stderr: OwnedFd,
    /// Connection to its parent, which sends one [`ExitReport`] on it. The parent reaps the process when the connection ends.
    pub parent: UnixStream,
}

impl Handover {
    /// Feeds the process and supervises it to its end, as [`ResolvedCommand::run`](crate::ResolvedCommand::run) does.
    ///
    /// Dropping the future kills all processes of the run.
    ///
    /// # Errors
    ///
    /// The process is not the one with the marker, or its parent ended before it reported the exit status. All processes of the
    /// run are killed then.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub async fn run(self, stdin: &Stdin, limits: &Limits) -> Result<RunOutput, RunError> {
        let begun = Instant::now();
        let program = self.program.clone();
        let lost = |source| RunError::Lost { program: program.clone(), source };
        let marker = Marker::from_value(self.marker.clone());
        let started = sys::adopt(self, marker, stdin).map_err(lost)?;
        supervise::run_to_completion(started, stdin, limits, begun).await.map_err(lost)
    }
}

/// Exit status of a process, as its parent sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitReport(pub Exit);

impl ExitReport {
    /// Length of a report in bytes.
    pub const LEN: usize = 5;

    /// Encodes the report.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let (kind, number) = match self.0 {
            Exit::Exited(code) => (0, code),
            Exit::Signalled(signal) => (1, signal),
        };
        let [a, b, c, d] = number.to_be_bytes();
        [kind, a, b, c, d]
    }

    /// Decodes a report. `None` if it is malformed.
    pub fn from_bytes([kind, number @ ..]: [u8; Self::LEN]) -> Option<Self> {
        let number = i32::from_be_bytes(number);
        match kind {
            0 => Some(Self(Exit::Exited(number))),
            1 => Some(Self(Exit::Signalled(number))),
            _ => None,
        }
    }
}

/// Returns a new random value for [`MARKER`](crate::MARKER), for a process that is handed over later.
pub fn new_marker() -> OsString {
    Marker::new_inner().value().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_report_survives_a_round_trip() {
        for exit in [Exit::Exited(0), Exit::Exited(255), Exit::Signalled(9), Exit::Exited(-1)] {
            assert_eq!(ExitReport::from_bytes(ExitReport(exit).to_bytes()), Some(ExitReport(exit)));
        }
        assert_eq!(ExitReport::from_bytes([7, 0, 0, 0, 0]), None);
    }
}
