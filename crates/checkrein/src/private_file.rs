//! Files that only this user can read, for what is too large to be passed on in another way.

use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a new file with a name that nobody can guess.
pub fn write(directory: &Path, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    // Each state has keys of its own, from the system's randomness.
    let name = format!("checkrein-{:016x}{extension}", RandomState::new().hash_one(0_u8));
    let path = directory.join(name);
    let mut options = OpenOptions::new();
    // A file that is there already, or a link that somebody has put there, is an error.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(bytes)?;
    Ok(path)
}
