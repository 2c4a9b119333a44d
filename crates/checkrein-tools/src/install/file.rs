//! Atomic file changes for the installer: lock, backup, write and rename. A file must never be changed in part.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use checkrein::internal::real_path::leads_out_of;
use checkrein::internal::regular_file;

use super::InstallError;

/// File behind a path, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// Path with symbolic links resolved. Changes go to this file, so links stay.
    pub(super) real: PathBuf,
    /// `None` if the file does not exist.
    pub(super) text: Option<String>,
}

/// Maximum size of a settings file, in bytes.
const MAX_SIZE: u64 = checkrein_document::MAX_SIZE as u64;

/// Reads a file that may not exist. With `project`, the file must be inside of this directory after all links are resolved.
pub(super) fn read(path: &Path, project: Option<&Path>) -> Result<Read, InstallError> {
    let text = match regular_file::read_text(path, MAX_SIZE) {
        Ok(text) => Some(text),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(InstallError::from_read_error(path, error)),
    };
    let real = match &text {
        Some(_) => path.canonicalize().map_err(InstallError::io("read", path))?,
        None => path.to_owned(),
    };
    // The directory of a missing file can be a link too.
    if let Some(real) = project.and_then(|project| leads_out_of(project, path)) {
        return Err(InstallError::OutOfProject { path: path.to_owned(), real });
    }
    Ok(Read { real, text })
}

/// Reads the text of a settings file that checkrein does not change. `None` if it cannot be read.
pub(super) fn read_text(path: &Path) -> Option<String> {
    regular_file::read_text(path, MAX_SIZE).ok()
}

/// Checks that a file can be replaced by one with the same owner and permissions.
pub(super) fn check_replaceable(path: &Path) -> Result<(), InstallError> {
    let Ok(existing) = path.metadata() else { return Ok(()) };
    if existing.permissions().readonly() {
        return Err(InstallError::ReadOnly { path: path.to_owned() });
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let user = rustix::process::geteuid();
        if !user.is_root() && existing.uid() != user.as_raw() {
            return Err(InstallError::OtherOwner { path: path.to_owned(), uid: existing.uid(), gid: existing.gid() });
        }
    }
    Ok(())
}

/// Number of attempts to lock a directory that other processes remove.
const ATTEMPTS: usize = 100;

/// Lock of a directory. While it is held, no other checkrein process changes files in it.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the lock. The kernel releases it when the process ends, even by a crash.
    pub(super) fn acquire(directory: &Path) -> Result<Self, InstallError> {
        let lock = || -> io::Result<File> {
            // Unix can open and lock the directory itself, so no lock file is needed.
            #[cfg(unix)]
            let file = File::open(directory)?;
            #[cfg(not(unix))]
            let file =
                OpenOptions::new().create(true).truncate(false).write(true).open(directory.join(".checkrein-lock"))?;
            fs4::FileExt::lock(&file)?;
            Ok(file)
        };
        Ok(Self { file: lock().map_err(InstallError::io("lock", directory))? })
    }

    /// Creates the directory and waits for its lock. A removal in another process can delete the empty directory in between, so
    /// this is repeated until the locked directory exists.
    pub(super) fn acquire_new(directory: &Path) -> Result<Self, InstallError> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            fs::create_dir_all(directory).map_err(InstallError::io("create", directory))?;
            match Self::acquire(directory) {
                Ok(lock) if lock.is_current(directory) => return Ok(lock),
                Ok(_) => {}
                Err(error @ InstallError::Io { .. }) if !directory.exists() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| InstallError::io("lock", directory)(io::ErrorKind::NotFound.into())))
    }

    /// Returns `true` if the path still names the locked directory.
    fn is_current(&self, directory: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let (Ok(locked), Ok(named)) = (self.file.metadata(), directory.metadata()) else { return false };
            (locked.dev(), locked.ino()) == (named.dev(), named.ino())
        }
        // The lock file is open, so the directory cannot be removed.
        #[cfg(not(unix))]
        {
            self.file.metadata().is_ok() && directory.is_dir()
        }
    }
}

