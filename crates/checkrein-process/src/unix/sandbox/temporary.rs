//! Private temporary directory of a sandboxed run, and its removal.
//!
//! Removal must never follow symbolic links: the sandboxed process controls the content.

use std::ffi::{CStr, CString};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, openat, renameat, rmdir, unlinkat};

use crate::marker::Marker;
use crate::sandbox::SandboxError;

/// A directory that only this user may enter. Dropping it removes the directory with its content.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Creates a directory in the temporary directory of the host, or reuses an empty one.
    pub(crate) fn new() -> Result<Self, SandboxError> {
        if let Some(path) = spare::take() {
            return Ok(Self { path });
        }
        let parent = std::env::temp_dir();
        // A random name, so that other users cannot create it first.
        let path = parent.join(format!("checkrein-{}", Marker::new().token()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(SandboxError::Temporary { parent, source }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the directory for the next run if it is empty. No process of the run may be alive.
    pub(crate) fn give_back(mut self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let names = openat(CWD, &self.path, flags, Mode::empty()).map_err(Into::into).and_then(|top| names(&top));
        if names.is_ok_and(|names| names.is_empty()) && spare::has_room() {
            spare::put(std::mem::take(&mut self.path));
        }
    }
}

/// Unused directories for later runs. On some file systems, creation and removal take longer than the start of a process.
mod spare {
    use super::*;

    const MAX_SPARE: usize = 4;
    static SPARE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    pub(super) fn take() -> Option<PathBuf> {
        // A cleanup job of the system may have removed some.
        std::iter::from_fn(|| lock().pop()).find(|path| path.is_dir())
    }

    pub(super) fn has_room() -> bool {
        lock().len() < MAX_SPARE
    }

    pub(super) fn put(path: PathBuf) {
        lock().push(path);
    }

    pub(super) fn remove_all() {
        std::mem::take(&mut *lock()).into_iter().for_each(cleaner::add);
    }

    fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
        SPARE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        cleaner::add(std::mem::take(&mut self.path));
    }
}

/// Waits until all directories are removed. Returns `false` at the timeout.
pub(crate) fn wait_for_removal(timeout: Duration) -> bool {
    spare::remove_all();
    cleaner::wait(timeout)
}

/// Removes directories in a thread, since the amount of content is unknown. The thread exists only while there are any.
mod cleaner {
    use super::*;

    struct Queue {
        paths: Vec<PathBuf>,
        /// `true` while the thread exists.
        running: bool,
    }

    static QUEUE: Mutex<Queue> = Mutex::new(Queue { paths: Vec::new(), running: false });
    static IDLE: Condvar = Condvar::new();

    pub(super) fn add(path: PathBuf) {
        let mut queue = lock();
        queue.paths.push(path);
        if !queue.running {
            // If the thread cannot be created, the next call tries again.
            queue.running = thread::Builder::new().name("checkrein-cleaner".into()).spawn(clean).is_ok();
        }
    }

    pub(super) fn wait(timeout: Duration) -> bool {
        let busy = |queue: &mut Queue| queue.running;
        let (queue, _) = IDLE.wait_timeout_while(lock(), timeout, busy).unwrap_or_else(PoisonError::into_inner);
        !queue.running
    }

    fn clean() {
        loop {
            let mut queue = lock();
            let Some(path) = queue.paths.pop() else {
                queue.running = false;
                IDLE.notify_all();
                return;
            };
            drop(queue);
            // Errors are ignored: the run has ended and cannot report them.
            let _ = rmdir(&path).map_err(Into::into).or_else(|_: io::Error| remove(&path));
        }
    }

    fn lock() -> MutexGuard<'static, Queue> {
        QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a directory of any depth. The content of subdirectories is moved up first, so that stack, descriptors and paths
/// do not grow with the depth. Symbolic links are not followed.
fn remove(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, path, flags, Mode::empty())?;
    let mut moved = 0_u64;
    loop {
        let names = names(&top)?;
        if names.is_empty() {
            return Ok(rmdir(path)?);
        }
        for name in names {
            if unlinkat(&top, &name, AtFlags::empty()).is_ok() || unlinkat(&top, &name, AtFlags::REMOVEDIR).is_ok() {
                continue;
            }
            // A directory with content, perhaps without permission to enter it.
            let inner = openat(&top, &name, flags, Mode::empty()).or_else(|_| {
                chmodat(&top, &name, Mode::RWXU, AtFlags::empty())?;
                openat(&top, &name, flags, Mode::empty())
            })?;
            let _ = rustix::fs::fchmod(&inner, Mode::RWXU);
            for inside in self::names(&inner)? {
                if unlinkat(&inner, &inside, AtFlags::empty()).is_err() {
                    moved += 1;
                    renameat(&inner, &inside, &top, format!(".checkrein-moved-{moved}"))?;
                }
            }
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn whole_directory_is_removed_and_nothing_outside() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let top = outside.path().join("top");
        let deep = top.join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        fs::write(deep.join("a"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), top.join("link")).unwrap();
        std::os::unix::fs::symlink("kept", deep.join("link")).unwrap();
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o000)).unwrap();
        remove(&top).unwrap();
        assert!(!top.exists());
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn directory_deeper_than_the_longest_path_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        let top = outside.path().join("top");
        fs::create_dir(&top).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = openat(CWD, &top, flags, Mode::empty()).unwrap();
        for _ in 0..2500 {
            rustix::fs::mkdirat(&directory, "d", Mode::RWXU).unwrap();
            directory = openat(&directory, "d", flags, Mode::empty()).unwrap();
        }
        remove(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn directory_is_private_and_removed_on_drop() {
        let temporary = Temporary::new().unwrap();
        assert_eq!(fs::metadata(temporary.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let path = temporary.path().to_owned();
        drop(temporary);
        assert!(wait_for_removal(Duration::from_secs(60)));
        assert!(!path.exists());
    }
}
