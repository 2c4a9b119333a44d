//! [`RunOutput`]: the result of a run, with exit status, captured output and leftover processes.
//!
//! Callers of [`ResolvedCommand::run`](crate::ResolvedCommand::run) get it. This crate does not interpret exit codes.

use std::fmt;
use std::time::Duration;

use crate::sandbox::LimitExceeded;

/// Result of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOutput {
    /// Exit status of the process.
    pub exit: Exit,
    /// `true` if the process was ended at the timeout.
    pub timed_out: bool,
    /// The limit of the sandbox for which the process was ended.
    pub limit_exceeded: Option<LimitExceeded>,
    /// Output on stdout.
    pub stdout: CapturedStream,
    /// Output on stderr.
    pub stderr: CapturedStream,
    /// Time from the start to this result, including the end of leftovers.
    pub duration: Duration,
    /// Processes other than the first that were alive after the exit or at the timeout.
    pub leftovers: Vec<Leftover>,
    /// `true` if a shell text ran without its shell. Affects only the speed.
    pub ran_without_shell: bool,
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Exited with this code.
    Exited(i32),
    /// Ended by a signal with this number.
    Signalled(i32),
}

impl Exit {
    /// The exit code. `None` after a signal.
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(_) => None,
        }
    }

    /// `true` if the exit code is 0.
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit {code}"),
            Self::Signalled(number) => write!(f, "signal {number}"),
        }
    }
}

/// Output of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CapturedStream {
    /// The bytes up to the cap.
    pub bytes: Vec<u8>,
    /// Number of bytes read, including dropped ones.
    pub total: u64,
    /// `true` if bytes were dropped because of the cap.
    pub cut: bool,
    /// `true` if the stream reached its end. Otherwise another process still held it open when reading stopped.
    pub ended: bool,
}

/// A process that was alive after the first one exited, or at the timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// Process id. On systems other than Linux and Windows, the id of the process group.
    pub pid: u32,
    /// Short name of the process. Empty if unknown.
    pub name: String,
    /// `true` if the process has ended. Otherwise it was left running on purpose or could not be ended.
    pub ended: bool,
}
