//! Settings of the sandbox of a command. `checkrein-process` enforces them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::property::Properties;

/// Rights and limits of a command and its child processes. If the system cannot enforce one of them, the command does not run
/// and fails.
///
/// ```
/// use checkrein_dialects::{CommandSpec, FileAccess, SandboxSpec};
///
/// let mut sandbox = SandboxSpec::STRICT;
/// sandbox.project = FileAccess::Write;
/// let format = CommandSpec::shell("cargo fmt").sandbox(sandbox);
/// # let _ = format;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Access to files of the project. Never less than `outside`.
    pub project: FileAccess,
    /// Access to all other files. Files that programs need to run are always readable.
    pub outside: FileAccess,
    /// Further files and directories that may be read. Paths are relative to the project; `~` is the home directory.
    pub read: Vec<PathBuf>,
    /// Further files and directories that may be written.
    pub write: Vec<PathBuf>,
    /// `true` if the network is available.
    pub network: bool,
    /// CPU time for each process. `None`: no limit.
    pub cpu: Option<Duration>,
    /// Memory in bytes for all processes together. `None`: no limit.
    pub memory: Option<u64>,
    /// Number of processes at a time. `None`: no limit.
    pub processes: Option<u32>,
    /// Number of open files for each process. `None`: no limit.
    pub files: Option<u64>,
    /// Maximum size of a written file in bytes. `None`: no limit.
    pub file_size: Option<u64>,
}

impl SandboxSpec {
    /// Read access to the project, no other files, no network. These are also the defaults of keys in files.
    pub const STRICT: Self = Self {
        project: FileAccess::Read,
        outside: FileAccess::None,
        read: Vec::new(),
        write: Vec::new(),
        network: false,
        cpu: Some(Duration::from_secs(60)),
        memory: Some(1 << 30),
        processes: Some(64),
        files: Some(256),
        file_size: Some(256 << 20),
    };
}

impl SandboxSpec {
    /// Lists all properties, including default values, so that a user sees the whole sandbox.
    pub(super) fn list_properties(&self, properties: &mut Properties) {
        let Self { project, outside, read, write, network, cpu, memory, processes, files, file_size } = self;
        let limit = |limit: Option<String>| limit.unwrap_or_else(|| "no limit".to_owned());
        properties.add("sandbox", "yes");
        properties.add("sandbox: project", project.name());
        properties.add("sandbox: outside", outside.name());
        properties.add_each("sandbox: reads", read.iter().map(|path| path.to_string_lossy()));
        properties.add_each("sandbox: writes", write.iter().map(|path| path.to_string_lossy()));
        properties.add("sandbox: network", if *network { "yes" } else { "no" });
        properties.add("sandbox: seconds", limit(cpu.map(|time| time.as_secs_f64().to_string())));
        properties.add("sandbox: memory", limit(memory.map(|bytes| bytes.to_string())));
        properties.add("sandbox: processes", limit(processes.map(|count| count.to_string())));
        properties.add("sandbox: open files", limit(files.map(|count| count.to_string())));
        properties.add("sandbox: file size", limit(file_size.map(|bytes| bytes.to_string())));
    }
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self::STRICT
    }
}

/// Access to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileAccess {
    /// No access.
    None,
    /// Reading and executing.
    Read,
    /// Reading, executing and writing.
    Write,
}

impl FileAccess {
    /// All values.
    pub const ALL: &'static [Self] = &[Self::None, Self::Read, Self::Write];

    /// Returns the word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Shows a summary.
impl fmt::Display for SandboxSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "project {}, outside {}", self.project.name(), self.outside.name())?;
        for (word, paths) in [("reads", &self.read), ("writes", &self.write)] {
            for path in paths {
                write!(f, ", {word} {}", path.display())?;
            }
        }
        f.write_str(if self.network { ", network" } else { ", no network" })
    }
}
