//! A file that was looked at, with what it says. Everything that merges files works on these.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use checkrein_dialects::HookSpec;
use checkrein_dialects::config::Settings;

use super::FileState;
use crate::trust::Origin;

/// A file that was looked at, and what is in it.
pub(super) struct LoadedFile {
    pub(super) state: FileState,
    pub(super) hooks: Vec<HookSpec>,
    pub(super) settings: Settings,
    /// `true` if the caller named the file, or one that includes it.
    pub(super) is_explicit: bool,
    /// `true` for an administrator's file whose settings apply to the files of all dialects.
    pub(super) is_policy: bool,
    /// Names of the dialects of this file and of those that include it. Settings of files in these dialects apply to it.
    pub(super) dialect_chain: Vec<&'static str>,
    /// How it came to be read.
    pub(super) origin: Origin,
    /// Index of the part of the sources that it belongs to.
    pub(super) part: usize,
    /// `true` if it is no part of the result: another reading of the same file has taken its place.
    pub(super) is_left_out: bool,
}

impl LoadedFile {
    pub(super) fn name(&self) -> String {
        name(&self.state.path)
    }

    /// The place of a key in the file, in words.
    pub(super) fn says(&self, key: &str) -> String {
        match self.settings.line_of(key) {
            Some(line) => format!("`{key}` in {}:{line}", self.name()),
            None => format!("`{key}` in {}", self.name()),
        }
    }
}

/// A path as it is shown.
pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

/// A hash of a text within this process, to tell whether a file has changed.
pub(super) fn change_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
