//! Parts of patches in the format of Codex's `apply_patch`.

use std::path::Path;

/// Part of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchLine {
    /// Changed files.
    Files,
    /// Removed lines.
    Removed,
    /// Added lines.
    Added,
}

/// Derived fields of a tool with a patch in the field `$own`.
macro_rules! seen_in_patch {
    ($own:literal) => {
        &[
            $crate::input::InputRow::patched($own, $crate::input::patch::PatchLine::Files, "file_path"),
            $crate::input::InputRow::patched($own, $crate::input::patch::PatchLine::Removed, "old_string"),
            $crate::input::InputRow::patched($own, $crate::input::patch::PatchLine::Added, "new_string"),
            $crate::input::InputRow::patched($own, $crate::input::patch::PatchLine::Added, "content"),
        ]
    };
}
pub(crate) use seen_in_patch;

/// Prefix of the line that names a new file.
const NEW_FILE: &str = "*** Add File: ";

/// Prefixes of the lines that name files.
pub const HEADS: &[&str] = &["*** Update File: ", NEW_FILE, "*** Delete File: ", "*** Move to: "];

/// Lists the files that a patch changes. Text that is not a patch has none.
pub fn files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head))).map(str::trim)
}

/// `true` if the first file of a patch is a new one.
pub(super) fn starts_with_new_file(text: &str) -> bool {
    let mut heads = text.lines().map(str::trim_start).filter(|line| HEADS.iter().any(|head| line.starts_with(head)));
    heads.next().is_some_and(|line| line.starts_with(NEW_FILE))
}

/// Returns a part of a patch, a line for each item. Relative paths are resolved against `dir`. `None`: the text is not a patch,
/// or the part is empty.
pub(super) fn seen(text: &str, part: PatchLine, dir: Option<&str>) -> Option<String> {
    files(text).next()?;
    let resolve = |path: &str| match dir {
        Some(dir) if !dir.is_empty() => Path::new(dir).join(path).to_string_lossy().into_owned(),
        _ => path.to_owned(),
    };
    let owned = |line: &str| line.to_owned();
    let mut lines: Vec<String> = match part {
        PatchLine::Files => files(text).map(resolve).collect(),
        PatchLine::Removed => text.lines().filter_map(|line| line.strip_prefix('-')).map(owned).collect(),
        PatchLine::Added => text.lines().filter_map(|line| line.strip_prefix('+')).map(owned).collect(),
    };
    if part == PatchLine::Files {
        let mut seen = Vec::new();
        lines.retain(|line| {
            !seen.contains(line) && {
                seen.push(line.clone());
                true
            }
        });
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_patches_are_extracted() {
        let text =
            "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n+more\n*** Add File: b.rs\n+b\n*** End Patch";
        assert_eq!(seen(text, PatchLine::Files, None).as_deref(), Some("a.rs\nb.rs"));
        assert_eq!(seen(text, PatchLine::Files, Some("/p")).as_deref(), Some("/p/a.rs\n/p/b.rs"));
        assert_eq!(seen("*** Add File: /etc/x", PatchLine::Files, Some("/p")).as_deref(), Some("/etc/x"));
        assert_eq!(seen(text, PatchLine::Removed, None).as_deref(), Some("old"));
        assert_eq!(seen(text, PatchLine::Added, None).as_deref(), Some("new\nmore\nb"));
        assert_eq!(seen("echo + -", PatchLine::Added, None), None);
        assert!(!starts_with_new_file(text) && starts_with_new_file("*** Begin Patch\n*** Add File: b\n+b"));
    }
}
