use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::launch::{SpawnSpec, StartError};
use crate::resolve::{self, ResolveError};
use crate::sandbox::SandboxError;

/// The longest single argument or variable that Linux takes; other systems take at least this.
const LONGEST_STRING: usize = 128 * 1024;

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program is missing, a directory, or not executable.
    #[error(transparent)]
    Program(#[from] ResolveError),
    /// The program is a script whose interpreter is missing, or was built for another system's loader.
    #[error("{} cannot start: its interpreter {} is missing", .program.display(), .interpreter.as_ref().map_or_else(|| "or loader".into(), |path| path.display().to_string()))]
    BadInterpreter {
        /// The program.
        program: PathBuf,
        /// The interpreter that its first line names, if it names one.
        interpreter: Option<PathBuf>,
    },
    /// The file may be executed, but is nothing that the system can run: a script without `#!`, or another machine's program.
    #[error("{} is not a program that this system can run", .program.display())]
    NotAProgram {
        /// The file.
        program: PathBuf,
    },
    /// The working directory is missing, or no directory.
    #[error("working directory {} is gone or cannot be entered", .cwd.display())]
    Cwd {
        /// The directory.
        cwd: PathBuf,
    },
    /// The arguments are more than the system takes. For a shell text, that is the text.
    #[error("the arguments of {} are too long: {bytes} bytes", .program.display())]
    ArgumentsTooLong {
        /// The program.
        program: PathBuf,
        /// Their length.
        bytes: usize,
    },
    /// The environment is more than the system takes.
    #[error("the environment for {} is too large: {bytes} bytes, the largest variable is {}", .program.display(), .largest.display())]
    EnvironmentTooLarge {
        /// The program.
        program: PathBuf,
        /// Its length.
        bytes: usize,
        /// The largest variable's name.
        largest: OsString,
    },
    /// What its sandbox is to keep from it cannot be kept from it here, so it was not started.
    #[error("{} was not started: {problem}", .program.display())]
    Sandbox {
        /// The program.
        program: PathBuf,
        /// What is wrong.
        problem: SandboxError,
    },
    /// How the process ended is not known: something else in the host took its exit status.
    #[error("the exit status of {} was lost: the host takes the exit status of processes that it did not start", .program.display())]
    Lost {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else, in the system's words.
    #[error("{} could not be run: {source}", .program.display())]
    Io {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl RunError {
    /// Finds out what a failed start means. The system's code alone can't tell a missing program from a missing
    /// interpreter or a missing directory, so this looks.
    pub(crate) fn from_start(failed: StartError, launch: &SpawnSpec<'_>) -> Self {
        let program = launch.place.cwd().join(launch.program);
        let StartError { error, sandbox, .. } = failed;
        if let Some(problem) = sandbox {
            return Self::Sandbox { program, problem };
        }
        match error.kind() {
            io::ErrorKind::ArgumentListTooLong => too_long(program, launch),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => {
                if !launch.place.cwd().is_dir() {
                    return Self::Cwd { cwd: launch.place.cwd().into() };
                }
                if let Err(problem) = resolve::check(&program) {
                    return problem.into();
                }
                // Present and executable, so what is missing is behind it. Without leave to enter the directory, the
                // file could not have been seen, unless it lies elsewhere.
                if error.kind() == io::ErrorKind::PermissionDenied && interpreter(&program).is_none() {
                    return Self::Cwd { cwd: launch.place.cwd().into() };
                }
                Self::BadInterpreter { interpreter: interpreter(&program), program }
            }
            _ if is_bad_format(&error) => Self::NotAProgram { program },
            _ => Self::Io { program, source: error },
        }
    }
}

fn is_bad_format(error: &io::Error) -> bool {
    // ENOEXEC; on Windows ERROR_BAD_EXE_FORMAT.
    error.raw_os_error() == Some(if cfg!(windows) { 193 } else { 8 })
}

fn too_long(program: PathBuf, launch: &SpawnSpec<'_>) -> RunError {
    let argument = |arg: &OsStr| arg.len() + 1;
    let variable = |(name, value): &(OsString, OsString)| name.len() + value.len() + 2;

    let args: usize = launch.args.iter().map(argument).sum();
    let longest_arg = launch.args.iter().map(argument).max().unwrap_or_default();
    let env: usize = launch.place.variables().iter().map(variable).sum();
    let largest = launch.place.variables().iter().max_by_key(|entry| variable(entry));
    let largest_var = largest.map(variable).unwrap_or_default();

    // One string past the limit settles it; otherwise the sum is too much, and the larger half is to blame.
    let arguments = if longest_arg > LONGEST_STRING || largest_var > LONGEST_STRING {
        longest_arg >= largest_var
    } else {
        args >= env
    };
    if arguments {
        RunError::ArgumentsTooLong { program, bytes: args }
    } else {
        RunError::EnvironmentTooLarge {
            program,
            bytes: env,
            largest: largest.map(|(name, _)| name.clone()).unwrap_or_default(),
        }
    }
}

/// The interpreter that a script's first line names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    // A carriage return stays: it is the usual reason why an interpreter "is missing".
    let name = line.trim_start_matches([' ', '\t']).split([' ', '\t']).next()?;
    (!name.is_empty()).then(|| PathBuf::from(name.escape_debug().to_string()))
}
