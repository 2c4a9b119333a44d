//! Gates: files that make an interpreter wait before it loads a script.
//!
//! They are part of the program and are written to a private directory. Before each start they are compared with the program's
//! own text, so a changed file never runs.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Module that Python imports at the end of its start.
const PYTHON: &str = include_str!("gates/sitecustomize.py");

/// Module that Node loads before the script.
const NODE: &str = include_str!("gates/gate.cjs");

/// Files of the gates, with their contents. A file in place of `__pycache__` keeps Python from writing compiled code there.
const FILES: &[(&str, &str)] =
    &[("python/sitecustomize.py", PYTHON), ("python/__pycache__", ""), ("node/gate.cjs", NODE)];

/// Reason why the gates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A file or directory cannot be written or read.
    #[error("the startup module `{}` of warm interpreters cannot be used: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Other users can write the directory, or it belongs to another user.
    #[error("the directory `{}` of warm interpreters is not private; remove it", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
}

/// The private directory with the gates.
#[derive(Debug)]
pub(super) struct Gates {
    directory: PathBuf,
}

impl Gates {
    /// Uses a directory, which is created when it is needed. Its parent must be private.
    pub(super) fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The directory for `PYTHONPATH`.
    pub(super) fn python(&self) -> PathBuf {
        self.directory.join("python")
    }

    /// The file for `--require`.
    pub(super) fn node(&self) -> PathBuf {
        self.directory.join("node/gate.cjs")
    }

    /// Checks the files, and writes those that differ.
    pub(super) fn check(&self) -> Result<(), GateError> {
        private_directory(&self.directory)?;
        for part in ["python", "node"] {
            let directory = self.directory.join(part);
            private_directory(&directory)?;
            self.remove_others(&directory)?;
        }
        for (name, text) in FILES {
            let path = self.directory.join(name);
            let failed = |source| GateError::Io { path: path.clone(), source };
            if !has_text(&path, text) {
                write(&path, text).map_err(failed)?;
                if !has_text(&path, text) {
                    return Err(failed(io::Error::other("the written file has another text")));
                }
            }
        }
        Ok(())
    }

    /// Removes files that are no gates: Python could import them.
    fn remove_others(&self, directory: &Path) -> Result<(), GateError> {
        let failed = |source| GateError::Io { path: directory.to_owned(), source };
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if !FILES.iter().any(|(name, _)| self.directory.join(name) == path) {
                remove(&path).map_err(failed)?;
            }
        }
        Ok(())
    }
}

fn private_directory(path: &Path) -> Result<(), GateError> {
    let failed = |source| GateError::Io { path: path.to_owned(), source };
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let metadata = path.symlink_metadata().map_err(failed)?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if metadata.is_dir() && is_own && metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(GateError::NotPrivate { path: path.to_owned() })
}

/// `true` if the path is a regular file with this text.
fn has_text(path: &Path, text: &str) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|metadata| {
        metadata.is_file()
            && metadata.len() == text.len() as u64
            && metadata.uid() == rustix::process::geteuid().as_raw()
    });
    is_file && fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let Some(directory) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o400))?;
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        remove(path)?;
    }
    file.persist(path)?;
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata()?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_gate_is_written_again() {
        let place = tempfile::tempdir().unwrap();
        let gates = Gates::in_directory(place.path().join("gates"));
        gates.check().unwrap();
        fs::remove_file(gates.node()).unwrap();
        fs::write(gates.node(), "other").unwrap();
        fs::write(gates.python().join("json.py"), "other").unwrap();
        fs::remove_file(gates.python().join("__pycache__")).unwrap();
        fs::create_dir(gates.python().join("__pycache__")).unwrap();
        gates.check().unwrap();
        assert_eq!(fs::read_to_string(gates.node()).unwrap(), NODE);
        assert!(!gates.python().join("json.py").exists());
        assert!(gates.python().join("__pycache__").is_file());
        let module = gates.python().join("sitecustomize.py");
        fs::remove_file(&module).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &module).unwrap();
        gates.check().unwrap();
        assert!(module.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn open_directory_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("gates");
        let gates = Gates::in_directory(path.clone());
        gates.check().unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(gates.check(), Err(GateError::NotPrivate { .. })));
        fs::remove_dir_all(&path).unwrap();
        std::os::unix::fs::symlink("/tmp", &path).unwrap();
        assert!(matches!(gates.check(), Err(GateError::NotPrivate { .. })));
    }
}
