//! Files that programs for files change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_expression::{PartialText, Value};

use super::Command;
use super::arguments::Arguments;
use crate::builtins::paths::expanded;
use crate::builtins::shell::{Expanded, lexical};
use crate::facts::{file_word, word};

/// Operands that a program changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    All,
    /// The last operand, or the value of `--target-directory`.
    Last,
    /// All operands and the value of `--target-directory`.
    AllAndDirectory,
    /// All operands behind the first, which is a mode or an owner.
    BehindFirst,
    /// The operands behind the script, with `--in-place`.
    InPlace,
    /// The value of `of=`.
    Of,
    /// The directories before the expression, if it deletes or runs programs.
    Roots,
}

const PROGRAMS: &[(&[&str], Changes)] = &[
    (
        &[
            "rm",
            "rmdir",
            "unlink",
            "shred",
            "srm",
            "wipe",
            "trash",
            "trash-put",
            "truncate",
            "tee",
            "touch",
            "mkdir",
            "wipefs",
            "blkdiscard",
            "mkswap",
            "fallocate",
            "mkfifo",
            "mkfs",
            "mke2fs",
            "newfs",
            "rimraf",
            "del",
            "rd",
            "erase",
        ],
        Changes::All,
    ),
    (&["mv"], Changes::AllAndDirectory),
    (&["cp", "install", "ln", "rsync", "scp"], Changes::Last),
    (&["chmod", "chown", "chgrp", "setfacl", "chattr", "xattr"], Changes::BehindFirst),
    (&["sed", "gsed", "perl"], Changes::InPlace),
    (&["dd"], Changes::Of),
    (&["find", "gfind"], Changes::Roots),
];

/// Expressions of `find` that change files or run programs.
const CHANGING: &[&str] = &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// Programs behind `find -exec` that only read.
const READERS: &[&str] = &[
    "grep",
    "cat",
    "ls",
    "echo",
    "head",
    "tail",
    "wc",
    "file",
    "stat",
    "basename",
    "dirname",
    "md5sum",
    "sha256sum",
    "du",
    "test",
    "[",
    "printf",
    "rg",
    "egrep",
    "awk",
    "diff",
    "realpath",
    "readlink",
    "less",
    "more",
    "cksum",
    "strings",
    "jq",
];

/// Programs that list files for others.
const LISTING: &[&str] = &["find", "gfind", "fd", "fdfind"];

/// Tests of `find` that the directory itself does not pass in general.
const TESTS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-xtype",
    "-mindepth",
    "-empty",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-newer",
    "-user",
    "-perm",
];

/// Maximum number of files that a pattern in a target is expanded to.
const MOST_MATCHES: usize = 64;

/// Programs that pass the files of another program on.
const PASSING: &[&str] = &["find", "gfind", "fd", "fdfind", "xargs", "parallel"];

pub(super) fn value(command: &Command) -> Value {
    let name = command.name();
    let is_format = name.starts_with("mkfs.");
    let row = PROGRAMS.iter().find(|(names, _)| names.contains(&name));
    let changes = match row {
        Some((_, changes)) => *changes,
        None if is_format => Changes::All,
        None => return Value::list([]),
    };
    let arguments = command.arguments();
    let targets = files(changes, command, arguments);
    let mut values = Vec::new();
    for target in targets {
        match lister(command, &target) {
            Some(lister) => listed(&lister, &target, &mut values),
            None => paths(command, &target, &mut values),
        }
    }
    Value::list(values)
}

fn files(changes: Changes, command: &Command, arguments: &Arguments) -> Vec<Expanded> {
    let operands = arguments.operands.as_slice();
    let directory = || arguments.values_of("--target-directory").cloned();
    match changes {
        Changes::All => operands.to_vec(),
        Changes::AllAndDirectory => operands.iter().cloned().chain(directory()).collect(),
        Changes::Last => match directory().last() {
            Some(directory) => vec![directory],
            // `host:path` is on another machine.
            None if operands.last().is_some_and(|to| is_elsewhere(command.name(), &to.text)) => Vec::new(),
            None if operands.len() > 1 || command.name() == "install" => operands.last().cloned().into_iter().collect(),
            // `ln -s x` makes a link in the working directory.
            None => Vec::new(),
        },
        Changes::BehindFirst if arguments.has("--reference") => operands.to_vec(),
        // A mode such as `-w` looks like an option.
        Changes::BehindFirst
            if command.simple().args.iter().any(|arg| command.name() == "chmod" && is_mode(&arg.text)) =>
        {
            operands.to_vec()
        }
        Changes::BehindFirst => operands.iter().skip(1).cloned().collect(),
        Changes::InPlace if !arguments.has_any(&["--in-place", "-i"]) => Vec::new(),
        Changes::InPlace if arguments.has_any(&["-e", "-f", "-E"]) => operands.to_vec(),
        Changes::InPlace => operands.iter().skip(1).cloned().collect(),
        Changes::Of => {
            let args = command.simple().args.iter().filter(|arg| arg.text.starts_with("of="));
            args.map(|arg| arg.part(3..arg.text.len())).collect()
        }
        Changes::Roots => roots(command),
    }
}

