use std::time::Duration;

/// How long a process may run, how much it may print, and what becomes of what it leaves behind.
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
    /// How long it may run. Writing stdin and reading the output count.
    pub timeout: Duration,
    /// How many bytes of stdout are kept. The rest is read and dropped.
    pub stdout_cap: usize,
    /// Whether nobody reads stdout: writing there fails, as it does when the host has gone.
    pub stdout_closed: bool,
    /// How many bytes of stderr are kept. The rest is read and dropped.
    pub stderr_cap: usize,
    /// How long output is still read after the process has exited, when something else holds its streams open.
    pub drain_grace: Duration,
    /// How long processes have between the request to end (TERM) and the end (KILL).
    pub term_grace: Duration,
    /// What becomes of processes that are still there after a normal exit.
    pub leftovers: Leftovers,
}

impl Limits {
    /// This timeout, and for the rest: 1 MiB of each stream, 100 ms of drain, 500 ms from TERM to KILL, leftovers ended.
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

    /// The same with another cap for stdout and for stderr.
    #[must_use]
    pub const fn output_cap(mut self, bytes: usize) -> Self {
        self.stdout_cap = bytes;
        self.stderr_cap = bytes;
        self
    }

    /// The same with another grace for the streams after the exit.
    #[must_use]
    pub const fn drain_grace(mut self, grace: Duration) -> Self {
        self.drain_grace = grace;
        self
    }

    /// The same with nobody who reads stdout.
    #[must_use]
    pub const fn close_stdout(mut self) -> Self {
        self.stdout_closed = true;
        self
    }

    /// The same with another grace between TERM and KILL. With none, KILL comes at once.
    #[must_use]
    pub const fn term_grace(mut self, grace: Duration) -> Self {
        self.term_grace = grace;
        self
    }

    /// The same with another fate for leftovers.
    #[must_use]
    pub const fn leftovers(mut self, fate: Leftovers) -> Self {
        self.leftovers = fate;
        self
    }
}

/// What becomes of processes that are still there after a normal exit. After a timeout all are ended, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Leftovers {
    /// They are ended: TERM, a grace, KILL.
    #[default]
    End,
    /// They go on and are reported. What they print is read and dropped for as long as the runtime lives, so that a
    /// server that logs to its stdout is not ended by a broken pipe.
    Leave,
}
