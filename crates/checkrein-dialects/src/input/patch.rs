//! Parts of patches in the format of Codex's `apply_patch`.

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

/// Prefixes of the lines that name files.
pub const HEADS: &[&str] = &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// Lists the files that a patch changes. Text that is not a patch has none.
pub fn files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head))).map(str::trim)
}

/// Returns a part of a patch, a line for each item. `None`: the text is not a patch, or the part is empty.
pub(super) fn seen(text: &str, part: PatchLine) -> Option<String> {
    files(text).next()?;
    let mut lines: Vec<&str> = match part {
        PatchLine::Files => files(text).collect(),
        PatchLine::Removed => text.lines().filter_map(|line| line.strip_prefix('-')).collect(),
        PatchLine::Added => text.lines().filter_map(|line| line.strip_prefix('+')).collect(),
    };
    if part == PatchLine::Files {
        let mut seen = Vec::new();
        lines.retain(|line| {
            !seen.contains(line) && {
                seen.push(line);
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
        assert_eq!(seen(text, PatchLine::Files).as_deref(), Some("a.rs\nb.rs"));
        assert_eq!(seen(text, PatchLine::Removed).as_deref(), Some("old"));
        assert_eq!(seen(text, PatchLine::Added).as_deref(), Some("new\nmore\nb"));
        assert_eq!(seen("echo + -", PatchLine::Added), None);
    }
}
