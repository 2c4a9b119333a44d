//! Patches as models write them for tools such as Codex's `apply_patch`.

/// What the heads of patches name files with.
pub(crate) const HEADS: &[&str] = &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// The files that a text changes, if it is a patch.
pub(crate) fn files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head))).map(str::trim)
}
