//! [`Sandbox`]: settings, limits and errors of sandboxes.
//!
//! Callers set it in an [`ExecContext`](crate::ExecContext). The implementation for Linux is in `unix/sandbox`. A process
//! must never start without a restriction that its sandbox asks for.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::run_output::Exit;

/// Restrictions of a process and all its descendants. Part of an [`ExecContext`](crate::ExecContext).
///
/// Linux only. If a restriction is not available, the run fails with a [`SandboxError`] and the process is not started.
///
/// ```
/// use checkrein_process::{ExecContext, Files, Sandbox};
///
/// let sandbox = Sandbox::new().files(Files::none().read("/home/ann/project")).processes(64).memory(512 << 20);
/// let context = ExecContext::new("/home/ann/project").env([("PATH", "/usr/bin:/bin")]).sandbox(sandbox);
/// assert!(!context.sandboxed().unwrap().network);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sandbox {
    /// Allowed files. `None` allows all files that the host can use.
    pub files: Option<Files>,
    /// `true` if the network is allowed.
    pub network: bool,
    /// CPU time limit of each process. Rounded up to whole seconds.
    pub cpu: Option<Duration>,
    /// Memory limit in bytes, for all processes together and for the allocations of each one.
    pub memory: Option<u64>,
    /// Maximum number of simultaneous processes, including the first.
    pub processes: Option<u32>,
    /// Maximum number of open files of each process.
    pub open_files: Option<u64>,
    /// Maximum size in bytes of a written file, and of all files in the temporary directory together.
    pub file_size: Option<u64>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// A sandbox without network, with all files and without limits.
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

    /// Allows only these files.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.files = Some(files);
        self
    }

    /// Allows the network.
    #[must_use]
    pub const fn allow_network(mut self) -> Self {
        self.network = true;
        self
    }

    /// Sets the CPU time limit of each process.
    #[must_use]
    pub const fn cpu(mut self, time: Duration) -> Self {
        self.cpu = Some(time);
        self
    }

    /// Sets the memory limit in bytes.
    #[must_use]
    pub const fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the maximum number of processes.
    #[must_use]
    pub const fn processes(mut self, count: u32) -> Self {
        self.processes = Some(count);
        self
    }

    /// Sets the maximum number of open files of each process.
    #[must_use]
    pub const fn open_files(mut self, count: u64) -> Self {
        self.open_files = Some(count);
        self
    }

    /// Sets the maximum size in bytes of a written file, and of the temporary directory.
    #[must_use]
    pub const fn file_size(mut self, bytes: u64) -> Self {
        self.file_size = Some(bytes);
        self
    }
}

/// Files that a sandbox allows.
///
/// Some files are always allowed for reading and execution: the system directories, the directories of `PATH` with the
/// libraries next to them, and the program itself. Also allowed are `/dev/null` and similar devices, and a private temporary
/// directory. `TMPDIR` contains its path, and it is removed after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Files {
    /// Files and directory trees to read and execute. Missing paths are skipped.
    pub read: Vec<PathBuf>,
    /// Files and directory trees to read, execute and write. Missing paths are skipped.
    pub write: Vec<PathBuf>,
}

impl Files {
    /// Only the files that are always allowed.
    pub const fn none() -> Self {
        Self { read: Vec::new(), write: Vec::new() }
    }

    /// Allows reading a path. `/` allows everything.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Allows reading and writing a path.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }
}

/// A limit of the sandbox that a run exceeded. All its processes were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitExceeded {
    /// More processes than this number.
    Processes(u32),
    /// More memory than this number of bytes.
    Memory(u64),
    /// More CPU time of the first process than this.
    Cpu(Duration),
    /// A file of the first process larger than this number of bytes.
    FileSize(u64),
    /// Files in the temporary directory that take more than this number of bytes together, or that are hidden in directories
    /// which cannot be read.
    Temporary(u64),
}

impl LimitExceeded {
    /// The limit that the system enforces with the signal of an exit status.
    pub(crate) fn from_signal(exit: Exit, sandbox: &Sandbox) -> Option<Self> {
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
            Self::Cpu(time) => write!(f, "more than {time:?} of CPU time"),
            Self::FileSize(bytes) => write!(f, "a file of more than {bytes} bytes"),
            Self::Temporary(bytes) => write!(f, "more than {bytes} bytes, or unreadable directories, in TMPDIR"),
        }
    }
}

/// Reason why a sandbox is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The operating system has no sandbox.
    #[error("sandboxes are supported only on Linux, not on {system}")]
    System {
        /// The operating system.
        system: &'static str,
    },
    /// The processor architecture has no sandbox.
    #[error("sandboxes are not supported on {machine} processors")]
    Machine {
        /// The processor architecture.
        machine: &'static str,
    },
    /// The kernel was built or started without Landlock, or a container blocks it.
    #[error("file access cannot be restricted: the kernel has no Landlock, or a container blocks it")]
    NoLandlock,
    /// The Landlock version of the kernel cannot prevent truncation of files.
    #[error(
        "file access cannot be restricted: Landlock version {have} is too old, version {need} is needed (Linux 6.2)"
    )]
    OldLandlock {
        /// Version of the kernel.
        have: u32,
        /// Required version.
        need: u32,
    },
    /// The private temporary directory cannot be created.
    #[error("cannot create a temporary directory for the sandbox in `{}`: {source}", .parent.display())]
    Temporary {
        /// The parent directory.
        parent: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system rejected a step of the setup.
    #[error("cannot {part}: {source}")]
    Refused {
        /// The step, as a verb phrase.
        part: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The sandbox does not allow execution of the program.
    #[error("the sandbox does not allow `{}` or its interpreter; allow reading of its directory", .program.display())]
    OutOfReach {
        /// The program.
        program: PathBuf,
    },
}

/// Stand-in for systems without sandboxes.
#[cfg(not(target_os = "linux"))]
pub(crate) mod unsupported {
    use std::convert::Infallible;
    use std::path::Path;

    use super::SandboxError;
    use crate::exec_context::ExecContext;

    /// Never exists on these systems.
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

    /// Rejects every sandbox.
    pub(crate) fn temporary(context: &ExecContext) -> Result<Option<Temporary>, SandboxError> {
        match context.sandboxed() {
            None => Ok(None),
            Some(_) => Err(SandboxError::System { system: std::env::consts::OS }),
        }
    }
}
