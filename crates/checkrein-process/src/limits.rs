//! [`Limits`]: timeout and output caps of a run, and the treatment of processes that are alive after it.
//!
//! Callers set them, and [`supervise`](crate::supervise) enforces them. Limits of CPU time and memory are in
//! [`Sandbox`](crate::Sandbox).

use std::time::Duration;

/// Timeout, output caps and treatment of leftover processes.
///
/// ```
/// use checkrein_process::{Leftovers, Limits};
/// use std::time::Duration;
///
/// let limits = Limits::new(Duration::from_secs(5)).output_cap(64 * 1024).leftovers(Leftovers::Leave);
/// assert_eq!(limits.stdout_cap, limits.stderr_cap);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum duration of a run, including the transfer of stdin and output.
    pub timeout: Duration,
    /// Number of bytes of stdout to keep. The rest is read and dropped.
    pub stdout_cap: usize,
    /// `true` if stdout has no reader, so that writes to it fail.
    pub stdout_closed: bool,
    /// Number of bytes of stderr to keep. The rest is read and dropped.
    pub stderr_cap: usize,
    /// Time to read output after the process has exited, if another process holds its streams open.
    pub drain_grace: Duration,
    /// Time between TERM and KILL.
    pub term_grace: Duration,
    /// Treatment of processes that are alive after a normal exit.
    pub leftovers: Leftovers,
}

impl Limits {
    /// Limits with this timeout and defaults: 1 MiB of each stream, 100 ms of drain, 500 ms from TERM to KILL, leftovers ended.
    pub const fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            stdout_closed: false,
            stdout_cap: 1 << 20,
            stderr_cap: 1 << 20,
            drain_grace: Duration::from_millis(100),
            term_grace: Duration::from_millis(500),
            leftovers: Leftovers::End,
        }
    }

    /// Sets the cap of stdout and of stderr.
    #[must_use]
    pub const fn output_cap(mut self, bytes: usize) -> Self {
        self.stdout_cap = bytes;
        self.stderr_cap = bytes;
        self
    }

    /// Sets the time to read output after the exit.
    #[must_use]
    pub const fn drain_grace(mut self, grace: Duration) -> Self {
        self.drain_grace = grace;
        self
    }

    /// Leaves stdout without a reader, so that writes to it fail.
    #[must_use]
    pub const fn close_stdout(mut self) -> Self {
        self.stdout_closed = true;
        self
    }

    /// Sets the time between TERM and KILL. With zero, no TERM is sent.
    #[must_use]
    pub const fn term_grace(mut self, grace: Duration) -> Self {
        self.term_grace = grace;
        self
    }

    /// Sets the treatment of leftover processes.
    #[must_use]
    pub const fn leftovers(mut self, leftovers: Leftovers) -> Self {
        self.leftovers = leftovers;
        self
    }
}

/// Treatment of processes that are alive after a normal exit. After a timeout, all are always ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Leftovers {
    /// End them: TERM, a grace period, KILL.
    #[default]
    End,
    /// Keep them running and report them. Their output is read and dropped while the runtime lives, so that a server that
    /// logs to stdout does not get a broken pipe.
    Leave,
}
