//! [`ResolvedProgram`]: search for an executable file, by path or in `PATH`.
//!
//! [`ResolvedCommand`](crate::ResolvedCommand) uses it. The search uses the `PATH` and the working directory of the
//! [`ExecContext`], never those of the host.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::exec_context::ExecContext;
use crate::sys;

/// Absolute path of an existing, executable file. Only [`find`](Self::find) creates one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    path: PathBuf,
    depends_on_cwd: bool,
}

impl ResolvedProgram {
    /// Finds a program by its path, relative to the working directory, or in the `PATH` of the context.
    ///
    /// # Errors
    ///
    /// The program does not exist, is a directory, or is not executable.
    pub fn find(name: impl AsRef<OsStr>, context: &ExecContext) -> Result<Self, ResolveError> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(ResolveError::Empty);
        }
        if has_directory(name) {
            let path = context.cwd().join(name);
            check(&path)?;
            return Ok(Self { depends_on_cwd: !Path::new(name).is_absolute(), path });
        }

        let search = context.var("PATH").unwrap_or_default();
        let mut depends_on_cwd = false;
        let mut best = ResolveError::NotFound { program: name.to_owned(), search: Some(search.to_owned()) };
        // An empty entry is the working directory. An empty PATH has no entry.
        for directory in std::env::split_paths(search).filter(|_| !search.is_empty()) {
            depends_on_cwd |= !directory.is_absolute();
            for file_name in sys::file_names(name, context) {
                let path = context.cwd().join(&directory).join(file_name);
                match check(&path) {
                    Ok(()) => {
                        return Ok(Self { path, depends_on_cwd });
                    }
                    // Continue as a shell does. If no other entry has the program, this error is better than "not found".
                    Err(problem @ (ResolveError::NotExecutable { .. } | ResolveError::Directory { .. })) => {
                        if matches!(best, ResolveError::NotFound { .. }) {
                            best = problem;
                        }
                    }
                    Err(_) => {}
                }
            }
        }
        Err(best)
    }

    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `true` if another working directory could select another program.
    pub(crate) fn depends_on_cwd(&self) -> bool {
        self.depends_on_cwd
    }
}

fn has_directory(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.contains(&b'/') || (cfg!(windows) && (bytes.contains(&b'\\') || bytes.contains(&b':')))
}

/// Checks that a path is an executable file.
pub(crate) fn check(path: &Path) -> Result<(), ResolveError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(ResolveError::NotExecutable { path: path.into() });
        }
        Err(_) => {
            return Err(ResolveError::NotFound { program: path.into(), search: None });
        }
    };
    if metadata.is_dir() {
        return Err(ResolveError::Directory { path: path.into() });
    }
    if !metadata.is_file() || !sys::may_execute(path) {
        return Err(ResolveError::NotExecutable { path: path.into() });
    }
    Ok(())
}

/// Reason why a program cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The file does not exist.
    #[error("program `{}` not found{}", .program.display(), searched(.search.as_deref()))]
    NotFound {
        /// The name or path of the program.
        program: OsString,
        /// The `PATH` that was searched; `None` for a program with a directory.
        search: Option<OsString>,
    },
    /// The file exists but is not executable.
    #[error("`{}` is not executable; run `chmod +x` on it", .path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The path is a directory.
    #[error("`{}` is a directory, not a program", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The name of the program is empty.
    #[error("the name of the program is empty")]
    Empty,
}

fn searched(search: Option<&OsStr>) -> String {
    match search {
        None => String::new(),
        Some(search) if search.is_empty() => " (PATH is empty)".into(),
        Some(search) => format!(" in PATH `{}`", search.display()),
    }
}
