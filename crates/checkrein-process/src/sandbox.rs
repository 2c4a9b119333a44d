use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::run_output::Exit;

/// What a process, and all that it starts, may do. Part of a [`Place`](crate::Place).
///
/// Only Linux has it. Where something that is asked for is not to be had, the run fails with a [`SandboxError`] and the
/// process is not started.
///
/// ```
/// use checkrein_process::{Files, Place, Sandbox};
///
/// let sandbox = Sandbox::new().files(Files::none().read("/home/ann/project")).processes(64).memory(512 << 20);
/// let place = Place::new("/home/ann/project").env([("PATH", "/usr/bin:/bin")]).sandbox(sandbox);
/// assert!(!place.sandboxed().unwrap().network);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sandbox {
    /// The files that it may use. `None`: all that the host may.
    pub files: Option<Files>,
    /// Whether it may use the network.
    pub network: bool,
    /// How much time of a processor each process may use. Rounded up to whole seconds.
    pub cpu: Option<Duration>,
    /// How many bytes of memory all of them may have together. No single process can ask for more either.
    pub memory: Option<u64>,
    /// How many processes there may be at a time, the first among them.
    pub processes: Option<u32>,
    /// How many files each process may have open.
    pub open_files: Option<u64>,
    /// How large a file may become that they write, in bytes.
    pub file_size: Option<u64>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// No network; all files, and no limits.
    pub const fn new() -> Self {
        Self {
            files: None,
            network: false,
            cpu: None,
            memory: None,
            processes: None,
            open_files: None,
            file_size: None,
        }
    }

    /// The same with these files and no others.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.files = Some(files);
        self
    }

    /// The same with the network.
    #[must_use]
    pub const fn allow_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// The same with so much time of a processor for each process.
    #[must_use]
    pub const fn cpu(mut self, time: Duration) -> Self {
        self.cpu = Some(time);
        self
    }

    /// The same with so many bytes of memory.
    #[must_use]
    pub const fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The same with so many processes.
    #[must_use]
    pub const fn processes(mut self, count: u32) -> Self {
        self.processes = Some(count);
        self
    }

    /// The same with so many open files.
    #[must_use]
    pub const fn open_files(mut self, count: u64) -> Self {
        self.open_files = Some(count);
        self
    }

    /// The same with files of this size at most.
    #[must_use]
    pub const fn file_size(mut self, bytes: u64) -> Self {
        self.file_size = Some(bytes);
        self
    }
}

/// The files that a sandbox opens.
///
/// What programs need is always there, to read and to execute: the system's directories, those of the `PATH` with the
/// libraries beside them, the program itself; besides `/dev/null` and its like, and a private temporary directory, which
/// `TMPDIR` names and which is gone after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Files {
    /// Files and directories, with all in them, that may be read and executed. What is missing is passed over.
    pub read: Vec<PathBuf>,
    /// Files and directories, with all in them, that may be written as well.
    pub write: Vec<PathBuf>,
}

impl Files {
    /// None but those that programs need.
    pub const fn none() -> Self {
        Self { read: Vec::new(), write: Vec::new() }
    }

    /// The same with these to read. `/` is everything.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// The same with these to read and to write.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }
}

/// A limit of the sandbox that a run went over. All of it was ended then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitExceeded {
    /// There were more processes than this.
    Processes(u32),
    /// They had more bytes of memory than this.
    Memory(u64),
    /// The first process used more time of a processor than this.
    Cpu(Duration),
    /// The first process wrote a file larger than this.
    FileSize(u64),
}

impl LimitExceeded {
    /// Some limits the system itself sees to, by a signal.
    pub(crate) fn by_signal(exit: Exit, sandbox: &Sandbox) -> Option<Self> {
        const CPU: i32 = 24;
        const FILE_SIZE: i32 = 25;
        match exit {
            Exit::Signalled(CPU) => sandbox.cpu.map(Self::Cpu),
            Exit::Signalled(FILE_SIZE) => sandbox.file_size.map(Self::FileSize),
            _ => None,
        }
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processes(count) => write!(f, "more than {count} processes"),
            Self::Memory(bytes) => write!(f, "more than {bytes} bytes of memory"),
            Self::Cpu(time) => write!(f, "more than {time:?} of a processor's time"),
            Self::FileSize(bytes) => write!(f, "a file of more than {bytes} bytes"),
        }
    }
}

/// Why there is no such sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// Not on this system.
    #[error("there are no sandboxes on {system}, only on Linux")]
    System {
        /// The system.
        system: &'static str,
    },
    /// Not on this machine.
    #[error("no sandbox for {machine} processors")]
    Machine {
        /// What its processor is.
        machine: &'static str,
    },
    /// The kernel was built or started without Landlock, or something keeps us from it.
    #[error("files cannot be kept from a process here: the kernel has no Landlock, or a container hides it")]
    NoLandlock,
    /// The kernel's Landlock cannot keep files from being cut.
    #[error(
        "files cannot be kept from a process here: Landlock has version {have}, and version {need} is needed (Linux 6.2)"
    )]
    OldLandlock {
        /// Its version.
        have: u32,
        /// The version that is needed.
        need: u32,
    },
    /// There is no private temporary directory.
    #[error("no temporary directory can be made for the sandbox in {}: {source}", .parent.display())]
    Temporary {
        /// Where it was to be.
        parent: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused a part of it.
    #[error("the system refuses {part}: {source}")]
    Refused {
        /// Which part.
        part: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The program lies where the sandbox does not let it be executed.
    #[error("{} or its interpreter lies outside of the sandbox", .program.display())]
    OutOfReach {
        /// The program.
        program: PathBuf,
    },
}

/// Where there are no sandboxes.
#[cfg(not(target_os = "linux"))]
pub(crate) mod nowhere {
    use std::convert::Infallible;
    use std::path::Path;

    use super::SandboxError;
    use crate::exec_context::ExecContext;

    /// There is none.
    #[derive(Debug)]
    pub(crate) struct Temporary(Infallible);

    impl Temporary {
        pub(crate) fn path(&self) -> &Path {
            match self.0 {}
        }

        pub(crate) fn give_back(self) {
            match self.0 {}
        }
    }

    /// Refuses every sandbox.
    pub(crate) fn temporary(place: &Place) -> Result<Option<Temporary>, SandboxError> {
        match place.sandboxed() {
            None => Ok(None),
            Some(_) => Err(SandboxError::System { system: std::env::consts::OS }),
        }
    }
}
