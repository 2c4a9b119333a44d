//! Denies writing, editing, moving and deleting certain files.
//!
//! A tool call is denied if a path field of its input names such a file (`file_path`, `path`, `notebook_path`, `filePath`
//! and similar, and patches). It is also denied if its shell command writes to the file: by a redirection, or as a target
//! of `rm`, `mv`, `cp`, `tee`, `sed -i`, `dd`, `chmod`, `git checkout`, `curl -o` and others. Commands are parsed as by
//! [`block_dangerous_commands`](super::block_dangerous_commands). The builtin asks about a command that cannot be parsed.
//! The builtin also denies removing or moving a directory that contains such a file. Read-only tools are allowed, by the host's
//! field `tool_read_only` or by their names.
//!
//! `..`, `~`, wildcards and links are resolved if the files exist. The builtin does not see hard links, files that scripts
//! and other programs write, paths that only a running shell knows, and other spellings of a name on case-insensitive file
//! systems.
//!
//! - **Arguments**: patterns. Without a slash, a pattern matches a name in any directory (`.env`, `*.pem`). With a slash,
//!   it is a path from the working directory (`config/prod.yaml`, `secrets/**`), from home (`~/.ssh`) or from the root
//!   (`/etc`). Every pattern also matches everything below. `!pattern` is an exception; the last match applies.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`.
//!
//! Example: `protect_paths .env* !.env.example .git ~/.ssh`

pub(super) mod named;
mod targets;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Event, Failure, Opinion};

use super::commands::{ParsedCommands, parse_commands};
use super::off_thread;
use super::paths::{Patterns, ResolvedPatterns, expanded, names};
use super::shell::Expanded;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        if args.is_empty() {
            return Err("has no patterns; pass at least one, such as `.env`".into());
        }
        let patterns = Arc::new(Patterns::parse(args)?);
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&patterns)))))
    });
    prepared.described(
        BuiltinDoc::new("Denies writing, editing, moving and deleting files that match a pattern.")
            .args("patterns such as `.env`, `config/**`, `~/.ssh`; `!pattern` for exceptions")
            .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`"),
    )
}

/// A path that a tool call writes, moves or removes.
#[derive(Debug, Clone)]
pub(super) struct AffectedPath {
    path: Expanded,
    /// Directories to which the path may be relative.
    cwds: Vec<PathBuf>,
    /// `true` if the call also affects everything below the path.
    pub(super) whole_tree: bool,
}

impl AffectedPath {
    /// Creates a path from a text, relative to one of these directories. `~/` is the home directory.
    pub(super) fn new(text: &str, home: Option<&str>, cwds: &[PathBuf]) -> Self {
        let text = match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => text.to_owned(),
        };
        Self { path: Expanded { text, known: true, ..Expanded::default() }, cwds: cwds.to_vec(), whole_tree: false }
    }

    /// Returns all names of the files that the path may denote.
    pub(super) fn names(&self) -> impl Iterator<Item = PathBuf> {
        self.cwds.iter().flat_map(|cwd| expanded(&self.path, cwd)).flat_map(|file| names(&file))
    }
}

/// Returns the paths that a tool call writes, moves or removes, by its input and its shell commands.
pub(super) fn affected_paths(event: &Event, cwd: &Path, home: Option<&str>) -> (Vec<AffectedPath>, ParsedCommands) {
    let mut affected = named::in_input(event, cwd, home);
    let parsed = parse_commands(event, home, cwd);
    affected.extend(parsed.simple_commands.iter().flat_map(targets::in_command));
    (affected, parsed)
}

async fn run(call: BuiltinCall<'_>, patterns: Arc<Patterns>) -> Result<Opinion, Failure> {
    if call.event.tool_input().is_none() {
        return Ok(Opinion::none());
    }
    let (event, cwd, home) = (call.event.clone(), call.cwd(), call.env.var("HOME"));
    off_thread(move || check(&event, &patterns.resolve(&cwd, home.as_deref()), &cwd, home.as_deref())).await
}

fn check(event: &Event, patterns: &ResolvedPatterns, cwd: &Path, home: Option<&str>) -> Opinion {
    let (affected, ParsedCommands { parse_error, .. }) = affected_paths(event, cwd, home);
    for path in &affected {
        if let Some((path, pattern)) = find_protected(path, patterns) {
            return Opinion::deny(format!("{} is protected by the pattern `{pattern}`", path.display()));
        }
    }
    match parse_error {
        Some(why) => Opinion::ask(format!("cannot parse the command ({why}); it may write to protected files")),
        None => Opinion::none(),
    }
}

fn find_protected<'a>(affected: &AffectedPath, patterns: &'a ResolvedPatterns) -> Option<(PathBuf, &'a str)> {
    affected.names().find_map(|name| {
        if let Some(pattern) = patterns.protecting(&name) {
            return Some((name, pattern));
        }
        if affected.whole_tree { patterns.protecting_below(&name) } else { None }
    })
}