fn is_elsewhere(program: &str, place: &str) -> bool {
    let host = place.split('/').next().unwrap_or_default();
    matches!(program, "scp" | "rsync") && host.contains(':')
}

fn is_mode(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && text != "-R" && text[1..].chars().all(|c| "rwxXst".contains(c))
}

/// Returns the directories of `find`, if it deletes files or runs a program that may change them.
fn roots(command: &Command) -> Vec<Expanded> {
    let args = command.simple().args.as_slice();
    let changes = |(index, arg): (usize, &Expanded)| {
        let runs_reader = || args.get(index + 1).is_some_and(|program| READERS.contains(&program.text.as_str()));
        CHANGING.contains(&arg.text.as_str()) && !(arg.text.starts_with("-exec") && runs_reader())
    };
    if args.iter().enumerate().any(changes) { searched(args) } else { Vec::new() }
}

/// Returns the directories that `find` searches.
fn searched(args: &[Expanded]) -> Vec<Expanded> {
    let before = args.iter().take_while(|arg| !is_expression(arg));
    let roots: Vec<_> = before.filter(|arg| !arg.text.starts_with('-')).cloned().collect();
    if roots.is_empty() {
        return vec![Expanded { text: ".".to_owned(), known: true, ..Expanded::default() }];
    }
    roots
}

fn is_expression(arg: &Expanded) -> bool {
    arg.known
        && (arg.text.starts_with('-') && !matches!(arg.text.as_str(), "-H" | "-L" | "-P")
            || matches!(arg.text.as_str(), "(" | "!"))
}

/// Returns the command of the call that lists the files for which a target stands: `find` before `-exec` or `xargs`.
fn lister(command: &Command, target: &Expanded) -> Option<Command> {
    let is_placeholder = target.text.contains("{}") && command.wrappers().any(|name| PASSING.contains(&name));
    if !is_placeholder && !command.doubt().is_listed(target, command.simple()) {
        return None;
    }
    let earlier = (0..command.index).rev().map(|index| Command::new(&command.shared, index));
    let is_lister = |other: &Command| LISTING.contains(&other.simple().name.as_str());
    earlier.into_iter().find(is_lister).or_else(|| Some(Command::new(&command.shared, command.index)))
}

/// Adds the files below the directories of `find` that a target stands for.
fn listed(lister: &Command, target: &Expanded, values: &mut Vec<Value>) {
    let simple = lister.simple();
    if !matches!(simple.name.as_str(), "find" | "gfind") {
        values.push(Value::unknown(format!("the files of `{lister:?}`")));
        return;
    }
    let behind = target.text.rfind(['}', ')']).map_or("", |at| &target.text[at + 1..]);
    let has_tests = simple.args.iter().any(|arg| TESTS.contains(&arg.text.as_str()));
    let end = if behind.is_empty() { name_end(&simple.args) } else { behind.to_owned() };
    let mut found = Vec::new();
    for root in searched(&simple.args) {
        if !has_tests {
            paths(lister, &suffixed(&root, behind), values);
        }
        paths(lister, &root, &mut found);
    }
    values.extend(found.into_iter().map(|root| below(&root, &end)));
}

fn suffixed(root: &Expanded, end: &str) -> Expanded {
    Expanded { text: format!("{}{end}", root.text), ..root.clone() }
}

/// Returns the end of all names that a single `-name` finds.
fn name_end(args: &[Expanded]) -> String {
    let is_open = |arg: &Expanded| matches!(arg.text.as_str(), "-o" | "-or" | "!" | "-not" | ",");
    let mut names = args.windows(2).filter(|pair| pair[0].text == "-name");
    match (names.next(), names.next()) {
        (Some([_, name]), None) if name.known && !args.iter().any(is_open) => {
            let end = name.text.rsplit(['*', '?', ']']).next().unwrap_or_default();
            end.to_owned()
        }
        _ => String::new(),
    }
}

