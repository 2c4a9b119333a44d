//! Detects changes of a large script by its metadata, without reading it.
//!
//! Script copies use it. If a change cannot be excluded, the script is read again.

use std::fs::Metadata;
use std::io;
use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, SystemTime};

use super::permissions::replace;
use crate::regular_file::read_text;

/// Metadata that changes with every change of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity(String);

/// Minimum age of a change. A younger file may change again with the same timestamp.
#[cfg(unix)]
const RACY: Duration = Duration::from_secs(2);

impl Identity {
    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(format!(
            "{} {} {} {}.{} {}.{}",
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec()
        ))
    }

    /// `true` if both files have not changed since [`remember`](Self::remember).
    pub(super) fn is_known(file: &Path, original: &Metadata, copy: &Path) -> bool {
        let is_same = |pair: String| read_text(file, pair.len() as u64).is_ok_and(|stored| stored == pair);
        Self::pair(original, copy).is_some_and(is_same)
    }

    /// Stores the metadata of both files, unless the original changed less than [`RACY`] ago.
    pub(super) fn remember(file: &Path, original: &Metadata, copy: &Path) -> io::Result<()> {
        if is_settled(original)
            && let Some(pair) = Self::pair(original, copy)
        {
            return replace(file, pair.as_bytes(), 0o600);
        }
        Ok(())
    }

    #[cfg(unix)]
    fn pair(original: &Metadata, copy: &Path) -> Option<String> {
        let copy = copy.symlink_metadata().ok().filter(Metadata::is_file)?;
        Some(format!("{}\n{}\n", Self::new(original).0, Self::new(&copy).0))
    }

    /// Returns `None`: the metadata of these systems does not show every change.
    #[cfg(not(unix))]
    fn pair(_: &Metadata, _: &Path) -> Option<String> {
        None
    }
}

#[cfg(unix)]
fn is_settled(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let changed = u64::try_from(metadata.ctime().max(metadata.mtime())).unwrap_or(u64::MAX);
    let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(changed.saturating_add(1)));
    changed.is_some_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age > RACY))
}

#[cfg(not(unix))]
fn is_settled(_: &Metadata) -> bool {
    false
}
