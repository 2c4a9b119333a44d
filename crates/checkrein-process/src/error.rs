//! [`RunError`]: the reason why a run has no result.
//!
//! The system reports few error codes for a failed start. This module examines the program, the interpreter, the working
//! directory and the arguments to find the cause.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::launch::{SpawnSpec, StartError};
use crate::resolve::{self, ResolveError};
use crate::sandbox::SandboxError;

/// Maximum length of a single argument or variable on Linux. Other systems allow at least as much.
const LONGEST_STRING: usize = 128 * 1024;

/// Reason why a run has no [`RunOutput`](crate::RunOutput).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program is missing, a directory, or not executable.
    #[error(transparent)]
    Program(#[from] ResolveError),
    /// The program is a script whose interpreter is missing, or its dynamic loader is missing.
    #[error("`{}` cannot start: {}", .program.display(), missing_interpreter(.interpreter.as_deref()))]
    BadInterpreter {
        /// The program.
        program: PathBuf,
        /// The interpreter in its first line, if there is one.
        interpreter: Option<PathBuf>,
    },
    /// The file is executable, but in no format that the system can run: a script without `#!`, or a program for another machine.
    #[error("`{}` has a format that this system cannot run; a script needs `#!` and its interpreter in the first line", .program.display())]
    NotAProgram {
        /// The file.
        program: PathBuf,
    },
    /// The working directory does not exist, is no directory, or cannot be entered.
    #[error("working directory `{}` does not exist or cannot be entered", .cwd.display())]
    Cwd {
        /// The directory.
        cwd: PathBuf,
    },
    /// The arguments are longer than the system allows. The text of a shell is one of them.
    #[error("the arguments of `{}` are too long ({bytes} bytes); shorten them or use standard input", .program.display())]
    ArgumentsTooLong {
        /// The program.
        program: PathBuf,
        /// Their length.
        bytes: usize,
    },
    /// The environment is larger than the system allows.
    #[error("the environment of `{}` is too large ({bytes} bytes); the largest variable is `{}`", .program.display(), .largest.display())]
    EnvironmentTooLarge {
        /// The program.
        program: PathBuf,
        /// Its length.
        bytes: usize,
        /// The largest variable's name.
        largest: OsString,
    },
    /// The sandbox is not available here, so the process was not started.
    #[error("`{}` was not started: {problem}", .program.display())]
    Sandbox {
        /// The program.
        program: PathBuf,
        /// The problem of the sandbox.
        problem: SandboxError,
    },
    /// The exit status is unknown: other code in the host reaped the process.
    #[error("the exit status of `{}` was lost: other code in the host reaped the process (`waitpid(-1)`, or `SIGCHLD` is ignored)", .program.display())]
    Lost {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another error of the system.
    #[error("`{}` could not be run: {source}", .program.display())]
    Io {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl RunError {
    /// Diagnoses a failed start. The system reports the same error code for a missing program, a missing interpreter and
    /// a missing directory, so this function checks each of them.
    pub(crate) fn from_start(failed: StartError, spec: &SpawnSpec<'_>) -> Self {
        let program = spec.context.cwd().join(spec.program);
        let StartError { error, sandbox, .. } = failed;
        if let Some(problem) = sandbox {
            return Self::Sandbox { program, problem };
        }
        match error.kind() {
            io::ErrorKind::ArgumentListTooLong => too_long(program, spec),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => {
                if !spec.context.cwd().is_dir() {
                    return Self::Cwd { cwd: spec.context.cwd().into() };
                }
                if let Err(problem) = resolve::check(&program) {
                    return problem.into();
                }
                // The program exists and is executable. So its interpreter is missing, or the working directory, which need
                // not contain the program, cannot be entered.
                if error.kind() == io::ErrorKind::PermissionDenied && interpreter(&program).is_none() {
                    return Self::Cwd { cwd: spec.context.cwd().into() };
                }
                Self::BadInterpreter { interpreter: interpreter(&program), program }
            }
            _ if is_bad_format(&error) => Self::NotAProgram { program },
            _ => Self::Io { program, source: error },
        }
    }
}

fn missing_interpreter(interpreter: Option<&Path>) -> String {
    match interpreter {
        Some(path) => {
            format!("its interpreter `{}` does not exist; check the first line of the script", path.display())
        }
        None => "its dynamic loader does not exist; the program was built for another system".to_owned(),
    }
}

fn is_bad_format(error: &io::Error) -> bool {
    // ENOEXEC; on Windows ERROR_BAD_EXE_FORMAT.
    error.raw_os_error() == Some(if cfg!(windows) { 193 } else { 8 })
}

fn too_long(program: PathBuf, spec: &SpawnSpec<'_>) -> RunError {
    let argument = |arg: &OsStr| arg.len() + 1;
    let variable = |(name, value): &(OsString, OsString)| name.len() + value.len() + 2;

    let args: usize = spec.args.iter().map(argument).sum();
    let longest_arg = spec.args.iter().map(argument).max().unwrap_or_default();
    let env: usize = spec.context.variables().iter().map(variable).sum();
    let largest = spec.context.variables().iter().max_by_key(|entry| variable(entry));
    let largest_var = largest.map(variable).unwrap_or_default();

    // A single string above the limit is the cause. Otherwise the sum is too large, and the larger half is reported.
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

/// Returns the interpreter in the first line of a script.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    // A carriage return is kept: it is the usual cause of a missing interpreter.
    let name = line.trim_start_matches([' ', '\t']).split([' ', '\t']).next()?;
    (!name.is_empty()).then(|| PathBuf::from(name.escape_debug().to_string()))
}
