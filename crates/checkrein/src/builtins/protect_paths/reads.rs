//! Finds the protected files that a tool call reads, for `protect_paths --read`.
//!
//! A command reads a file if one of its words names it. Words that are not files, such as the pattern of `grep` and
//! exclusions, are left out, and so are programs that only show names. An unknown word (`cat $F`) is no reason to ask: such
//! commands are common.

use std::path::Path;

use checkrein_core::{Event, Opinion};

use super::access::Access;
use super::{AffectedPath, Reach, could_be_named, find_protected, named, searches};
use crate::builtins::commands::parse_commands;
use crate::builtins::global_options;
use crate::builtins::json_strings::strings;
use crate::builtins::options::Options;
use crate::builtins::paths::ResolvedPatterns;
use crate::builtins::shell::{Expanded, SimpleCommand, pieces};

/// Programs that show the name of a file or its properties, but not its content.
pub(super) const SHOW_NAMES: &[&str] = &[
    ":", "[", "[[", "basename", "cd", "chmod", "chown", "dirname", "du", "echo", "exa", "export", "eza", "fd", "find",
    "ls", "mkdir", "printf", "pushd", "read", "readlink", "realpath", "rm", "stat", "test", "touch", "tree", "true",
    "which",
];

/// Subcommands of git that show names, but not the content of files.
const GIT_SHOWS_NAMES: &[&str] = &["check-ignore", "commit", "ls-files", "rm", "status", "tag"];

/// Programs whose first operand is a pattern or a script.
const SCRIPT_FIRST: &[&str] =
    &["ag", "awk", "egrep", "fgrep", "gawk", "grep", "gsed", "jq", "perl", "rg", "ruby", "sed", "yq"];

/// Programs that take code as an argument.
pub(super) const INTERPRETERS: &[&str] =
    &["bun", "deno", "node", "perl", "php", "python", "python2", "python3", "ruby", "tsx"];

/// Fields of search tools with a pattern for the names of files.
const GLOBS: &[&str] = &["glob", "include", "include_pattern", "includePattern"];

/// Returns a deny if the call reads a protected file, and an ask if it may.
pub(super) fn check(event: &Event, patterns: &ResolvedPatterns, cwd: &Path, home: Option<&str>) -> Opinion {
    let denied = |file: &Path, pattern: &str| {
        Opinion::deny(format!("{} must not be read: it is protected by the pattern `{pattern}`", file.display()))
    };
    for path in named::all_in_input(event, cwd, home) {
        if let Some((file, pattern)) = find_protected(&path, patterns) {
            return denied(&file, pattern);
        }
    }
    if let Some((file, pattern)) = searched_tree(event, cwd, home).and_then(|path| find_protected(&path, patterns)) {
        return denied(&file, pattern);
    }
    let mut question = None;
    let commands = parse_commands(event, home, cwd).simple_commands;
    let is_reader = |program: &str| !SHOW_NAMES.contains(&program);
    for command in &commands {
        for word in words(command) {
            if !word.known {
                if could_be_named(&word, patterns) {
                    question.get_or_insert_with(|| {
                        format!("only the running shell knows `{}`, which may be a protected file", word.text)
                    });
                }
                continue;
            }
            let cwds = command.cwds.to_vec();
            let path = AffectedPath { path: word, cwds, reach: Reach::Exact, access: Access::Read, names: Vec::new() };
            if let Some((file, pattern)) = find_protected(&path, patterns) {
                return denied(&file, pattern);
            }
        }
        if let Some((file, pattern)) = searches::find_read(command, &commands, &is_reader, patterns) {
            let way = match command.name.as_str() {
                "find" => "name other files",
                "rg" => "name the files to search, or exclude it with --glob",
                _ => "name the files to search, or use --exclude",
            };
            question.get_or_insert_with(|| {
                let file = file.display();
                format!("`{}` reads {file}, which is protected by the pattern `{pattern}`; {way}", command.name)
            });
        }
    }
    question.map_or_else(Opinion::none, Opinion::ask)
}

/// Returns the words of a command that may name files that it reads.
pub(super) fn words(command: &SimpleCommand) -> Vec<Expanded> {
    let mut words = command.reads.clone();
    let name = command.name.as_str();
    if SHOW_NAMES.contains(&name) {
        return words;
    }
    let mut args = &command.args[..];
    if name == "git"
        && let Some(index) = global_options::subcommand("git", args)
    {
        if GIT_SHOWS_NAMES.contains(&args[index].text.as_str()) {
            return words;
        }
        args = &args[index + 1..];
    }
    let args = searches::without_exclusions(name, args);
    let script = Options::of(name, &args).operands().next().filter(|_| {
        let has_option = Options::new(command).has("ef", &["expression", "file", "regexp"]);
        SCRIPT_FIRST.contains(&name) && !has_option
    });
    for arg in args.iter().filter(|arg| script.is_none_or(|script| !std::ptr::eq(script, *arg))) {
        if arg.known && INTERPRETERS.contains(&name) {
            words.extend(pieces(&arg.text).map(known));
            continue;
        }
        words.push(arg.clone());
        // A message with blanks is not a file. The file may follow an option, `@`, or the name of a commit.
        let is_url = arg.text.contains("://") && !arg.text.contains("file:");
        if arg.known && !arg.glob && !is_url && !arg.text.contains(char::is_whitespace) {
            words.extend(arg.text.rsplit(['=', '@', ':']).take(1).filter(|part| *part != arg.text).map(known));
        }
    }
    words
}

fn known(text: &str) -> Expanded {
    Expanded { text: text.to_owned(), known: true, ..Expanded::default() }
}

/// Returns the directory that a search tool reads, with the names of the files. A pattern without letters is for all files,
/// which search tools limit to visible ones.
pub(super) fn searched_tree(event: &Event, cwd: &Path, home: Option<&str>) -> Option<AffectedPath> {
    let input = event.tool_input().filter(|_| named::is_read_only(event))?;
    let strings = strings(input);
    let text = |keys: &[&str]| {
        let found = strings.iter().find(|string| string.key.as_deref().is_some_and(|key| keys.contains(&key)));
        found.map(|string| string.text.decoded.to_string())
    };
    let name = text(GLOBS)?.rsplit('/').next().filter(|name| name.contains(char::is_alphanumeric))?.to_owned();
    let names = vec![globset::Glob::new(&name).ok()?.compile_matcher()];
    let root = text(&["path", "directory", "dir_path"]).unwrap_or_else(|| ".".to_owned());
    Some(AffectedPath {
        reach: Reach::Tree,
        access: Access::Read,
        names,
        ..AffectedPath::new(&root, home, &[cwd.to_owned()])
    })
}
