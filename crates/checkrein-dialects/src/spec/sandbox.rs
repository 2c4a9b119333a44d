//! What a command may do.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::property::Properties;

/// What a command, and all that it starts, may do. What cannot be kept from it is a failure, and it does not run.
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
    /// The files of the project. Never less than those outside: they are among them.
    pub project: FileAccess,
    /// All other files. What programs need to run can always be read.
    pub outside: FileAccess,
    /// Files and directories that it may read besides. Relative to the project; `~` is the home directory.
    pub read: Vec<PathBuf>,
    /// Files and directories that it may write besides.
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// How much time of a processor each process may use. `None`: without limit.
    pub cpu: Option<Duration>,
    /// How many bytes of memory all processes may have together.
    pub memory: Option<u64>,
    /// How many processes there may be at a time.
    pub processes: Option<u32>,
    /// How many files each process may have open.
    pub files: Option<u64>,
    /// How large a file may become that it writes, in bytes.
    pub file_size: Option<u64>,
}

impl SandboxSpec {
    /// Reads the project and nothing else, and has no network. Also what each key says that a file leaves out.
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
    /// All of them, also those with their default values: a user should see a sandbox in full.
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

/// What may be done with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileAccess {
    /// Nothing.
    None,
    /// They may be read and executed.
    Read,
    /// They may be written as well.
    Write,
}

impl FileAccess {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::None, Self::Read, Self::Write];

    /// The word for it in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// In a few words.
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
