//! Branches and commits: `HEAD`, loose refs, and `packed-refs`.

use std::path::Path;

use super::place::{LINE, Place};
use crate::regular_file;

/// Maximum size of `packed-refs`, in bytes.
const PACKED: u64 = 8 << 20;

/// Maximum number of symbolic refs on the way to a commit. Git has the same limit.
const DEPTH: usize = 5;

/// Value of `HEAD`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// Name of a branch, without `refs/heads/`.
    Branch(String),
    /// A commit.
    Detached(String),
    Unknown,
}

/// Reads `HEAD`.
pub(super) fn head(place: &Place) -> Head {
    let path = place.git_dir.join("HEAD");
    // Old repositories have a link to the ref.
    if let Ok(target) = path.read_link() {
        return target.to_str().map_or(Head::Unknown, branch);
    }
    match regular_file::read_text(&path, LINE) {
        Ok(text) => match symbolic(&text) {
            Some(name) => branch(name),
            None if is_hash(text.trim_end()) => Head::Detached(text.trim_end().to_owned()),
            None => Head::Unknown,
        },
        Err(_) => Head::Unknown,
    }
}

fn branch(name: &str) -> Head {
    match name.strip_prefix("refs/heads/") {
        // Repositories with reftables have this name in `HEAD`.
        Some(".invalid") => Head::Unknown,
        Some(branch) if is_ref(name) => Head::Branch(branch.to_owned()),
        _ => Head::Unknown,
    }
}

/// Commit of `HEAD`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Commit {
    Hash(String),
    /// The branch has no commit.
    None,
    Unknown,
}

/// Reads the commit of `HEAD`.
pub(super) fn head_commit(place: &Place) -> Commit {
    match head(place) {
        Head::Branch(branch) => resolve(place, &format!("refs/heads/{branch}"), DEPTH),
        Head::Detached(hash) => Commit::Hash(hash),
        Head::Unknown => Commit::Unknown,
    }
}

fn resolve(place: &Place, name: &str, depth: usize) -> Commit {
    if depth == 0 || !is_ref(name) {
        return Commit::Unknown;
    }
    match regular_file::read_text(&place.common_dir.join(name), LINE) {
        Ok(text) => match symbolic(&text) {
            Some(next) => resolve(place, next, depth - 1),
            None if is_hash(text.trim_end()) => Commit::Hash(text.trim_end().to_owned()),
            None => Commit::Unknown,
        },
        Err(error) if error.is_missing() => packed(place, name),
        // A directory with other refs below it.
        Err(regular_file::ReadError::NotRegular("a directory")) => packed(place, name),
        Err(_) => Commit::Unknown,
    }
}

fn packed(place: &Place, name: &str) -> Commit {
    let bytes = match regular_file::read(&place.common_dir.join("packed-refs"), PACKED) {
        Ok(bytes) => bytes,
        Err(error) if error.is_missing() => return Commit::None,
        Err(_) => return Commit::Unknown,
    };
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((hash, own)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' ')) else { continue };
        if own == name && is_hash(hash) {
            return Commit::Hash(hash.to_owned());
        }
    }
    Commit::None
}

/// Returns the default branch of `origin`, as the last clone or `git remote set-head` has stored it.
pub(super) fn default_branch(place: &Place) -> Option<String> {
    let text = regular_file::read_text(&place.common_dir.join("refs/remotes/origin/HEAD"), LINE).ok()?;
    Some(symbolic(&text)?.strip_prefix("refs/remotes/origin/")?.to_owned())
}

fn symbolic(text: &str) -> Option<&str> {
    Some(text.strip_prefix("ref:")?.trim())
}

/// `true` for the hexadecimal form of a SHA-1 or SHA-256 hash.
pub(super) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `true` if a name is a path below `refs` without parts that lead elsewhere.
fn is_ref(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.starts_with("refs/")
        && name.split('/').all(is_part)
        && !name.contains(|c: char| c.is_control() || c == '\\')
        && Path::new(name).is_relative()
}
