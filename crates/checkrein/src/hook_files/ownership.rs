//! Ownership and permissions of managed files.
//!
//! Commands in a managed file run as the user of the agent and cannot be skipped. So only root and the administrator may be
//! able to write the file, its directories, and every link on the way. A file that fails the check is never trusted.

use std::path::Path;

use super::locations::Locations;
#[cfg(unix)]
use crate::real_path::{real_path, real_path_or_same};

/// Owner and permissions of a managed file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ownership {
    /// User id of the owner, on Unix.
    pub owner: Option<u32>,
    /// Mode, on Unix.
    pub mode: Option<u32>,
    /// Reason why other users can write the file. `None` if they cannot.
    pub problem: Option<String>,
}

/// Checks a managed file.
#[cfg(unix)]
pub(super) fn check(path: &Path, place: &Locations) -> Ownership {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = path.metadata().ok();
    Ownership {
        owner: metadata.as_ref().map(std::os::unix::fs::MetadataExt::uid),
        mode: metadata.as_ref().map(|file| file.mode() & 0o7777),
        problem: problem(path, place).err(),
    }
}

#[cfg(not(unix))]
pub(super) fn check(_: &Path, _: &Locations) -> Ownership {
    let problem = "checkrein cannot check file permissions on this system".to_owned();
    Ownership { owner: None, mode: None, problem: Some(problem) }
}

/// Checks each link on the way, its directories, and the real file.
#[cfg(unix)]
fn problem(path: &Path, place: &Locations) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    // The reader reports a missing file and a link loop.
    let Ok(real) = real_path(path) else { return Ok(()) };
    let root = real_path_or_same(&place.root);
    let administrator = match place.administrator {
        Some(number) => number,
        None => root.metadata().map_err(|error| format!("cannot check {}: {error}", root.display()))?.uid(),
    };
    for link in super::symlinks::on_the_way(path) {
        owned(&link, administrator)?;
        all_above(link.parent().unwrap_or(&link), &root, administrator)?;
    }
    all_above(&real, &root, administrator)
}

/// Checks a path and all its parent directories up to the root directory.
#[cfg(unix)]
fn all_above(path: &Path, root: &Path, administrator: u32) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    for above in path.ancestors() {
        owned(above, administrator)?;
        let mode = above.metadata().map_err(|error| format!("cannot check {}: {error}", above.display()))?.mode();
        let writable = match mode & 0o022 {
            0 => None,
            0o020 => Some("group-writable"),
            _ => Some("world-writable"),
        };
        if let Some(writable) = writable {
            let (shown, mode) = (above.display(), mode & 0o7777);
            return Err(format!("{shown} is {writable} (mode {mode:04o}); run: chmod go-w {shown}"));
        }
        if above == root {
            break;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn owned(path: &Path, administrator: u32) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    let shown = path.display();
    let owner = path.symlink_metadata().map_err(|error| format!("cannot check {shown}: {error}"))?.uid();
    if owner == 0 || owner == administrator {
        return Ok(());
    }
    Err(format!("{shown} is owned by user {owner}, not by user {administrator}; run: chown -h {administrator} {shown}"))
}