/// Returns a path below a directory, of which only the end is known.
fn below(directory: &Value, end: &str) -> Value {
    let (mut known, starts) = match directory {
        Value::String(path) => (vec![format!("{}/", path.trim_end_matches('/'))], true),
        Value::Partial(path) if !path.known.is_empty() => (path.known.clone(), path.starts),
        other if end.is_empty() => return other.clone(),
        _ => (Vec::new(), false),
    };
    if !end.is_empty() {
        known.push(end.to_owned());
    }
    let shown = format!("{directory}/…{end}");
    Value::Partial(Arc::new(PartialText { shown, known, starts, ends: !end.is_empty() }))
}

/// Adds the absolute paths that a word can stand for.
fn paths(command: &Command, target: &Expanded, values: &mut Vec<Value>) {
    let simple = command.simple();
    // A temporary directory is everyday: its name is enough.
    if !target.known && command.doubt().is_temporary(target) {
        values.push(target.text.as_str().into());
        return;
    }
    let text = target.text.as_str();
    let starts_known = target.unknown.first().is_none_or(|range| range.start > 0) && !target.cut;
    if !target.known && (!starts_known || target.unknown.is_empty()) {
        values.push(word::text(target));
        return;
    }
    if Path::new(text).is_absolute() || text.starts_with('~') {
        values.push(resolved(target, Path::new("/")));
        matches(command, target, Path::new("/"), values);
        return;
    }
    for cwd in simple.cwds.iter() {
        values.push(resolved(target, cwd));
        if text.starts_with("..") {
            matches(command, target, cwd, values);
        }
    }
    if !simple.cwd_known && (simple.cwds.is_empty() || command.doubt().is_lost(simple)) {
        values.push(below_unknown(target));
    }
}

/// Adds the files that a pattern outside of the working directory matches.
fn matches(command: &Command, target: &Expanded, cwd: &Path, values: &mut Vec<Value>) {
    if !target.glob || !target.known {
        return;
    }
    let start = target.text.split(['*', '?', '[']).next().unwrap_or_default();
    let start = lexical(&cwd.join(&start[..start.rfind('/').map_or(0, |at| at + 1)]));
    if command.simple().cwds.iter().any(|own| start.starts_with(own)) {
        return;
    }
    if command.wrappers().any(super::is_remote) {
        values.push(file_word::value(&Expanded {
            text: cwd.join(&target.text).to_string_lossy().into_owned(),
            ..target.clone()
        }));
        return;
    }
    let mut files = expanded(target, cwd);
    files.sort();
    let is_match = |file: &PathBuf| file.symlink_metadata().is_ok();
    let found = files.iter().filter(|file| is_match(file)).take(MOST_MATCHES);
    values.extend(found.map(|file| lexical(file).to_string_lossy().as_ref().into()));
}

fn resolved(target: &Expanded, cwd: &Path) -> Value {
    let path = |text: &str| lexical(&cwd.join(text)).to_string_lossy().into_owned();
    match word::text(target) {
        // A quoted wildcard is a part of the name.
        Value::String(text) if !target.glob && text.contains(['*', '?', '[']) => {
            let escaped = |text: String| text.replace('*', "\\*").replace('?', "\\?").replace('[', "\\[");
            escaped(path(&text)).into()
        }
        Value::String(text) => path(&text).into(),
        Value::Partial(partial) if partial.starts => {
            let mut known = partial.known.clone();
            let slash = if known[0].ends_with('/') { "/" } else { "" };
            let start = path(&known[0]);
            // The unknown part continues the last component, so a `..` in the known start stays correct.
            known[0] = if start.ends_with('/') { start } else { format!("{start}{slash}") };
            let behind = target.text.get(partial.known[0].len()..).unwrap_or_default();
            let shown = format!("{}{behind}", known[0]);
            Value::Partial(Arc::new(PartialText { shown, known, starts: true, ends: partial.ends }))
        }
        other => other,
    }
}

/// Returns a relative path in an unknown directory.
fn below_unknown(target: &Expanded) -> Value {
    let path = lexical(Path::new(&target.text)).to_string_lossy().into_owned();
    if !target.known || path.starts_with("..") || path.is_empty() {
        return Value::Unknown(word::unknown(target));
    }
    let shown = format!("…/{path}");
    Value::Partial(Arc::new(PartialText { shown, known: vec![format!("/{path}")], starts: false, ends: true }))
}
