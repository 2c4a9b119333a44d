//! Access to the files of a log: checks that this user can write them, and that other users cannot replace them.
//!
//! Several users can have logs in one directory that all of them can write, such as one with mode 1777. There, another user can
//! create a file in advance. Such a file must never receive entries.

use std::io;
use std::path::{Path, PathBuf};

use super::chain_head;

/// Refuses a log in a directory that everyone can write, if the log or a directory above it belongs to another user. Files of
/// root are accepted.
#[cfg(unix)]
pub(super) fn check_owners(log: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    let head = chain_head::path(log);
    for path in std::iter::once(head.as_path()).chain(log.ancestors()) {
        let Some(directory) = path.parent() else { break };
        let (Ok(found), Ok(above)) = (path.symlink_metadata(), directory.metadata()) else { continue };
        let owner = found.uid();
        if above.mode() & 0o002 != 0 && owner != user && owner != 0 {
            let (path, directory) = (path.display(), directory.display());
            let text = format!("{path} belongs to user {owner}, and everyone can write to {directory}; remove it");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn check_owners(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Checks that this user can write the log, or can create it. Writes nothing.
pub(super) fn check_writable(log: &Path) -> io::Result<()> {
    for file in [log.to_owned(), chain_head::path(log)] {
        let (existing, missing) = nearest(&file);
        if !may_write(&existing) {
            return Err(explain_denial(log));
        }
        let is_directory = existing.is_dir();
        if is_directory != missing.is_some() {
            let kind = if is_directory { "a directory" } else { "not a directory" };
            let text = format!("{} is {kind}; choose another `audit.path`", existing.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    check_owners(log)
}

/// Error for a log that this user may not write, with a fix.
pub(super) fn explain_denial(log: &Path) -> io::Error {
    let denied = [log.to_owned(), chain_head::path(log)].into_iter().find(|file| !may_write(&nearest(file).0));
    let (existing, missing) = nearest(denied.as_deref().unwrap_or(log));
    let (shown, user) = (existing.display(), crate::hook_files::user_name());
    let text = match missing {
        None if is_own(&existing) => format!("{shown} is read-only; run: chmod u+rw {shown}"),
        None => format!(
            "{shown} belongs to another user, and `{user}` may not write it; give each user a log with `%u` in \
             `audit.path`, such as `/var/log/checkrein/%u/agents.jsonl`"
        ),
        Some(missing) if missing == log => format!(
            "`{user}` may not write to {shown}; use a directory that each user can write (mode 1777), and `%u` in \
             `audit.path`"
        ),
        Some(missing) if missing.file_name().is_some_and(|name| name == user.as_str()) => {
            format!("`{user}` may not write to {shown}; run as the administrator: chmod 1777 {shown}")
        }
        Some(missing) => {
            let missing = missing.display();
            format!(
                "`{user}` may not create {missing}; run as the administrator: mkdir -p {missing} && chmod 1777 {missing}"
            )
        }
    };
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// The nearest part of a path that exists, and the first part below it, which does not exist.
fn nearest(path: &Path) -> (PathBuf, Option<PathBuf>) {
    let mut missing = None;
    for above in path.ancestors().filter(|above| !above.as_os_str().is_empty()) {
        if above.symlink_metadata().is_ok() {
            return (above.to_owned(), missing);
        }
        missing = Some(above.to_owned());
    }
    (PathBuf::from("."), missing)
}

/// Returns `true` if this user may write a file, or create files in a directory.
#[cfg(unix)]
fn may_write(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD};

    let kind = if path.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK | Access::READ_OK };
    rustix::fs::accessat(CWD, path, kind, AtFlags::EACCESS).is_ok()
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_dir() || !found.permissions().readonly())
}

#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    path.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    true
}
