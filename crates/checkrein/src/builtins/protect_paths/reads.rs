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

/// Programs that upload files in fields of forms.
const SENDS_FORMS: &[&str] = &["curl", "curlie", "http", "https", "httpie", "xh", "xhs"];

/// Programs that start containers, and copy files from and to them.
pub(super) const CONTAINERS: &[&str] =
    &["docker", "docker-compose", "finch", "incus", "kubectl", "lxc", "nerdctl", "oc", "podman", "podman-compose"];

/// Options of container programs whose values are places in the container, or names.
const IN_CONTAINER: &[&str] = &[
    "-c",
    "-e",
    "-l",
    "-n",
    "-w",
    "--container",
    "--entrypoint",
    "--env",
    "--label",
    "--namespace",
    "--tmpfs",
    "--workdir",
];

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
    for (index, arg) in args.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| args[index].text.as_str());
        let is_in_container = CONTAINERS.contains(&name) && before.is_some_and(|option| IN_CONTAINER.contains(&option));
        if is_in_container || script.is_some_and(|script| std::ptr::eq(script, arg)) {
            continue;
        }
        if arg.known && INTERPRETERS.contains(&name) {
            words.extend(pieces(&arg.text).map(known));
            continue;
        }
        if let Some(mounted) = mounted(name, arg) {
            words.extend(mounted);
            continue;
        }
        words.push(arg.clone());
        let is_form = SENDS_FORMS.contains(&name);
        if is_form && let Some(files) = in_form(arg) {
            words.extend(files);
            continue;
        }
        // A message with blanks is not a file. The file may follow an option, `@`, or the name of a commit.
        let is_url = arg.text.contains("://") && !arg.text.contains("file:");
        if arg.known && !arg.glob && !is_url && !arg.text.contains(char::is_whitespace) {
            // `f@a.txt;type=text/plain` has attributes.
            let text = if is_form { arg.text.split(';').next().unwrap_or_default() } else { &arg.text };
            words.extend(text.rsplit(['=', '@', ':']).take(1).filter(|part| *part != arg.text).map(known));
        }
    }
    words
}

/// Returns the files that a field of a form names: `f=@a.txt,b.txt;type=text/plain`, `f=<a.txt`, `f=@"a.txt"`. `None`: it names none.
fn in_form(arg: &Expanded) -> Option<Vec<Expanded>> {
    let text = arg.text.as_str();
    let mut at = ["=@", "=<"].iter().filter_map(|mark| text.find(mark)).min()? + 2;
    let mut files = Vec::new();
    loop {
        let rest = &text[at..];
        let is_quoted = rest.starts_with('"');
        let start = at + usize::from(is_quoted);
        let end = match is_quoted {
            true => text[start..].find('"'),
            false => rest.find([',', ';']),
        };
        let end = end.map_or(text.len(), |end| start + end);
        let trimmed = start + text[start..end].len() - text[start..end].trim_start().len();
        files.push(arg.part(trimmed..trimmed + text[trimmed..end].trim_end().len()));
        at = (end + usize::from(is_quoted)).min(text.len());
        if !text[at..].starts_with(',') {
            break;
        }
        at += 1;
    }
    // `headers=@file` is an attribute of the field.
    let attributes = text[at..].match_indices("headers=").map(|(index, mark)| at + index + mark.len());
    for at in attributes.filter(|at| text[*at..].starts_with(['@', '<'])) {
        let end = text[at..].find(';').map_or(text.len(), |end| at + end);
        files.push(arg.part(at + 1..end));
    }
    Some(files)
}

/// Returns the directories and files of this machine that a word of a container program names: `~/x` in `~/x:/y` and in
/// `type=bind,src=~/x`. `None`: it is an ordinary word.
fn mounted(program: &str, arg: &Expanded) -> Option<Vec<Expanded>> {
    if !CONTAINERS.contains(&program) {
        return None;
    }
    let text = arg.text.as_str();
    let is_literal = |at: &usize| !arg.unknown.iter().any(|range| range.contains(at));
    if text.contains("://") {
        return None;
    }
    let keys = ["src=", "source="];
    let fields = text.strip_prefix("--mount=").unwrap_or(text);
    if fields.contains(',') && fields.split(',').any(|field| keys.iter().any(|key| field.starts_with(key))) {
        let mut at = text.len() - fields.len();
        let mut found = Vec::new();
        for field in fields.split(',') {
            let end = at + field.len();
            if let Some(key) = keys.iter().find(|key| field.starts_with(**key)) {
                found.push(arg.part(at + key.len()..end));
            }
            at = end + 1;
        }
        found.retain(is_path);
        return Some(found);
    }
    let start = ["--volume=", "-v"].iter().find(|option| text.starts_with(**option)).map_or(0, |option| option.len());
    let colon = text.match_indices(':').map(|(at, _)| at).find(is_literal).filter(|at| *at >= start)?;
    // Others are names of containers and images, and ports.
    let place = arg.part(start..colon);
    Some(if is_path(&place) { vec![place] } else { Vec::new() })
}

/// `true` for a word that names a file, and not a volume or a container.
fn is_path(word: &Expanded) -> bool {
    word.text.starts_with(['/', '.', '~']) || !word.known && word.text.contains('/')
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
