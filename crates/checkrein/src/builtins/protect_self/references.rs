//! What is spoken of by somebody of whom nobody knows what he does with it.
//!
//! There are more programs that write files than anybody can list. So it is the other way round here: those that are known to
//! only read, and those whose targets are known, are let pass; all others are taken for writing what they name.

use std::path::PathBuf;

use checkrein_core::{Event, EventKind};

use crate::builtins::json_strings::strings;
use crate::builtins::protect_paths::{AffectedPath, named::only_reads};
use crate::builtins::shell::{SimpleCommand, is_reader, pieces, starts_others};

/// Programs whose targets are found otherwise.
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

/// Programs whose files are only read, unless the text that they run says otherwise.
const RUN_TEXTS: &[&str] = &["awk", "gawk", "mawk", "sed", "gsed", "find"];

/// More words than a command has that is meant to be read.
const MOST: usize = 256;

/// What may be a path in a step, if it is one of a program that nobody knows.
pub(super) fn of_step(step: &SimpleCommand, home: Option<&str>) -> Vec<AffectedPath> {
    let name = step.name.as_str();
    if name.is_empty() || is_reader(name) || KNOWN.contains(&name) || starts_others(name) {
        return Vec::new();
    }
    let args: Vec<&str> = step.args.iter().map(|arg| arg.text.as_str()).collect();
    let words: Vec<&str> = match name {
        // What it does with files is known, but for where it goes first.
        "git" => args
            .windows(2)
            .filter(|pair| matches!(pair[0], "-C" | "--git-dir" | "--work-tree"))
            .map(|pair| pair[1])
            .chain(args.iter().copied().filter(|arg| arg.starts_with("--git-dir=") || arg.starts_with("--work-tree=")))
            .collect(),
        _ => args.into_iter().chain([step.program.text.as_str()]).chain(step.input.as_deref()).collect(),
    };
    let runs_text = RUN_TEXTS.contains(&name);
    let pieces = words.iter().flat_map(|word| pieces(word).skip(usize::from(runs_text)));
    maybe(pieces, home, &step.cwds)
}

/// What may be a path in the input of a tool of which nobody knows what it does.
pub(super) fn of_tool(event: &Event, home: Option<&str>, cwd: &PathBuf) -> Vec<AffectedPath> {
    let is_foreign =
        event.kind() == EventKind::PreMcp || event.tool_name().is_some_and(|name| name.starts_with("mcp_"));
    let Some(input) = event.tool_input().filter(|_| is_foreign && !only_reads(event)) else { return Vec::new() };
    let strings: Vec<_> = strings(input).into_iter().map(|string| string.text.says.to_string()).collect();
    maybe(strings.iter().flat_map(|text| pieces(text)), home, std::slice::from_ref(cwd))
}

fn maybe<'a>(pieces: impl Iterator<Item = &'a str>, home: Option<&str>, from: &[PathBuf]) -> Vec<AffectedPath> {
    let may_be_path = |piece: &&str| piece.contains('/') || piece.starts_with('.') || piece.contains("checkrein");
    pieces.filter(may_be_path).take(MOST).map(|piece| AffectedPath::maybe(piece, home, from)).collect()
}
