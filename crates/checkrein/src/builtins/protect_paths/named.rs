//! Files that the input of a tool names as what it writes.

use std::path::Path;

use checkrein_core::payload::Field;
use checkrein_core::{Event, EventKind};

use super::AffectedPath;
use crate::builtins::json_strings::strings;
use crate::builtins::patch;
use crate::builtins::shell::Expanded;

/// The fields that name files, in the agents and tools that are known. Compared without case and underscores.
const FIELDS: &[&str] = &[
    "filepath",
    "path",
    "file",
    "filename",
    "notebookpath",
    "targetfile",
    "targetpath",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "destination",
    "destinationpath",
    "dest",
    "source",
    "sourcepath",
    "oldpath",
    "newpath",
    "uri",
    "paths",
    "files",
    "filepaths",
    "directory",
    "dirpath",
    "folder",
];

/// Words in the names of tools that only read, and of those that do not.
const READS: &[&str] = &[
    "read",
    "view",
    "grep",
    "glob",
    "ls",
    "list",
    "search",
    "find",
    "get",
    "show",
    "cat",
    "stat",
    "fetch",
    "open",
    "head",
    "tail",
    "tree",
    "info",
    "exists",
    "lookup",
    "query",
    "references",
    "definition",
    "diagnostics",
    "symbols",
];
const WRITES: &[&str] = &[
    "write", "edit", "delete", "remove", "create", "update", "replace", "move", "rename", "patch", "apply", "insert",
    "append", "save", "put", "set", "modify", "copy", "mkdir", "make", "format", "fix", "truncate", "rm", "mv", "cp",
];

/// What diffs name files with. They count only where a diff is meant to be.
const DIFF_HEADS: &[&str] = &["+++ b/", "--- a/", "+++ ", "--- "];

pub(super) fn in_input(event: &Event, cwd: &Path, home: Option<&str>) -> Vec<AffectedPath> {
    let Some(input) = event.tool_input().filter(|_| !only_reads(event)) else { return Vec::new() };
    let mut touched = Vec::new();
    let mut add = |path: &str| {
        // Some programs read a path up to a NUL, others take all of it; some take each line for one.
        let parts = path.split('\0').take(1).chain([path]).chain(path.lines());
        let mut parts: Vec<_> = parts.map(|path| path.trim().trim_start_matches("file://")).collect();
        parts.dedup();
        for path in parts.into_iter().filter(|path| !path.is_empty()) {
            let text = match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => format!("{home}/{rest}"),
                _ => path.to_owned(),
            };
            let path = Expanded { text, known: true, ..Expanded::default() };
            touched.push(AffectedPath { path, from: vec![cwd.to_owned()], whole_tree: false });
        }
    };
    for string in strings(input) {
        let plain =
            |key: &str| key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let key = string.key.as_deref().map(plain).unwrap_or_default();
        let says = &*string.text.says;
        if FIELDS.contains(&key.as_str()) {
            add(says);
        }
        let is_diff = key.contains("diff") || key.contains("patch");
        let diff_heads = if is_diff { DIFF_HEADS } else { &[] };
        for line in says.lines() {
            // The first that fits counts: those behind it are shorter.
            let named = patch::HEADS.iter().chain(diff_heads).find_map(|head| line.strip_prefix(head));
            named.into_iter().for_each(&mut add);
        }
    }
    touched
}

pub(in crate::builtins) fn only_reads(event: &Event) -> bool {
    match event.kind() {
        EventKind::PreFileWrite => return false,
        EventKind::PreFileRead | EventKind::PreTabRead => return true,
        _ => {}
    }
    if let Some(Field::Flag(read_only)) = event.field("tool_read_only") {
        return read_only;
    }
    let words = words(event.tool_name().unwrap_or_default());
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // One tool for many things says which in its input. Of others that is no word: their agents overlook it.
    let is_for_many = !has(WRITES) || has(&["editor"]) || words.iter().take(2).eq(["str", "replace"]);
    let action = event.tool_input().and_then(|input| input.field("command").or_else(|| input.field("action")));
    let action = action.and_then(|action| action.as_text().map(|text| text.trim().to_owned()));
    if action.is_some_and(|action| is_for_many && READS.contains(&action.as_str())) {
        return true;
    }
    has(READS) && !has(WRITES)
}

/// `mcp__fs__readTextFile` as `mcp`, `fs`, `read`, `text`, `file`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart() {
        assert_eq!(
            words("mcp__fs__readTextFile").join(" ").split_whitespace().collect::<Vec<_>>(),
            ["mcp", "fs", "read", "text", "file"]
        );
        assert_eq!(words("LS"), ["ls"]);
    }
}
