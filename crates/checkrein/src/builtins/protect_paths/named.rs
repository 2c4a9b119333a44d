//! Finds the files in a tool's input that the tool may write.
//!
//! `protect_paths` and `protect_self` use it. An unknown tool is treated as a writer.

use std::path::Path;

use checkrein_core::payload::Field;
use checkrein_core::{Event, EventKind};

use super::AffectedPath;
use crate::builtins::json_strings::strings;
use crate::builtins::patch;

/// Fields that name files in known agents and tools, compared without case and underscores.
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

/// Words in the names of read-only tools.
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

/// Words in the names of tools that write.
const WRITES: &[&str] = &[
    "write", "edit", "delete", "remove", "create", "update", "replace", "move", "rename", "patch", "apply", "insert",
    "append", "save", "put", "set", "modify", "copy", "mkdir", "make", "format", "fix", "truncate", "rm", "mv", "cp",
];

/// Line starts that name files in a diff. They apply only to fields for diffs.
const DIFF_HEADS: &[&str] = &["+++ b/", "--- a/", "+++ ", "--- "];

pub(super) fn in_input(event: &Event, cwd: &Path, home: Option<&str>) -> Vec<AffectedPath> {
    let Some(input) = event.tool_input() else { return Vec::new() };
    if is_read_only(event) {
        return Vec::new();
    }
    let mut affected = Vec::new();
    let mut add = |path: &str| {
        // Some programs read a path up to a NUL, others read all of it, others read one path per line.
        let parts = path.split('\0').take(1).chain([path]).chain(path.lines());
        let mut parts: Vec<_> = parts.map(|path| path.trim().trim_start_matches("file://")).collect();
        parts.dedup();
        for path in parts.into_iter().filter(|path| !path.is_empty()) {
            affected.push(AffectedPath::new(path, home, &[cwd.to_owned()]));
        }
    };
    for string in strings(input) {
        let plain =
            |key: &str| key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let key = string.key.as_deref().map(plain).unwrap_or_default();
        let text = &*string.text.decoded;
        if FIELDS.contains(&key.as_str()) {
            add(text);
        }
        let is_diff = key.contains("diff") || key.contains("patch");
        let diff_heads = if is_diff { DIFF_HEADS } else { &[] };
        for line in text.lines() {
            // The first match applies: the later ones are shorter.
            let named = patch::HEADS.iter().chain(diff_heads).find_map(|head| line.strip_prefix(head));
            named.into_iter().for_each(&mut add);
        }
    }
    affected
}

/// `true` if the tool only reads, by the kind of event, the host's field `tool_read_only`, or the tool's name.
pub(in crate::builtins) fn is_read_only(event: &Event) -> bool {
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
    // A tool with several actions names the action in its input. Tools that only write ignore these fields, so the fields
    // must not make them read-only.
    let has_actions = !has(WRITES) || has(&["editor"]) || words.iter().take(2).eq(["str", "replace"]);
    let action = event.tool_input().and_then(|input| input.field("command").or_else(|| input.field("action")));
    let action = action.and_then(|action| action.as_text().map(|text| text.trim().to_owned()));
    if action.is_some_and(|action| has_actions && READS.contains(&action.as_str())) {
        return true;
    }
    has(READS) && !has(WRITES)
}

/// Splits a tool name: `mcp__fs__readTextFile` becomes `mcp`, `fs`, `read`, `text`, `file`.
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
    fn tool_names_are_split_into_words() {
        assert_eq!(
            words("mcp__fs__readTextFile").join(" ").split_whitespace().collect::<Vec<_>>(),
            ["mcp", "fs", "read", "text", "file"]
        );
        assert_eq!(words("LS"), ["ls"]);
    }
}
