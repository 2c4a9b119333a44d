//! What handlers give back, before anybody has read it.

use crate::opinion::Opinion;

/// What a handler gave back: raw, to be read as the hook's dialect reads it, or a ready opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An opinion that needs no reading.
    Opinion(Opinion),
    /// A process has ended.
    Process(ProcessReply),
    /// An HTTP endpoint has answered.
    Http(HttpReply),
}

impl From<Opinion> for Reply {
    fn from(opinion: Opinion) -> Self {
        Self::Opinion(opinion)
    }
}

/// What a process gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessReply {
    /// How it ended.
    pub exit: ProcessExit,
    /// What was run, as its config has it: the program, or the text for the shell. Empty if nobody said.
    pub program: String,
    /// What it printed.
    pub stdout: Captured,
    /// What it complained about.
    pub stderr: Captured,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What it has started and left running: name and id of each process.
    pub left_running: Vec<String>,
}

impl ProcessReply {
    /// Of a process that ended like this and printed nothing.
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

    /// The same of this program.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = program.into();
        self
    }

    /// The same with this on standard output.
    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Captured>) -> Self {
        self.stdout = stdout.into();
        self
    }

    /// The same with this on standard error.
    #[must_use]
    pub fn stderr(mut self, stderr: impl Into<Captured>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// The same, ended because its time was over.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        self.timed_out = true;
        self
    }

    /// The same with processes that it has left running.
    #[must_use]
    pub fn left_running(mut self, processes: Vec<String>) -> Self {
        self.left_running = processes;
        self
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// What an HTTP endpoint gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Captured,
}

impl HttpReply {
    /// With this status and body.
    pub fn new(status: u16, body: impl Into<Captured>) -> Self {
        Self { status, body: body.into() }
    }
}

/// Bytes that were read, up to a cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// What was kept.
    pub bytes: Vec<u8>,
    /// How much there was.
    pub total: u64,
}

impl Captured {
    /// With what was kept of how much there was.
    pub fn new(bytes: Vec<u8>, total: u64) -> Self {
        Self { bytes, total }
    }

    /// Whether there was more than was kept.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// As text, with marks for what is not UTF-8.
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
