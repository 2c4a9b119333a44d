//! Directories of a repository: the working tree, its `.git`, and the directory that worktrees share.

use std::path::{Path, PathBuf};

use crate::builtins::shell::lexical;
use crate::regular_file;

/// Maximum size of a file that holds one line, in bytes.
pub(super) const LINE: u64 = 4096;

/// Directories of a repository.
#[derive(Debug)]
pub(super) struct Place {
    /// Root of the working tree.
    pub(super) root: PathBuf,
    /// Directory with `HEAD` and `index`.
    pub(super) git_dir: PathBuf,
    /// Directory with `config`, `refs` and `objects`. Differs from `git_dir` in a worktree.
    pub(super) common_dir: PathBuf,
}

/// Result of the search for a repository.
#[derive(Debug)]
pub(super) enum Found {
    /// The directory is in no repository.
    None,
    /// Reason why the repository is not read.
    Unreadable(String),
    Place(Place),
}

impl Place {
    /// Finds the repository of a directory.
    pub(super) fn find(cwd: &Path) -> Found {
        let cwd = lexical(cwd);
        for root in cwd.ancestors() {
            let entry = root.join(".git");
            let Ok(metadata) = entry.metadata() else { continue };
            if !is_own(&entry) {
                return Found::Unreadable(format!("the repository {} (another user owns it)", root.display()));
            }
            let git_dir = match metadata.is_dir() {
                true => entry,
                false => match linked(&entry) {
                    Some(git_dir) => git_dir,
                    None => return Found::Unreadable(format!("the repository {} (`.git` is invalid)", root.display())),
                },
            };
            // Git also skips a directory without `HEAD`.
            if git_dir.join("HEAD").symlink_metadata().is_err() {
                continue;
            }
            let common_dir = match regular_file::read_text(&git_dir.join("commondir"), LINE) {
                Ok(text) => lexical(&git_dir.join(text.trim_end_matches(['\n', '\r']))),
                Err(error) if error.is_missing() => git_dir.clone(),
                Err(_) => {
                    return Found::Unreadable(format!("the repository {} (`commondir` is invalid)", root.display()));
                }
            };
            if !is_own(&git_dir) || !is_own(&common_dir) {
                return Found::Unreadable(format!("the repository {} (another user owns it)", root.display()));
            }
            return Found::Place(Self { root: root.to_owned(), git_dir, common_dir });
        }
        Found::None
    }
}

/// Returns the directory that a `.git` file names.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = regular_file::read_text(file, LINE).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim_matches([' ', '\n', '\r']);
    if target.is_empty() {
        return None;
    }
    Some(lexical(&file.parent()?.join(target)))
}

/// `true` if the user owns a path and the target of its link.
#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    [path.symlink_metadata(), path.metadata()].into_iter().all(|found| found.is_ok_and(|found| found.uid() == user))
}

#[cfg(not(unix))]
fn is_own(path: &Path) -> bool {
    path.metadata().is_ok()
}
