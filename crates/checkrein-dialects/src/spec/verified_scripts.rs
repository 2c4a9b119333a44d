//! Scripts of a command that run only with contents that were approved.

use std::ops::Range;
use std::path::PathBuf;

/// The scripts that a command names, with what was approved of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedScripts {
    /// The scripts.
    pub scripts: Vec<VerifiedScript>,
    /// The directory for copies of them, which only the user can write to.
    pub store: PathBuf,
}

/// A script with contents that were approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedScript {
    /// The word of the command that names it.
    pub word: VerifiedWord,
    /// The same word as it was read: a path that may be relative to where the command runs.
    pub named: PathBuf,
    /// The file that was approved.
    pub path: PathBuf,
    /// The directory up to which the script finds around it what it would find around the file.
    pub base: PathBuf,
    /// The SHA-256 of what was approved. `None`: the file was not there.
    pub sha256: Option<[u8; 32]>,
}

/// Where a word of a command stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifiedWord {
    /// In the text for a shell: bytes.
    Text(Range<usize>),
    /// In the list of words.
    Argv(usize),
}
