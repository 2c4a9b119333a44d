//! A temporary directory for one run.

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

/// A directory that only this user may enter. Gone, with all in it, when this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A new one in the host's own temporary directory.
    pub(crate) fn new() -> Result<Self, SandboxError> {
        if let Some(path) = spare::take() {
            return Ok(Self { path });
        }
        let parent = std::env::temp_dir();
        // A name that nobody can guess.
        let path = parent.join(format!("checkrein-{}", Marker::new().token()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(SandboxError::Temporary { parent, source }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it to the next run, if it is empty. Nobody may be left who could use it.
    pub(crate) fn give_back(mut self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let names = openat(CWD, &self.path, flags, Mode::empty()).map_err(Into::into).and_then(|top| names(&top));
        if names.is_ok_and(|names| names.is_empty()) && spare::has_room() {
            spare::put(std::mem::take(&mut self.path));
        }
    }
}

/// Directories that nobody uses: on some file systems it takes longer to make and remove one than to start a process.
mod spare {
    use super::*;

    const MOST: usize = 4;
    static SPARE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    pub(super) fn take() -> Option<PathBuf> {
        // Somebody may tidy up the temporary directory.
        std::iter::from_fn(|| lock().pop()).find(|path| path.is_dir())
    }

    pub(super) fn has_room() -> bool {
        lock().len() < MOST
    }

    pub(super) fn put(path: PathBuf) {
        lock().push(path);
    }

    pub(super) fn remove_all() {
        std::mem::take(&mut *lock()).into_iter().for_each(cleaner::take);
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
        cleaner::take(std::mem::take(&mut self.path));
    }
}

/// Whether all are gone, if need be after waiting so long.
pub(crate) fn wait_for_removal(patience: Duration) -> bool {
    spare::remove_all();
    cleaner::wait(patience)
}

/// Removes directories while others go on: on some file systems a single one takes longer than to start a process, and
/// how much is in it nobody knows. The thread is there only as long as there is something to do.
mod cleaner {
    use super::*;

    struct Work {
        waiting: Vec<PathBuf>,
        at_work: bool,
    }

    static WORK: Mutex<Work> = Mutex::new(Work { waiting: Vec::new(), at_work: false });
    static IDLE: Condvar = Condvar::new();

    pub(super) fn take(path: PathBuf) {
        let mut work = lock();
        work.waiting.push(path);
        if !work.at_work {
            // Without a thread, the next one tries again.
            work.at_work = thread::Builder::new().name("checkrein-cleaner".into()).spawn(clean).is_ok();
        }
    }

    pub(super) fn wait(patience: Duration) -> bool {
        let busy = |work: &mut Work| work.at_work;
        let (work, _) = IDLE.wait_timeout_while(lock(), patience, busy).unwrap_or_else(PoisonError::into_inner);
        !work.at_work
    }

    fn clean() {
        loop {
            let mut work = lock();
            let Some(path) = work.waiting.pop() else {
                work.at_work = false;
                IDLE.notify_all();
                return;
            };
            drop(work);
            // What cannot be removed stays: nobody is left who could be told.
            let _ = rmdir(&path).map_err(Into::into).or_else(|_: io::Error| remove(&path));
        }
    }

    fn lock() -> MutexGuard<'static, Work> {
        WORK.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a directory, however deep it goes: what lies in a directory in it is moved up first, so that nothing here
/// grows with the depth. Links are never followed.
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
            // A directory with something in it, perhaps one that may not be entered.
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
    fn all_of_it_goes_and_nothing_else() {
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
    fn it_may_be_deeper_than_any_path_is_long() {
        let outside = tempfile::tempdir().unwrap();
        let top = outside.path().join("top");
        fs::create_dir(&top).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = openat(CWD, &top, flags, Mode::empty()).unwrap();
        for _ in 0..2500 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", flags, Mode::empty()).unwrap();
        }
        remove(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn nobody_else_may_enter() {
        let temporary = Temporary::new().unwrap();
        assert_eq!(fs::metadata(temporary.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let path = temporary.path().to_owned();
        drop(temporary);
        assert!(wait_for_removal(Duration::from_secs(60)));
        assert!(!path.exists());
    }
}
