//! Directories that only the user can write to.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Why a directory is not believed: what is wrong, in words.
pub(super) type Refused = String;

/// Whether what stands there can be believed: a directory of this user that nobody else can write to. `Ok(false)`: there is
/// none.
pub(super) fn is_private(dir: &Path) -> Result<bool, Refused> {
    let metadata = match dir.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(format!("{} cannot be looked at: {error}", dir.display())),
    };
    if !metadata.is_dir() {
        return Err(format!("{} is no directory", dir.display()));
    }
    owned(dir, &metadata, false)?;
    if let Some(parent) = dir.parent()
        && let Ok(above) = parent.metadata()
    {
        owned(parent, &above, true)?;
    }
    Ok(true)
}

/// Whether only this user can write to it. One above may be the administrator's, and shared if nobody can take away what is
/// another's.
#[cfg(unix)]
pub(super) fn owned(path: &Path, metadata: &fs::Metadata, above: bool) -> Result<(), Refused> {
    use std::os::unix::fs::MetadataExt as _;

    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() != me && !(above && metadata.uid() == 0) {
        return Err(format!("{} belongs to somebody else (user {})", path.display(), metadata.uid()));
    }
    let (mode, sticky) = (metadata.mode(), 0o1000);
    if mode & 0o022 != 0 && !(above && mode & sticky != 0) {
        let help = format!("chmod go-w {}", path.display());
        return Err(format!("{} can be written to by others; `{help}` mends that", path.display()));
    }
    Ok(())
}

/// Who may write there is told in another way.
#[cfg(not(unix))]
pub(super) fn owned(_: &Path, _: &fs::Metadata, _: bool) -> Result<(), Refused> {
    Ok(())
}

/// Puts a file in place at one stroke: it is written beside, and takes the name when it is complete.
pub(super) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let beside = beside(path);
    let written = write_new(&beside, bytes, mode).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    // Each state has keys of its own, from the system's randomness.
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
