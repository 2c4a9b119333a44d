//! Permission checks and atomic writes for files that only the user may write.
//!
//! The stores of approvals and script copies use them.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Reason why a file or directory is rejected.
pub(super) type Refused = String;

/// Checks that only this user can write to a directory. Returns `false` if the directory does not exist.
///
/// # Errors
/// The reason why the directory cannot be trusted.
pub fn is_private(dir: &Path) -> Result<bool, Refused> {
    let metadata = match dir.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(format!("cannot read the permissions of {}: {error}", dir.display())),
    };
    if !metadata.is_dir() {
        return Err(format!("{} is not a directory; remove it", dir.display()));
    }
    owned(dir, &metadata, false)?;
    if let Some(parent) = dir.parent()
        && let Ok(above) = parent.metadata()
    {
        owned(parent, &above, true)?;
    }
    Ok(true)
}

/// Checks that only this user can write to a path. A directory `above` it may belong to root, and it may be shared if its
/// sticky bit is set.
#[cfg(unix)]
pub(super) fn owned(path: &Path, metadata: &fs::Metadata, above: bool) -> Result<(), Refused> {
    use std::os::unix::fs::MetadataExt as _;

    let own_uid = rustix::process::geteuid().as_raw();
    if metadata.uid() != own_uid && !(above && metadata.uid() == 0) {
        return Err(format!("{} belongs to another user (uid {})", path.display(), metadata.uid()));
    }
    let (mode, sticky) = (metadata.mode(), 0o1000);
    if mode & 0o022 != 0 && !(above && mode & sticky != 0) {
        let fix = format!("chmod go-w {}", path.display());
        let mode = mode & 0o7777;
        return Err(format!("{} is writable by other users (mode {mode:04o}); fix it: `{fix}`", path.display()));
    }
    Ok(())
}

/// `true` if another user than this one and root can write to the directory or replace it, or if that is unknown.
#[cfg(unix)]
pub(crate) fn is_writable_by_others(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let own_uid = rustix::process::geteuid().as_raw();
    let is_safe = |path: &Path| {
        path.metadata().is_ok_and(|metadata| {
            let is_sticky = path != dir && metadata.mode() & 0o1000 != 0;
            // A group with the number of its only user is private. Some systems let it write by default.
            let writers = if metadata.gid() == metadata.uid() { 0o002 } else { 0o022 };
            [0, own_uid].contains(&metadata.uid()) && (metadata.mode() & writers == 0 || is_sticky)
        })
    };
    !dir.ancestors().all(is_safe)
}

/// Accepts every directory: these systems have no modes and owners as on Unix.
#[cfg(not(unix))]
pub(crate) fn is_writable_by_others(_: &Path) -> bool {
    false
}

/// Accepts every path: these systems have no modes and owners as on Unix.
#[cfg(not(unix))]
pub(super) fn owned(_: &Path, _: &fs::Metadata, _: bool) -> Result<(), Refused> {
    Ok(())
}

/// Replaces a file atomically: writes a temporary file and renames it.
pub(super) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = temporary_name(path);
    let written = write_new(&temporary, bytes, mode).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn temporary_name(path: &Path) -> PathBuf {
    // Each `RandomState` has new keys from the system's randomness.
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".new-{:016x}", RandomState::new().hash_one(0_u8)));
    PathBuf::from(name)
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}
