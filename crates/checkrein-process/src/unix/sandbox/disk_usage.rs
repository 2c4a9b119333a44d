//! Disk space of a temporary directory. Must never follow symbolic links: the sandboxed process controls the content.

use std::collections::HashSet;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Minimum space of an entry, in bytes. It bounds the number of entries, and so the time of a measurement.
const ENTRY: u64 = 4096;

/// Returns `true` if a directory with the files that these processes hold open without a name takes more than this.
///
/// Directories that cannot be read exceed every limit: only a process that hides its files creates them.
pub(super) fn exceeds(directory: &Path, members: &[i32], limit: u64) -> bool {
    let mut sum = Sum { bytes: 0, limit, linked: HashSet::new() };
    sum.add_directory(directory).is_err() || sum.add_unnamed(directory, members).is_none()
}

struct Sum {
    bytes: u64,
    limit: u64,
    /// Files with several names that are counted already.
    linked: HashSet<(u64, u64)>,
}

impl Sum {
    /// Adds all entries below a directory. Fails at the limit.
    fn add_directory(&mut self, top: &Path) -> io::Result<()> {
        let mut directories = vec![top.to_owned()];
        while let Some(directory) = directories.pop() {
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                // Removed in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let entry = entry?;
                let Some(found) = metadata(&entry)? else { continue };
                self.add(&found)?;
                if found.is_dir() {
                    directories.push(entry.path());
                }
            }
        }
        Ok(())
    }

    /// Adds files of the same file system that have no name but are open. `None` at the limit.
    fn add_unnamed(&mut self, directory: &Path, members: &[i32]) -> Option<()> {
        let Ok(device) = directory.metadata().map(|found| found.dev()) else { return Some(()) };
        for pid in members {
            // A process that has exited has no files.
            for open in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
                match open.path().metadata() {
                    Ok(found) if found.is_file() && found.nlink() == 0 && found.dev() == device => {
                        self.add(&found).ok()?;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn add(&mut self, found: &Metadata) -> io::Result<()> {
        if found.nlink() != 1 && !found.is_dir() && !self.linked.insert((found.dev(), found.ino())) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(found.blocks().saturating_mul(512).max(ENTRY));
        if self.bytes > self.limit { Err(io::ErrorKind::QuotaExceeded.into()) } else { Ok(()) }
    }
}

/// Returns the metadata of an entry itself, not of the target of a link. `None` if it was removed.
fn metadata(entry: &DirEntry) -> io::Result<Option<Metadata>> {
    match entry.metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_once_and_links_are_not_followed() {
        const MIB: u64 = 1 << 20;
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("large"), vec![1; 4 << 20]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::write(path("a/b/file"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(path("a/b/file"), path("again")).unwrap();
        std::os::unix::fs::symlink(outside.path(), path("link")).unwrap();
        fs::File::create(path("sparse")).unwrap().set_len(1 << 40).unwrap();
        assert!(!exceeds(dir.path(), &[], 2 * MIB));
        assert!(exceeds(dir.path(), &[], MIB));
        // Empty files take space too.
        for index in 0..300 {
            fs::write(path(&index.to_string()), "").unwrap();
        }
        assert!(exceeds(dir.path(), &[], 2 * MIB));
    }

    #[test]
    fn open_files_without_a_name_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile_in(dir.path()).unwrap();
        io::Write::write_all(&mut file, &vec![1; 2 << 20]).unwrap();
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(!exceeds(dir.path(), &[], 1 << 20));
        assert!(exceeds(dir.path(), &[me], 1 << 20));
    }
}
