use std::fmt;
use std::time::Duration;

use crate::sandbox::LimitExceeded;

/// What came of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOutput {
    /// How the process ended.
    pub exit: Exit,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// The limit of its sandbox that it went over, if it was ended for that.
    pub limit_exceeded: Option<LimitExceeded>,
    /// What it printed on stdout.
    pub stdout: CapturedStream,
    /// What it printed on stderr.
    pub stderr: CapturedStream,
    /// From the start to the complete reply. Ending leftovers counts.
    pub duration: Duration,
    /// Processes other than the first that were still there: after the exit, or when the time was up.
    pub leftovers: Vec<Leftover>,
    /// Whether it ran without the shell that it was written for. Only of interest for speed.
    pub ran_without_shell: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal with this number.
    Signalled(i32),
}

impl Exit {
    /// The exit code, if it ended by itself.
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(_) => None,
        }
    }

    /// Whether it ended by itself with 0.
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

/// What was read from one stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CapturedStream {
    /// The bytes that were kept: all, or the first up to the cap.
    pub bytes: Vec<u8>,
    /// How many bytes were seen.
    pub total: u64,
    /// Whether bytes were dropped because of the cap.
    pub cut: bool,
    /// Whether the stream came to its end. If not, another process still held it when reading stopped.
    pub ended: bool,
}

/// A process that was still there when the first one was done, or when the time was up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// Its process id. Where processes can't be listed (not on Linux, not on Windows), that of their group.
    pub pid: u32,
    /// Its short name, as the system has it; empty where that is not known.
    pub name: String,
    /// Whether it is gone. If not, it was left on purpose, or it could not be ended.
    pub ended: bool,
}
