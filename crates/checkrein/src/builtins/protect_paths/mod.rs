//! Denies writing, editing, moving and deleting certain files, and with `--read` also reading them.
//!
//! A tool call is denied if a path field of its input names such a file (`file_path`, `path`, `notebook_path`, `filePath`
//! and similar, and patches). It is also denied if its shell command writes to the file: by a redirection, or as a target
//! of `rm`, `mv`, `cp`, `tee`, `sed -i`, `dd`, `chmod`, `git checkout`, `curl -o` and others. Commands are parsed as by
//! [`block_dangerous_commands`](super::block_dangerous_commands). The builtin asks about a command that cannot be parsed.
//! The builtin also denies removing or moving a directory that contains such a file. It asks about unpacking and copying into
//! such a directory, and about a path that only a running shell knows (`rm $X`).
//!
//! Read-only tools are allowed, by the host's field `tool_read_only` or by their names. All words of the name must be known,
//! and the input must have no field for writing, such as `content` or `mode: w`.
//!
//! `..`, `~`, wildcards and links are resolved if the files exist. The builtin does not see hard links, files that scripts
//! and other programs write, paths that only a running shell knows, and other spellings of a name on case-insensitive file
//! systems.
//!
//! With `--read`, the builtin also denies tools that read such a file, and shell commands that name it as a file: `cat .env`,
//! `source .env`, `< .env`. It asks about `grep -r` and `rg --hidden` in a directory that contains such a file, unless their
//! options exclude it. It also asks about `find -name` if another program reads such a file from its list. Programs that
//! only show the name of a file are allowed, such as `ls`. Other programs that read whole directories are not noticed.
//!
//! - **Arguments**: `--read` and patterns. Without a slash, a pattern matches a name in any directory (`.env`, `*.pem`). With a slash,
//!   it is a path from the working directory (`config/prod.yaml`, `secrets/**`), from home (`~/.ssh`) or from the root
//!   (`/etc`). Every pattern also matches everything below. `!pattern` is an exception; the last match applies.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_file_read`,
//!   `pre_mcp`.
//!
//! Example: `protect_paths --read .env* !.env.example .git ~/.ssh`

pub(crate) mod access;
pub(super) mod named;
mod reads;
mod searches;
mod targets;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Decision, Event, Failure, Opinion};
use globset::GlobMatcher;

use self::access::Access;
use super::args::unknown_option;
use super::commands::{ParsedCommands, parse_commands};
use super::doubt::{has_unknown_name, is_wholly_unknown};
use super::off_thread;
use super::paths::{PathSet as _, Patterns, ResolvedPatterns, expanded, names, with_home};
use super::shell::{Expanded, lexical};
use super::text::head;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let (options, patterns): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|arg| arg.starts_with("--"));
        if let Some(unknown) = options.iter().find(|option| *option != READ) {
            return Err(unknown_option(unknown, &[READ]).into());
        }
        if patterns.is_empty() {
            return Err("has no patterns; pass at least one, such as `.env`".into());
        }
        let denies_reading = !options.is_empty();
        let patterns = Arc::new(Patterns::parse(&patterns)?);
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&patterns), denies_reading))))
    });
    prepared.works_at(super::is_before_tool).described(
        BuiltinDoc::new("Denies writing, editing, moving and deleting files that match a pattern.")
            .args("patterns such as `.env`, `config/**`, `~/.ssh`; `!pattern` for exceptions; `--read` also denies reading")
            .events(
                "`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_file_read`, \
                 `pre_mcp`",
            ),
    )
}

/// Option that also denies reading.
const READ: &str = "--read";

/// A path that a tool call writes, moves or removes.
#[derive(Debug, Clone)]
pub(super) struct AffectedPath {
    path: Expanded,
    /// Directories to which the path may be relative.
    cwds: Vec<PathBuf>,
    /// Part of the tree that the call affects.
    pub(super) reach: Reach,
    access: Access,
    /// Patterns for the names of affected files below the path. Empty: all names.
    names: Vec<GlobMatcher>,
}

/// Part of the tree at a path that a call affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path.
    Exact,
    /// The path and everything below it.
    Tree,
    /// Some files below the path.
    Into,
}

/// Files that a tool call writes, moves or removes.
#[derive(Debug)]
pub(super) struct Affected {
    pub(super) paths: Vec<AffectedPath>,
    /// Paths with parts that only a running shell knows.
    pub(super) unknown: Vec<Expanded>,
    /// Relative paths of commands that run in an unknown directory.
    pub(super) astray: Vec<PathBuf>,
    pub(super) parsed: ParsedCommands,
}

impl AffectedPath {
    /// Creates a path from a text, relative to one of these directories. `~/` is the home directory.
    pub(super) fn new(text: &str, home: Option<&str>, cwds: &[PathBuf]) -> Self {
        let path = Expanded { text: with_home(text, home), known: true, ..Expanded::default() };
        Self { path, cwds: cwds.to_vec(), reach: Reach::Exact, access: Access::Write, names: Vec::new() }
    }

    /// Returns all names of the files that the path may denote.
    pub(super) fn names(&self) -> impl Iterator<Item = PathBuf> {
        self.cwds.iter().flat_map(|cwd| expanded(&self.path, cwd)).flat_map(|file| names(&file))
    }
}

