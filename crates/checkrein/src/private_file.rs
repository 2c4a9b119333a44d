//! New files that only the user can read.
//!
//! They hold values that are too large for an environment variable or a message, and the state of recording. An existing
//! file or link is never overwritten.

use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a new file with an unpredictable name.
pub fn write(directory: &Path, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    // Each `RandomState` has new keys from the system's random numbers.
    let name = format!("checkrein-{:016x}{extension}", RandomState::new().hash_one(0_u8));
    let path = directory.join(name);
    let mut options = OpenOptions::new();
    // An existing file or link is an error.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(bytes)?;
    Ok(path)
}
