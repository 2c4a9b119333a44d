//! Who may write an administrator's file.
//!
//! Commands in such a file run as whoever uses the agent, and nobody can skip them. So a file that anybody else may write is
//! none: all that leads to it must be his, links and where they lead included.

use std::path::Path;

use super::locations::Locations;
#[cfg(unix)]
use crate::real_path::{real_path, real_path_or_same};

/// Whose an administrator's file is, and whether only he can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ownership {
    /// The number of the user who owns it, where the system has such numbers.
    pub owner: Option<u32>,
    /// Its mode, where the system has modes.
    pub mode: Option<u32>,
    /// What lets somebody else write it, in words. `None`: nothing.
    pub problem: Option<String>,
}

#[cfg(unix)]
pub(super) fn of(path: &Path, place: &Locations) -> Ownership {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = path.metadata().ok();
    Ownership {
        owner: metadata.as_ref().map(std::os::unix::fs::MetadataExt::uid),
        mode: metadata.as_ref().map(|file| file.mode() & 0o7777),
        problem: problem(path, place).err(),
    }
}

#[cfg(not(unix))]
pub(super) fn of(_: &Path, _: &Locations) -> Ownership {
    let problem = "checkrein cannot tell on this system who may write it".to_owned();
    Ownership { owner: None, mode: None, problem: Some(problem) }
}

/// Looks at each link on the way with the directories that it is in, and at where all of it leads.
#[cfg(unix)]
fn problem(path: &Path, place: &Locations) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    // What is not there, or leads in a circle, is reported by who reads it.
    let Ok(real) = real_path(path) else { return Ok(()) };
    let root = real_path_or_same(&place.root);
    let administrator = match place.administrator {
        Some(number) => number,
        None => root.metadata().map_err(|error| format!("{} cannot be looked at: {error}", root.display()))?.uid(),
    };
    for link in super::symlinks::on_the_way(path) {
        owned(&link, administrator)?;
        all_above(link.parent().unwrap_or(&link), &root, administrator)?;
    }
    all_above(&real, &root, administrator)
}

/// A path and all directories that it is in, up to what stands for `/`.
#[cfg(unix)]
fn all_above(path: &Path, root: &Path, administrator: u32) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    for above in path.ancestors() {
        owned(above, administrator)?;
        let mode =
            above.metadata().map_err(|error| format!("{} cannot be looked at: {error}", above.display()))?.mode();
        let who = match mode & 0o022 {
            0 => None,
            0o020 => Some("its group"),
            _ => Some("everybody"),
        };
        if let Some(who) = who {
            let (shown, mode) = (above.display(), mode & 0o7777);
            return Err(format!("{shown} may be written by {who} (mode {mode:04o}): chmod go-w {shown}"));
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
    let owner = path.symlink_metadata().map_err(|error| format!("{shown} cannot be looked at: {error}"))?.uid();
    if owner == 0 || owner == administrator {
        return Ok(());
    }
    Err(format!("{shown} is owned by user {owner}, not by user {administrator}: chown -h {administrator} {shown}"))
}
