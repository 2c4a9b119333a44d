//! Finds the files in a tool's input that the tool may write.
//!
//! `protect_paths` and `protect_self` use it. A tool is read-only only if all words of its name are known and its input has
//! no field for writing. Every other tool is treated as a writer.

use std::path::Path;

use checkrein_core::payload::Field;
use checkrein_core::{Event, EventKind, RawJson};

use super::AffectedPath;
use super::access::Access;
use crate::builtins::commands::plain;
use crate::builtins::json_strings::strings;
use crate::builtins::patch;
use crate::builtins::paths::spellings;

/// Fields that name files in known agents and tools, compared without case and underscores.
const FIELDS: &[&str] = &[
    "filepath",
    "path",
    "file",
    "filename",
    "filenames",
    "notebookpath",
    "notebook",
    "targetfile",
    "targetpath",
    "target",
    "targets",
    "targetdirectory",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "fullpath",
    "localpath",
    "destination",
    "destinationpath",
    "destinationfile",
    "dest",
    "destpath",
    "destfile",
    "dst",
    "source",
    "sourcepath",
    "src",
    "oldpath",
    "newpath",
    "oldname",
    "newname",
    "newfile",
    "newfilename",
    "uri",
    "paths",
    "files",
    "filepaths",
    "filelist",
    "directory",
    "directorypath",
    "searchdirectory",
    "searchpath",
    "dir",
    "dirpath",
    "folder",
    "folderpath",
    "to",
    "from",
    "into",
    "out",
    "outfile",
    "outpath",
    "outdir",
    "output",
    "outputpath",
    "outputfile",
    "outputfilename",
    "outputdir",
    "outputdirectory",
    "saveas",
    "saveto",
    "savepath",
    "writeto",
    "logfile",
    "location",
    "workspacepath",
    "documentpath",
    "resource",
    "root",
];

/// Tools of agents that only read, whatever their input has.
const READERS: &[&str] = &["Glob", "Grep", "LS", "NotebookRead", "Read"];

/// Words in the names of tools that only read.
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
    "definitions",
    "diagnostics",
    "symbols",
    "describe",
    "count",
    "browse",
    "inspect",
    "check",
    "explore",
    "outline",
    "hover",
    "implementations",
    "reads",
];

/// Words that say what a tool reads, and not that it changes something. A tool with another word in its name is a writer.
const NEUTRAL: &[&str] = &[
    "",
    "a",
    "all",
    "allowed",
    "ast",
    "async",
    "blame",
    "branch",
    "branches",
    "by",
    "call",
    "calls",
    "chunk",
    "class",
    "code",
    "codebase",
    "comment",
    "comments",
    "commit",
    "commits",
    "config",
    "content",
    "contents",
    "data",
    "declaration",
    "dependencies",
    "details",
    "diff",
    "dir",
    "directories",
    "directory",
    "doc",
    "docs",
    "document",
    "documentation",
    "documents",
    "errors",
    "exact",
    "external",
    "file",
    "files",
    "folder",
    "folders",
    "fs",
    "fuzzy",
    "git",
    "graph",
    "hierarchy",
    "history",
    "id",
    "image",
    "images",
    "in",
    "index",
    "internal",
    "issue",
    "issues",
    "item",
    "items",
    "json",
    "keyword",
    "library",
    "line",
    "lines",
    "log",
    "logs",
    "many",
    "mcp",
    "media",
    "memory",
    "meta",
    "metadata",
    "multi",
    "multiple",
    "names",
    "node",
    "nodes",
    "notebook",
    "of",
    "outgoing",
    "output",
    "page",
    "pages",
    "path",
    "paths",
    "pdf",
    "problems",
    "project",
    "pull",
    "range",
    "raw",
    "recursive",
    "regex",
    "remote",
    "repo",
    "repository",
    "request",
    "requests",
    "resource",
    "resources",
    "results",
    "semantic",
    "size",
    "sizes",
    "skill",
    "source",
    "status",
    "string",
    "structure",
    "symbol",
    "tab",
    "tabs",
    "tag",
    "tags",
    "terminal",
    "text",
    "todo",
    "todos",
    "tool",
    "tools",
    "type",
    "types",
    "url",
    "usage",
    "usages",
    "version",
    "web",
    "with",
    "workspace",
    "workspaces",
];

/// Words in the names of tools that write.
const WRITES: &[&str] = &[
    "write", "edit", "delete", "remove", "create", "update", "replace", "move", "rename", "patch", "apply", "insert",
    "append", "save", "put", "set", "modify", "copy", "mkdir", "make", "format", "fix", "truncate", "rm", "mv", "cp",
];

/// Fields whose text is written to a file, compared without case and underscores.
const WRITTEN: &[&str] = &[
    "content",
    "contents",
    "filecontent",
    "filetext",
    "newtext",
    "newstring",
    "newstr",
    "newcontent",
    "newsource",
    "replacement",
    "patch",
    "diff",
    "edits",
    "to",
    "out",
    "outfile",
    "outpath",
    "outputfile",
    "outputpath",
    "dest",
    "destination",
    "destinationpath",
    "destpath",
    "dst",
    "saveas",
    "saveto",
    "savepath",
    "writeto",
    "newpath",
    "newname",
];

/// Fields for the way in which a file is opened.
const MODES: &[&str] = &["mode", "openmode", "access", "accessmode", "flags", "flag", "fileaccess"];

/// Line starts that name files in a diff. They apply only to fields for diffs.
const DIFF_HEADS: &[&str] =
    &["+++ b/", "--- a/", "+++ ", "--- ", "rename to ", "rename from ", "copy to ", "copy from "];