/// Returns the paths that a tool call writes, moves or removes, by its input and its shell commands.
pub(super) fn affected_paths(event: &Event, cwd: &Path, home: Option<&str>) -> Affected {
    let mut paths = named::in_input(event, cwd, home);
    let parsed = parse_commands(event, home, cwd);
    let doubt = parsed.doubt();
    let (mut unknown, mut astray) = (Vec::new(), Vec::new());
    for command in &parsed.simple_commands {
        let targets = targets::in_command(command, &parsed.simple_commands);
        // The paths that `find` lists are found with its directories.
        let is_open = |path: &Expanded| !doubt.is_temporary(path) && !doubt.is_listed(path, command);
        unknown.extend(targets.unknown.into_iter().map(|target| target.path).filter(is_open));
        if doubt.is_lost(command) {
            let relative =
                targets.known.iter().map(|path| Path::new(&path.path.text)).filter(|path| path.is_relative());
            astray.extend(relative.map(lexical));
        }
        paths.extend(targets.known);
    }
    Affected { paths, unknown, astray, parsed }
}

async fn run(call: BuiltinCall<'_>, patterns: Arc<Patterns>, denies_reading: bool) -> Result<Opinion, Failure> {
    if call.event.tool_input().is_none() {
        return Ok(Opinion::none());
    }
    let (event, cwd, home) = (call.event.clone(), call.cwd(), call.env.var("HOME"));
    off_thread(move || {
        let patterns = patterns.resolve(&cwd, home.as_deref());
        let changes = check(&event, &patterns, &cwd, home.as_deref());
        if !denies_reading || changes.decision() == Decision::Deny {
            return changes;
        }
        let reads = reads::check(&event, &patterns, &cwd, home.as_deref());
        if reads.decision() > changes.decision() { reads } else { changes }
    })
    .await
}

fn check(event: &Event, patterns: &ResolvedPatterns, cwd: &Path, home: Option<&str>) -> Opinion {
    let affected = affected_paths(event, cwd, home);
    let mut question = None;
    for path in &affected.paths {
        let Some((file, pattern)) = find_protected(path, patterns) else { continue };
        let file = file.display();
        if path.reach != Reach::Into {
            return Opinion::deny(format!("{file} is protected by the pattern `{pattern}`"));
        }
        question.get_or_insert_with(|| {
            format!("this may change {file}, which is protected by the pattern `{pattern}`; name the files to change")
        });
    }
    if let Some(question) = question {
        return Opinion::ask(question);
    }
    if let Some(path) = affected.unknown.iter().find(|path| could_be_protected(path, patterns)) {
        let text = path.text.replace(char::is_control, " ");
        let shown = head(&text, 60);
        return Opinion::ask(format!(
            "only the running shell knows `{shown}`, which may be a protected file; write the path"
        ));
    }
    if let Some(path) = affected.astray.iter().find(|path| patterns.protecting_end(path)) {
        let shown = path.display();
        return Opinion::ask(format!("only the running shell knows the directory of `{shown}`; write the whole path"));
    }
    match affected.parsed.parse_error {
        Some(why) => Opinion::ask(format!("cannot parse the command ({why}); it may write to protected files")),
        None => Opinion::none(),
    }
}

/// `true` if the name of an unknown path is unknown, or could be one that a pattern protects.
fn could_be_protected(path: &Expanded, patterns: &ResolvedPatterns) -> bool {
    has_unknown_name(path) || could_be_named(path, patterns)
}

/// `true` if the known part of an unknown path could be a name that a pattern protects.
fn could_be_named(path: &Expanded, patterns: &ResolvedPatterns) -> bool {
    components(path).any(|component| patterns.protecting_name(&component))
}

/// Returns the components of a path, with their unknown parts.
pub(super) fn components(path: &Expanded) -> impl Iterator<Item = Expanded> {
    let is_literal = |at: &usize| !path.unknown.iter().any(|range| range.contains(at));
    let slashes = path.text.match_indices('/').map(|(at, _)| at).filter(is_literal);
    let ends: Vec<usize> = slashes.chain([path.text.len()]).collect();
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    let ranges: Vec<_> = starts.zip(ends.iter().copied()).filter(|(start, end)| start < end).collect();
    let parts: Vec<_> = ranges.into_iter().map(|(start, end)| path.part(start..end)).collect();
    parts.into_iter().filter(|part| !is_wholly_unknown(part))
}

fn find_protected<'a>(affected: &AffectedPath, patterns: &'a ResolvedPatterns) -> Option<(PathBuf, &'a str)> {
    affected.names().find_map(|name| {
        let has_all_names = affected.names.is_empty();
        if let Some(pattern) = patterns.protecting(&name).filter(|_| has_all_names) {
            return Some((name, pattern));
        }
        let is_affected = |file: &Path| {
            let below = file.strip_prefix(&name).unwrap_or(file);
            has_all_names || below.iter().any(|part| affected.names.iter().any(|glob| glob.is_match(part)))
        };
        if affected.reach == Reach::Exact { None } else { patterns.protecting_below(&name, &is_affected) }
    })
}