/// Writes a temporary file in the same directory, syncs it and renames it to `path`. An existing file keeps its owner and its
/// permissions; if the system does not permit that, the file stays unchanged.
pub(super) fn replace(path: &Path, text: &str, executable: bool) -> Result<(), InstallError> {
    check_replaceable(path)?;
    write(path, text, path.metadata().ok().as_ref(), executable)
}

fn write(path: &Path, text: &str, like: Option<&fs::Metadata>, executable: bool) -> Result<(), InstallError> {
    remove_stale(path);
    let temporary = temporary_path(path, &format!("{:016x}", RandomState::new().hash_one(0_u8)));
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // The temporary file must never be readable for more users than the existing file is.
        #[cfg(unix)]
        let mode = if like.is_some() { 0o600 } else { 0o666 };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { mode | 0o111 } else { mode });
        #[cfg(not(unix))]
        let _ = executable;
        let mut file = options.open(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(like) = like {
            #[cfg(unix)]
            keep_owner(&file, like)?;
            file.set_permissions(like.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        sync(directory_of(path))
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&temporary);
        InstallError::io("write", path)(error)
    })
}

/// Writes a backup of a file's text and returns its path. Existing backups stay. If the newest has the same text, it is reused.
pub(super) fn back_up(path: &Path, text: &str) -> Result<PathBuf, InstallError> {
    for number in 1_u32.. {
        let copy = backup_path(path, number);
        match regular_file::read(&copy, MAX_SIZE) {
            Ok(existing) if existing == text.as_bytes() && newest_backup(path).is_some_and(|newest| newest == copy) => {
                return Ok(copy);
            }
            Ok(_) => {}
            Err(error) if error.is_missing() => {
                write(&copy, text, path.metadata().ok().as_ref(), false)?;
                return Ok(copy);
            }
            Err(error) => return Err(InstallError::from_read_error(&copy, error)),
        }
    }
    Err(InstallError::io("write", path)(io::Error::other("too many backups")))
}

/// Path of the newest backup.
pub(super) fn newest_backup(path: &Path) -> Option<PathBuf> {
    let exists = |number: &u32| backup_path(path, *number).symlink_metadata().is_ok();
    let last = (1_u32..).take_while(exists).last()?;
    Some(backup_path(path, last))
}

fn backup_path(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".checkrein-backup");
    if number > 1 {
        name.push(format!("-{number}"));
    }
    path.with_file_name(name)
}

/// Removes a file, unless it is read-only.
pub(super) fn remove(path: &Path) -> Result<(), InstallError> {
    if path.metadata().is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err(InstallError::ReadOnly { path: path.to_owned() });
    }
    fs::remove_file(path).and_then(|()| sync(directory_of(path))).map_err(InstallError::io("remove", path))
}

pub(super) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

const PREFIX: &str = ".checkrein-";

fn temporary_path(path: &Path, random: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{PREFIX}{random}-{name}"))
}

/// Removes temporary files of killed processes. The caller holds the lock, so no other process uses them.
fn remove_stale(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_stale = |found: &str| {
        let random = found.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(&name)?.strip_suffix('-'));
        random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    for found in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        if found.file_name().to_str().is_some_and(is_stale) {
            let _ = fs::remove_file(found.path());
        }
    }
}

/// Sets the owner and group of the replaced file.
#[cfg(unix)]
fn keep_owner(file: &File, existing: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (existing.uid(), existing.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(existing.uid()), Some(existing.gid())).map_err(|error| {
        let (uid, gid) = (existing.uid(), existing.gid());
        io::Error::new(error.kind(), format!("cannot keep its owner (uid {uid}, gid {gid}): {error}"))
    })
}

/// Syncs a directory, so that a rename in it is durable.
fn sync(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}
