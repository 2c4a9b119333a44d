use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::exec_context::ExecContext;
use crate::sys;

/// A program that was found: an absolute path to a file that may be executed. Only [`find`](Self::find) makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    path: PathBuf,
    depends_on_cwd: bool,
}

impl ResolvedProgram {
    /// Finds a program: by its path, relative to the place's directory, or in the directories of the place's `PATH`.
    ///
    /// # Errors
    ///
    /// When it is missing, is a directory, or may not be executed.
    pub fn find(name: impl AsRef<OsStr>, place: &ExecContext) -> Result<Self, ResolveError> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(ResolveError::Empty);
        }
        if has_directory(name) {
            let path = place.cwd().join(name);
            check(&path)?;
            return Ok(Self { depends_on_cwd: !Path::new(name).is_absolute(), path });
        }

        let search = place.var("PATH").unwrap_or_default();
        let mut depends_on_cwd = false;
        let mut best = ResolveError::NotFound { program: name.to_owned(), search: Some(search.to_owned()) };
        // An empty entry is the working directory, as ever; an empty PATH is no entry at all.
        for directory in std::env::split_paths(search).filter(|_| !search.is_empty()) {
            depends_on_cwd |= !directory.is_absolute();
            for file_name in sys::file_names(name, place) {
                let path = place.cwd().join(&directory).join(file_name);
                match check(&path) {
                    Ok(()) => {
                        return Ok(Self { path, depends_on_cwd });
                    }
                    // Go on as a shell does; if nothing else turns up, this says more than "not found".
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

    /// Where it is: an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another working directory could mean another program.
    pub(crate) fn depends_on_cwd(&self) -> bool {
        self.depends_on_cwd
    }
}

fn has_directory(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.contains(&b'/') || (cfg!(windows) && (bytes.contains(&b'\\') || bytes.contains(&b':')))
}

/// Whether a path leads to a file that may be executed.
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

/// Why a program was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// There is no such file.
    #[error("program {} not found{}", .program.display(), searched(.search.as_deref()))]
    NotFound {
        /// What was looked for.
        program: OsString,
        /// The `PATH` that was searched; none for a program given with its directory.
        search: Option<OsString>,
    },
    /// It is there, but may not be executed.
    #[error("{} is not executable", .path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{} is a directory, not a program", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// No program is named.
    #[error("no program is named")]
    Empty,
}

fn searched(search: Option<&OsStr>) -> String {
    match search {
        None => String::new(),
        Some(search) if search.is_empty() => " (PATH is empty)".into(),
        Some(search) => format!(" in PATH {}", search.display()),
    }
}
