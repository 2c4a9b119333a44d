//! Finds paths in the arguments of unknown programs and MCP tools.
//!
//! No list of programs that write files can be complete. Therefore this module excludes programs that are known as
//! read-only and programs whose targets are found elsewhere. Every other program is treated as writing each path that
//! its arguments contain.

use std::path::PathBuf;

use checkrein_core::{Event, EventKind};

use crate::builtins::global_options;
use crate::builtins::json_strings::strings;
use crate::builtins::protect_paths::{AffectedPath, named::is_read_only};
use crate::builtins::shell::{SimpleCommand, is_reader, pieces, starts_others};

/// Programs whose targets `protect_paths` finds, and checkrein itself.
const KNOWN: &[&str] = &[
    "checkrein",
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "curl",
    "dd",
    "install",
    "mkfifo",
    "mv",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "shred",
    "source",
    "tee",
    "touch",
    "truncate",
    "unlink",
    "wget",
    ".",
];

/// Programs that only read their files, unless the script in their arguments writes.
const RUN_SCRIPTS: &[&str] = &["awk", "gawk", "mawk", "sed", "gsed", "find"];

/// Maximum number of possible paths that are checked. The builtin asks about a call with more of them.
pub(super) const MAX_PATHS: usize = 2048;

/// Returns the possible paths in the arguments of an unknown program.
pub(super) fn in_command(command: &SimpleCommand, home: Option<&str>) -> Vec<AffectedPath> {
    let name = command.name.as_str();
    if name.is_empty() || is_reader(name) || KNOWN.contains(&name) || starts_others(name) {
        return Vec::new();
    }
    let args: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let words: Vec<&str> = match name {
        // The targets of git are known, except for the repository.
        "git" => {
            let places = global_options::values("git", &command.args, &["-C", "--git-dir", "--work-tree"]);
            let places: Vec<_> = places.iter().map(|place| place.text.as_str()).collect();
            return possible_paths(places.into_iter().flat_map(pieces), home, &command.cwds);
        }
        _ => args.into_iter().chain([command.program.text.as_str()]).chain(command.input.as_deref()).collect(),
    };
    let runs_script = RUN_SCRIPTS.contains(&name);
    let pieces = words.iter().flat_map(|word| pieces(word).skip(usize::from(runs_script)));
    possible_paths(pieces, home, &command.cwds)
}

/// Returns the possible paths in the input of an MCP tool that is not read-only.
pub(super) fn in_tool_input(event: &Event, home: Option<&str>, cwd: &PathBuf) -> Vec<AffectedPath> {
    let is_mcp = event.kind() == EventKind::PreMcp || event.tool_name().is_some_and(|name| name.starts_with("mcp_"));
    let Some(input) = event.tool_input() else { return Vec::new() };
    if !is_mcp || is_read_only(event) {
        return Vec::new();
    }
    let strings: Vec<_> = strings(input).into_iter().map(|string| string.text.decoded.to_string()).collect();
    possible_paths(strings.iter().flat_map(|text| pieces(text)), home, std::slice::from_ref(cwd))
}

fn possible_paths<'a>(
    pieces: impl Iterator<Item = &'a str>,
    home: Option<&str>,
    cwds: &[PathBuf],
) -> Vec<AffectedPath> {
    let may_be_path = |piece: &&str| piece.contains('/') || piece.starts_with('.') || piece.contains("checkrein");
    pieces.filter(may_be_path).take(MAX_PATHS + 1).map(|piece| AffectedPath::new(piece, home, cwds)).collect()
}
