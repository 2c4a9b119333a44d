//! [`Instance`]: the lock that makes a process the only one of its user, and the socket.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use checkrein::internal::line_file;
use fs4::TryLockError;
use tokio::net::UnixListener;

use super::StartError;
use crate::runtime_dir::RuntimeDir;

/// Number of connections that wait to be accepted. `checkrein hook` gives up if the queue is full.
const BACKLOG: i32 = 1024;

/// The directory, the lock and the socket of a running process.
#[derive(Debug)]
pub(super) struct Instance {
    dir: RuntimeDir,
    /// Locked until it is closed.
    lock: File,
    /// Device and inode of the socket.
    socket: (u64, u64),
}

impl Instance {
    /// Takes the lock, and listens. Must be called in a runtime.
    pub(super) fn start(state_dir: &Path) -> Result<(Self, UnixListener), StartError> {
        let dir = RuntimeDir::create(state_dir)?;
        let lock = take_lock(&dir.lock())?;
        let (listener, socket) = listen(&dir)?;
        Ok((Self { dir, lock, socket }, listener))
    }

    /// Listens again after the socket or its directory was removed.
    pub(super) fn restart(&mut self, state_dir: &Path) -> Result<UnixListener, StartError> {
        let has_lock = identity(&self.dir.lock()).is_ok_and(|found| is_of(&self.lock, found));
        if self.dir.is_current() && has_lock {
            let (listener, socket) = listen(&self.dir)?;
            self.socket = socket;
            return Ok(listener);
        }
        let (instance, listener) = Self::start(state_dir)?;
        *self = instance;
        Ok(listener)
    }

    /// Path of the directory.
    pub(super) fn directory(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Path of the socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.dir.socket()
    }

    /// Returns `true` if clients that connect now reach this process.
    pub(super) fn is_current(&self) -> bool {
        self.dir.is_current() && identity(&self.dir.socket()).is_ok_and(|found| found == self.socket)
    }
}

impl Drop for Instance {
    /// Removes the socket before the lock is released, unless the path names the socket of another process.
    fn drop(&mut self) {
        if self.is_current() {
            let _ = fs::remove_file(self.dir.socket());
        }
    }
}

/// Replaces the socket of the directory. The caller has the lock.
fn listen(dir: &RuntimeDir) -> Result<(UnixListener, (u64, u64)), StartError> {
    let path = dir.socket();
    // A socket without a process remains after a crash. The lock proves that there is none.
    match path.symlink_metadata() {
        Ok(_) => fs::remove_file(&path).map_err(|error| StartError::file(&path, error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(StartError::file(&path, error)),
    }
    let listener = bind(dir).map_err(|error| StartError::file(&path, error))?;
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(&path, private).map_err(|error| StartError::file(&path, error))?;
    let socket = identity(&path).map_err(|error| StartError::file(&path, error))?;
    Ok((listener, socket))
}

/// Listens with a queue for the events of many agents. The default queue has 128 places.
fn bind(dir: &RuntimeDir) -> io::Result<UnixListener> {
    let listener = std::os::unix::net::UnixListener::bind(dir.socket_address())?;
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Takes the lock, and writes the process id into the file, for people.
fn take_lock(path: &Path) -> Result<File, StartError> {
    let mut file = line_file::open_to_write(path).map_err(|error| StartError::file(path, error))?;
    match fs4::FileExt::try_lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            return Err(StartError::Running(pid.trim().parse().ok()));
        }
        Err(TryLockError::Error(error)) => return Err(StartError::file(path, error)),
    }
    // A full disk is no reason not to start.
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

/// Returns `true` if the device and the inode are those of the open file.
fn is_of(file: &File, found: (u64, u64)) -> bool {
    file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == found)
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = path.symlink_metadata()?;
    Ok((found.dev(), found.ino()))
}
