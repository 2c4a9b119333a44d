//! Denies writing, editing, moving and deleting certain files.
//!
//! A tool call is denied if its input names such a file as what is written (`file_path`, `path`, `notebook_path`,
//! `filePath` and the like, and patches), or if its shell command does: by a redirection, or as a target of `rm`, `mv`,
//! `cp`, `tee`, `sed -i`, `dd`, `chmod`, `git checkout`, `curl -o` and others. Commands are read as
//! [`block_dangerous_commands`](super::block_dangerous_commands) reads them; one that cannot be read is asked about.
//! Removing or moving a directory that holds such a file is denied too. Tools that only read are let through, by the
//! host's word (`tool_read_only`) or by their names.
//!
//! `..`, `~`, wildcards and links are followed where the files exist. Not seen are hard links, what scripts and other
//! programs write, paths that only a running shell knows, and other spellings of the same name on file systems that do
//! not tell upper and lower case apart.
//!
//! - **Arguments**: patterns. One without a slash fits a name anywhere (`.env`, `*.pem`); one with a slash is a path from
//!   the working directory (`config/prod.yaml`, `secrets/**`), from home (`~/.ssh`) or from the root (`/etc`). All fit
//!   what is below a directory as well. `!pattern` makes an exception; the last pattern that fits counts.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`.
//!
//! Example: `protect_paths .env* !.env.example .git ~/.ssh`

pub(super) mod named;
mod targets;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Event, Failure, Opinion};

use super::commands::{Reading, read};
use super::off_thread;
use super::paths::{Patterns, PlacedPatterns, expanded, names};
use super::shell::Expanded;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        if args.is_empty() {
            return Err("has nothing to protect; give it patterns such as `.env`".into());
        }
        let patterns = Arc::new(Patterns::read(args)?);
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&patterns)))))
    });
    prepared.described(
        BuiltinDoc::new("Denies writing, editing, moving and deleting files that fit a pattern.")
            .args("patterns such as `.env`, `config/**`, `~/.ssh`; `!pattern` for exceptions")
            .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`"),
    )
}

/// Something that is about to be written, moved or removed.
#[derive(Debug, Clone)]
pub(super) struct AffectedPath {
    path: Expanded,
    /// The directories that it may be relative to.
    from: Vec<PathBuf>,
    /// Whether what is below it goes with it.
    pub(super) whole_tree: bool,
}

impl AffectedPath {
    /// All names of the files that it may be.
    pub(super) fn names(&self) -> impl Iterator<Item = PathBuf> {
        self.from.iter().flat_map(|cwd| expanded(&self.path, cwd)).flat_map(|file| names(&file))
    }
}

impl AffectedPath {
    /// What may be the path of a file, from one of these directories.
    pub(super) fn maybe(text: &str, home: Option<&str>, from: &[PathBuf]) -> Self {
        let text = match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => text.to_owned(),
        };
        Self { path: Expanded { text, known: true, ..Expanded::default() }, from: from.to_vec(), whole_tree: false }
    }
}

/// What a tool call is about to write, move or remove, by its input and by its shell commands.
pub(super) fn touched(event: &Event, cwd: &Path, home: Option<&str>) -> (Vec<AffectedPath>, Reading) {
    let mut touched = named::in_input(event, cwd, home);
    let reading = read(event, home, cwd);
    touched.extend(reading.steps.iter().flat_map(targets::of));
    (touched, reading)
}

async fn run(call: BuiltinCall<'_>, patterns: Arc<Patterns>) -> Result<Opinion, Failure> {
    if call.event.tool_input().is_none() {
        return Ok(Opinion::none());
    }
    let (event, cwd, home) = (call.event.clone(), call.cwd(), call.env.var("HOME"));
    off_thread(move || judge(&event, &patterns.at(&cwd, home.as_deref()), &cwd, home.as_deref())).await
}

fn judge(event: &Event, patterns: &PlacedPatterns, cwd: &Path, home: Option<&str>) -> Opinion {
    let (touched, Reading { unreadable, .. }) = touched(event, cwd, home);
    for one in &touched {
        if let Some((path, pattern)) = protected(one, patterns) {
            return Opinion::deny(format!("{} is protected by the pattern `{pattern}`", path.display()));
        }
    }
    match unreadable {
        Some(why) => Opinion::ask(format!("the command cannot be read ({why}), so it may write to protected files")),
        None => Opinion::none(),
    }
}

fn protected<'a>(touched: &AffectedPath, patterns: &'a PlacedPatterns) -> Option<(PathBuf, &'a str)> {
    touched.names().find_map(|name| {
        let itself = patterns.protecting(&name).map(|pattern| (name.clone(), pattern));
        itself.or_else(|| touched.whole_tree.then(|| patterns.protecting_below(&name)).flatten())
    })
}
