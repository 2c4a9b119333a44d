//! Compares the index with the files and with the commit of `HEAD`.
//!
//! Contents of files are never compared. A repository is dirty if a file has another size or is missing, or if the staged tree
//! is not the tree of `HEAD`. It is clean if size and time of all files are those of the index and the staged tree is the tree
//! of `HEAD`. Everything else is unknown: only a comparison of contents could tell.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use checkrein_expression::Value;

use super::config::Config;
use super::index::{self, Entry};
use super::object;
use super::place::Place;
use super::refs::{self, Commit};
use crate::builtins::shell::lexical;
use crate::regular_file;

/// Maximum size of the index, in bytes.
const SIZE: u64 = 16 << 20;

/// Hashes of an empty file.
const EMPTY: &[&str] =
    &["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/// Result of the comparison of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Same,
    Changed,
    Unknown,
}

/// Returns whether tracked files are changed or staged.
pub(super) fn is_dirty(place: &Place, config: &Config) -> Value {
    match compare(place, config) {
        State::Same => false.into(),
        State::Changed => true.into(),
        State::Unknown => Value::unknown("changes of the repository (only a comparison of contents tells them)"),
    }
}

fn compare(place: &Place, config: &Config) -> State {
    let path = place.git_dir.join("index");
    let commit = refs::head_commit(place);
    let bytes = match regular_file::read(&path, SIZE) {
        Ok(bytes) => bytes,
        // A new repository has neither an index nor a commit.
        Err(error) if error.is_missing() && commit == Commit::None => return State::Same,
        Err(_) => return State::Unknown,
    };
    let hash_length = if config.last("extensions", "", "objectformat") == Some("sha256") { 32 } else { 20 };
    let Some(index) = index::parse(&bytes, hash_length) else { return State::Unknown };
    if !is_root(place, config) {
        return State::Unknown;
    }
    let written = path.metadata().ok().and_then(|metadata| modified(&metadata));
    let has_modes = config.last("core", "", "filemode").is_none_or(|value| value != "false");
    let mut state = State::Same;
    for entry in &index.entries {
        match entry_state(entry, &place.root, written, has_modes) {
            State::Changed => return State::Changed,
            State::Unknown => state = State::Unknown,
            State::Same => {}
        }
    }
    match (staged(place, &commit, index.tree.as_deref(), index.entries.is_empty()), state) {
        (State::Changed, _) => State::Changed,
        (State::Same, state) => state,
        (State::Unknown, _) => State::Unknown,
    }
}

/// Compares the staged tree with the tree of the commit.
fn staged(place: &Place, commit: &Commit, tree: Option<&str>, is_empty: bool) -> State {
    match (commit, tree) {
        (Commit::None, _) if is_empty => State::Same,
        (Commit::None, _) => State::Changed,
        (Commit::Hash(commit), Some(tree)) => match object::tree_of(place, commit) {
            Some(own) if own == tree => State::Same,
            Some(_) => State::Changed,
            None => State::Unknown,
        },
        _ => State::Unknown,
    }
}

/// `true` if the working tree is where `.git` was found.
fn is_root(place: &Place, config: &Config) -> bool {
    match config.last("core", "", "worktree") {
        Some(root) => lexical(&place.git_dir.join(root)) == place.root,
        None => config.last("core", "", "bare").is_none_or(|bare| bare == "false"),
    }
}

fn entry_state(entry: &Entry, root: &Path, written: Option<(u32, u32)>, has_modes: bool) -> State {
    const TYPE: u32 = 0o170_000;
    const FILE: u32 = 0o100_000;
    const LINK: u32 = 0o120_000;
    if entry.is_unfinished {
        return State::Changed;
    }
    if entry.is_skipped {
        return State::Same;
    }
    let Some(path) = path_below(root, &entry.path) else { return State::Unknown };
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            // A submodule need not be checked out.
            return if matches!(entry.mode & TYPE, FILE | LINK) { State::Changed } else { State::Unknown };
        }
        Err(_) => return State::Unknown,
    };
    let is_same_type = match entry.mode & TYPE {
        FILE => metadata.is_file(),
        LINK => metadata.is_symlink(),
        // The state of a submodule is in its own repository.
        _ => return State::Unknown,
    };
    if !is_same_type {
        // Without support for links, git writes files with their targets.
        return if metadata.is_file() { State::Unknown } else { State::Changed };
    }
    if has_modes
        && entry.mode & TYPE == FILE
        && is_executable(&metadata).is_some_and(|own| own != (entry.mode & 0o100 != 0))
    {
        return State::Changed;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the index has the size modulo 2³²")]
    let size = metadata.len() as u32;
    if size != entry.size {
        // Git writes the size 0 for a file that has changed too close to the index to compare times.
        let hash: String = entry.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        return if entry.size != 0 || EMPTY.contains(&hash.as_str()) { State::Changed } else { State::Unknown };
    }
    let (Some(own), Some(written)) = (modified(&metadata), written) else { return State::Unknown };
    // Some programs write no nanoseconds.
    let is_same = own.0 == entry.modified.0 && (entry.modified.1 == 0 || own.1 == entry.modified.1);
    // A file that is not older than the index may have changed since, within the resolution of times.
    if is_same && own < written { State::Same } else { State::Unknown }
}

/// Returns the path of an entry, unless it leads out of the working tree.
fn path_below(root: &Path, path: &[u8]) -> Option<PathBuf> {
    let text = own_path(path)?;
    let is_plain = text.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if is_plain { Some(root.join(text)) } else { None }
}

#[cfg(unix)]
fn own_path(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(std::ffi::OsStr::from_bytes(path).into())
}

#[cfg(not(unix))]
fn own_path(path: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(path).ok().map(PathBuf::from)
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(metadata.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> Option<bool> {
    None
}

#[expect(clippy::cast_possible_truncation, reason = "the index has the seconds modulo 2³²")]
fn modified(metadata: &Metadata) -> Option<(u32, u32)> {
    let time = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((time.as_secs() as u32, time.subsec_nanos()))
}