/// Returns the files that a diff names.
pub(super) fn diff_files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let named = DIFF_HEADS.iter().find_map(|head| line.strip_prefix(head))?;
        // A time may follow behind a tab.
        Some(named.split('\t').next().unwrap_or(named).trim())
    })
}

/// Returns the files that the tool may write.
pub(super) fn in_input(event: &Event, cwd: &Path, home: Option<&str>) -> Vec<AffectedPath> {
    if is_read_only(event) { Vec::new() } else { all_in_input(event, cwd, home) }
}

/// Returns all files that the input names.
pub(super) fn all_in_input(event: &Event, cwd: &Path, home: Option<&str>) -> Vec<AffectedPath> {
    keyed_in_input(event, cwd, home).into_iter().map(|(_, path)| path).collect()
}

/// Returns all files that the input names, each with its field: without case and underscores.
pub(super) fn keyed_in_input(event: &Event, cwd: &Path, home: Option<&str>) -> Vec<(String, AffectedPath)> {
    let Some(input) = event.tool_input() else { return Vec::new() };
    let use_of_tool = ToolUse::new(event);
    let mut affected = Vec::new();
    let mut add = |key: &str, text: &str, access: Access| {
        let paths = spellings(text);
        let paths = paths.iter().map(|path| AffectedPath::new(path, home, &[cwd.to_owned()]));
        affected.extend(paths.map(|path| (key.to_owned(), AffectedPath { access, ..path })));
    };
    for string in strings(input) {
        let key = string.key.as_deref().map(plain).unwrap_or_default();
        let text = &*string.text.decoded;
        if FIELDS.contains(&key.as_str()) {
            add(&key, text, use_of_tool.access(&key));
        }
        for (file, is_deleted) in patch_files(text) {
            add("", file, if is_deleted { Access::Delete } else { use_of_tool.access("") });
        }
        if key.contains("diff") || key.contains("patch") || text.starts_with("diff --git ") {
            diff_files(text).for_each(|file| add("", file, use_of_tool.access("")));
        }
    }
    affected
}

/// Returns the files of a patch, and whether the patch removes or moves each of them.
fn patch_files(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut updated = None;
    text.lines().flat_map(move |line| {
        let head = patch::HEADS.iter().find(|head| line.starts_with(**head));
        let file = head.and_then(|head| line.strip_prefix(*head));
        let is_move = head.is_some_and(|head| head.contains("Move to"));
        let moved = if is_move { updated.take() } else { None };
        if file.is_some() {
            updated = file;
        }
        let is_deleted = head.is_some_and(|head| head.contains("Delete"));
        [file.map(|file| (file, is_deleted)), moved.map(|file| (file, true))].into_iter().flatten()
    })
}

/// Use that a tool makes of its files, by its name.
enum ToolUse {
    Reads,
    Deletes,
    /// The file in the first field is gone afterwards, or only read.
    Transfers(Access),
    Writes,
}

/// Fields with the source of a copy or a move, compared without case and underscores.
const SOURCES: &[&str] = &["source", "sourcepath", "src", "oldpath", "oldname", "from"];

impl ToolUse {
    fn new(event: &Event) -> Self {
        if is_read_only(event) {
            return Self::Reads;
        }
        let names = words(event.tool_name().unwrap_or_default());
        let has = |list: &[&str]| names.iter().any(|word| list.contains(&word.as_str()));
        if has(&["move", "rename", "mv"]) {
            Self::Transfers(Access::Delete)
        } else if has(&["copy", "cp"]) {
            Self::Transfers(Access::Read)
        } else if has(&["delete", "remove", "rm", "unlink", "trash"]) {
            Self::Deletes
        } else {
            Self::Writes
        }
    }

    /// Returns the use of the files in a field.
    fn access(&self, key: &str) -> Access {
        match self {
            Self::Reads => Access::Read,
            Self::Deletes => Access::Delete,
            Self::Transfers(access) if SOURCES.contains(&key) => *access,
            Self::Transfers(_) | Self::Writes => Access::Write,
        }
    }
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
    let name = event.tool_name().unwrap_or_default();
    if READERS.contains(&name) {
        return true;
    }
    // The name of an MCP server says nothing about its tools.
    let own = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, tool)| tool);
    let words = words(own);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // A tool with several actions names the action in its input. Tools that only write ignore these fields, so the fields
    // must not make them read-only.
    let has_actions = !has(WRITES) || has(&["editor"]) || words.iter().take(2).eq(["str", "replace"]);
    let action = event.tool_input().and_then(|input| input.field("command").or_else(|| input.field("action")));
    let action = action.and_then(|action| action.as_text().map(|text| text.trim().to_owned()));
    if action.is_some_and(|action| has_actions && READS.contains(&action.as_str())) {
        return true;
    }
    let is_known = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        READS.contains(&word) || NEUTRAL.contains(&word)
    };
    has(READS) && words.iter().all(is_known) && !event.tool_input().is_some_and(asks_for_writing)
}

/// `true` if a field of the input has text for a file, a second path, or a mode for writing.
fn asks_for_writing(input: &RawJson) -> bool {
    let opens = |text: &str| {
        let mode = text.trim().to_ascii_lowercase();
        let is_short = mode.len() <= 4 && !mode.is_empty() && mode.chars().all(|c| "rwabtx+".contains(c));
        let words = ["write", "append", "create", "trunc", "wronly", "rdwr", "edit", "update"];
        (is_short && mode.contains(['w', 'a', 'x', '+'])) || words.iter().any(|word| mode.contains(word))
    };
    strings(input).iter().any(|string| {
        let key = string.key.as_deref().map(plain).unwrap_or_default();
        let text = &*string.text.decoded;
        WRITTEN.contains(&key.as_str()) && !text.is_empty() || MODES.contains(&key.as_str()) && opens(text)
    })
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
