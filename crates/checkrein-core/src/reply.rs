//! [`Reply`]: the raw result of a handler.
//!
//! Handlers return replies; dialects read them into opinions. This module does not interpret them.

use crate::opinion::Opinion;

/// Result of a handler: raw output that the hook's dialect reads, or an opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An opinion. No dialect reads it.
    Opinion(Opinion),
    /// Result of a process.
    Process(ProcessReply),
    /// Response of an HTTP endpoint.
    Http(HttpReply),
}

impl From<Opinion> for Reply {
    fn from(opinion: Opinion) -> Self {
        Self::Opinion(opinion)
    }
}

/// Result of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessReply {
    /// Exit status.
    pub exit: ProcessExit,
    /// Program or shell command, as in the config. Empty if unknown.
    pub program: String,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// `true` if the process was terminated at its timeout.
    pub timed_out: bool,
    /// Processes that it started and left running: name and id of each.
    pub left_running: Vec<String>,
}

impl ProcessReply {
    /// Creates the reply of a process without output.
    pub fn new(exit: ProcessExit) -> Self {
        Self {
            exit,
            program: String::new(),
            stdout: Captured::default(),
            stderr: Captured::default(),
            timed_out: false,
            left_running: Vec::new(),
        }
    }

    /// Sets the program.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = program.into();
        self
    }

    /// Sets the standard output.
    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Captured>) -> Self {
        self.stdout = stdout.into();
        self
    }

    /// Sets the standard error.
    #[must_use]
    pub fn stderr(mut self, stderr: impl Into<Captured>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// Marks the process as terminated at its timeout.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        self.timed_out = true;
        self
    }

    /// Sets the processes that it left running.
    #[must_use]
    pub fn left_running(mut self, processes: Vec<String>) -> Self {
        self.left_running = processes;
        self
    }
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    /// Exit code.
    Code(i32),
    /// Signal that terminated the process.
    Signal(i32),
}

/// Response of an HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpReply {
    /// Status code.
    pub status: u16,
    /// Body.
    pub body: Captured,
}

impl HttpReply {
    /// Creates a response.
    pub fn new(status: u16, body: impl Into<Captured>) -> Self {
        Self { status, body: body.into() }
    }
}

/// Output that was read up to a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// Bytes that were kept.
    pub bytes: Vec<u8>,
    /// Number of bytes that were written.
    pub total: u64,
}

impl Captured {
    /// Creates a capture from the kept bytes and the total number.
    pub fn new(bytes: Vec<u8>, total: u64) -> Self {
        Self { bytes, total }
    }

    /// `true` if not all bytes were kept.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// Returns the text. Bytes that are not UTF-8 become replacement characters.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

impl From<&str> for Captured {
    fn from(text: &str) -> Self {
        text.as_bytes().to_vec().into()
    }
}

impl From<Vec<u8>> for Captured {
    fn from(bytes: Vec<u8>) -> Self {
        let total = bytes.len() as u64;
        Self { bytes, total }
    }
}
