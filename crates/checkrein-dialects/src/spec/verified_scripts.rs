//! Scripts of a command that run only with their approved contents. The trust code sets them; the command handler verifies them.

use std::ops::Range;
use std::path::PathBuf;

/// Scripts that a command names, with their approved contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedScripts {
    /// The scripts.
    pub scripts: Vec<VerifiedScript>,
    /// Directory for copies of the scripts. Only the user can write to it.
    pub store: PathBuf,
}

/// A script with approved contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedScript {
    /// Word of the command that names it.
    pub word: VerifiedWord,
    /// The word as a path, which may be relative to the working directory of the command.
    pub named: PathBuf,
    /// Path of the approved file.
    pub path: PathBuf,
    /// Root of the directories that are mirrored around the copy, so that the script finds the files next to it.
    pub base: PathBuf,
    /// SHA-256 of the approved contents. `None`: the file did not exist.
    pub sha256: Option<[u8; 32]>,
}

/// Position of a word in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifiedWord {
    /// Range of bytes in the text for a shell.
    Text(Range<usize>),
    /// Index in the list of words.
    Argv(usize),
}
