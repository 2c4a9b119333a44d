//! [`RuntimeDir`]: the private directory with the socket and the lock of the resident process.
//!
//! It is `run` in the user's state directory. No environment variable chooses it, because a project can set variables of
//! `checkrein hook`. Both sides verify it before they use it: a directory that another user can write could contain the socket
//! of that user.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Name in the state directory.
const NAME: &str = "run";

/// Name of the socket.
const SOCKET: &str = "serve.sock";

/// Name of the file whose lock makes a process the only one.
const LOCK: &str = "serve.lock";

/// Longest path of a socket, in bytes. Systems allow 104 to 108 with the zero at the end.
const MAX_SOCKET_PATH: usize = 103;

/// Directory that was verified: it belongs to the user, and no other user can read or write it.
#[derive(Debug)]
pub struct RuntimeDir {
    path: PathBuf,
    /// Keeps the verified directory: its path could name another one later.
    directory: File,
}

/// Reason why a directory is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeDirError {
    /// The directory does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The directory cannot be opened or created.
    #[error("cannot use {} as a private directory: {error}", .path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The path names a link or a file.
    #[error("{} is no directory; remove it", .0.display())]
    NoDirectory(PathBuf),
    /// The directory belongs to another user.
    #[error("{} belongs to another user (uid {owner}); remove it", .path.display())]
    OtherOwner {
        /// The directory.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Other users can read or write the directory.
    #[error("{path} is open to other users (mode {mode:04o}); run `chmod 700 {path}`", path = .path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// Mode of the directory.
        mode: u32,
    },
}

impl RuntimeDir {
    /// Path of the directory for a user's state directory.
    pub fn path_in(state_dir: &Path) -> PathBuf {
        state_dir.join(NAME)
    }

    /// Opens and verifies the directory.
    ///
    /// # Errors
    /// The directory does not exist, or is not private.
    pub fn open(state_dir: &Path) -> Result<Self, RuntimeDirError> {
        let path = Self::path_in(state_dir);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&path);
        let directory = match opened {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(RuntimeDirError::Missing(path)),
            Err(error) => {
                let found = path.symlink_metadata().map(|found| found.is_dir());
                return Err(match found {
                    Ok(false) => RuntimeDirError::NoDirectory(path),
                    _ => RuntimeDirError::Unusable { path, error },
                });
            }
        };
        let found = match directory.metadata() {
            Ok(found) => found,
            Err(error) => return Err(RuntimeDirError::Unusable { path, error }),
        };
        let (owner, mode) = (found.uid(), found.mode() & 0o7777);
        if owner != rustix::process::geteuid().as_raw() {
            return Err(RuntimeDirError::OtherOwner { path, owner });
        }
        if mode & 0o077 != 0 {
            return Err(RuntimeDirError::NotPrivate { path, mode });
        }
        Ok(Self { path, directory })
    }

    /// As [`open`](Self::open). Creates a missing directory, readable only by the user.
    ///
    /// # Errors
    /// As [`open`](Self::open), or the directory cannot be created.
    pub fn create(state_dir: &Path) -> Result<Self, RuntimeDirError> {
        let path = Self::path_in(state_dir);
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path) {
            Ok(()) => Self::open(state_dir),
            // A link or a file at the path has a better error.
            Err(error) => match Self::open(state_dir) {
                Err(RuntimeDirError::Missing(path)) => Err(RuntimeDirError::Unusable { path, error }),
                opened => opened,
            },
        }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the socket, for people.
    pub fn socket(&self) -> PathBuf {
        self.path.join(SOCKET)
    }

    /// Path of the lock file.
    pub fn lock(&self) -> PathBuf {
        self.path.join(LOCK)
    }

    /// Path of the socket that fits into an address. A path that is too long goes through the open directory, on Linux.
    pub fn socket_address(&self) -> PathBuf {
        let path = self.socket();
        if path.as_os_str().as_bytes().len() <= MAX_SOCKET_PATH || !cfg!(target_os = "linux") {
            return path;
        }
        PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", self.directory.as_raw_fd()))
    }

    /// Returns `true` if the path still names this directory.
    pub fn is_current(&self) -> bool {
        let (Ok(own), Ok(found)) = (self.directory.metadata(), self.path.symlink_metadata()) else { return false };
        (own.dev(), own.ino()) == (found.dev(), found.ino())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn directory_is_created_private_and_verified() {
        let state = tempfile::tempdir().unwrap();
        assert!(matches!(RuntimeDir::open(state.path()), Err(RuntimeDirError::Missing(_))));
        let dir = RuntimeDir::create(&state.path().join("deep/state")).unwrap();
        assert_eq!(dir.path().metadata().unwrap().mode() & 0o777, 0o700);
        assert!(dir.is_current());
        mode(dir.path(), 0o750);
        let error = RuntimeDir::open(&state.path().join("deep/state")).unwrap_err().to_string();
        assert!(error.contains("(mode 0750); run `chmod 700 "), "{error}");
        fs::remove_dir(dir.path()).unwrap();
        assert!(!dir.is_current());
    }

    #[test]
    fn links_and_files_are_refused() {
        let state = tempfile::tempdir().unwrap();
        let path = RuntimeDir::path_in(state.path());
        let elsewhere = tempfile::tempdir().unwrap();
        mode(elsewhere.path(), 0o700);
        std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap();
        for open in [RuntimeDir::open, RuntimeDir::create] {
            assert!(matches!(open(state.path()), Err(RuntimeDirError::NoDirectory(_))));
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        for open in [RuntimeDir::open, RuntimeDir::create] {
            assert!(matches!(open(state.path()), Err(RuntimeDirError::NoDirectory(_))));
        }
    }

    #[test]
    fn directory_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a directory to another user");
            return;
        }
        let state = tempfile::tempdir().unwrap();
        let dir = RuntimeDir::create(state.path()).unwrap();
        std::os::unix::fs::chown(dir.path(), Some(12_345), None).unwrap();
        let error = RuntimeDir::open(state.path()).unwrap_err();
        assert!(matches!(error, RuntimeDirError::OtherOwner { owner: 12_345, .. }), "{error}");
    }
}
