//! Finds the protected files that search programs read, for `protect_paths --read`.
//!
//! `reads` uses it. Options that select files are evaluated for each protected file that exists. An option that cannot be
//! evaluated must never silence the question.

use std::ops::Range;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::access::Access;
use super::{AffectedPath, Reach};
use crate::builtins::find_command::Find;
use crate::builtins::options::Options;
use crate::builtins::paths::PathSet;
use crate::builtins::shell::{Expanded, SimpleCommand};

/// Options of a program with patterns for the names of files.
struct Row {
    program: &'static str,
    /// Single letters that take a value.
    with_value: &'static str,
    /// Single letters and long names whose values are patterns.
    patterns: &'static [&'static str],
}

const GREP: &[&str] = &["include", "exclude", "exclude-dir"];

const ROWS: &[Row] = &[
    Row { program: "grep", with_value: "efmABCdD", patterns: GREP },
    Row { program: "egrep", with_value: "efmABCdD", patterns: GREP },
    Row { program: "fgrep", with_value: "efmABCdD", patterns: GREP },
    Row { program: "rg", with_value: "efgjmrtTABCdEM", patterns: &["g", "glob", "iglob"] },
    Row { program: "tar", with_value: "CfTXgbHKNVI", patterns: &["exclude"] },
    Row { program: "bsdtar", with_value: "CfTXb", patterns: &["exclude"] },
    Row { program: "rsync", with_value: "efBTM", patterns: &["include", "exclude"] },
];

/// Long options of these programs that take a value, if it is not in the same word.
const LONG_WITH_VALUE: &[&str] = &[
    "after-context",
    "before-context",
    "binary-files",
    "context",
    "devices",
    "directories",
    "directory",
    "encoding",
    "exclude-from",
    "file",
    "files-from",
    "filter",
    "group-separator",
    "ignore-file",
    "include-from",
    "label",
    "max-columns",
    "max-count",
    "max-depth",
    "max-filesize",
    "pre",
    "regexp",
    "replace",
    "rsh",
    "sort",
    "sortr",
    "threads",
    "transform",
    "type",
    "type-not",
];

/// An option with its value.
struct Valued {
    name: String,
    value: Expanded,
    /// Positions of its words.
    words: Range<usize>,
    is_pattern: bool,
}

impl Valued {
    fn is_exclusion(&self) -> bool {
        match self.name.as_str() {
            "exclude" | "exclude-dir" => true,
            "g" | "glob" | "iglob" => self.value.known && self.value.text.starts_with('!'),
            _ => false,
        }
    }
}

/// Options of a command line.
#[derive(Default)]
struct Scan {
    valued: Vec<Valued>,
    /// Letters without values.
    letters: String,
}

/// Reads the options of a program in [`ROWS`].
fn scan(program: &str, args: &[Expanded]) -> Scan {
    let mut found = Scan::default();
    let Some(row) = ROWS.iter().find(|row| row.program == program) else { return found };
    let mut index = 0;
    // The first word of `tar` may have letters without a dash. Their values are the next words.
    if let Some(first) = args.first()
        && matches!(program, "tar" | "bsdtar")
        && !first.text.starts_with('-')
    {
        index = 1 + first.text.chars().filter(|c| row.with_value.contains(*c)).count();
    }
    while let Some(arg) = args.get(index) {
        let (start, text) = (index, arg.text.as_str());
        index += 1;
        if text == "--" {
            break;
        }
        let (name, value) = if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            // The programs with GNU options accept the start of a name.
            let is_name = |own: &&str| *own == name || program != "rg" && own.starts_with(name);
            if value.is_none() && !row.patterns.contains(&name) && !LONG_WITH_VALUE.iter().any(is_name) {
                continue;
            }
            (name.to_owned(), value.map(str::len))
        } else if let Some(cluster) = text.strip_prefix('-') {
            let letter = cluster.char_indices().find(|(_, c)| row.with_value.contains(*c));
            let Some((at, letter)) = letter else {
                found.letters.push_str(cluster);
                continue;
            };
            found.letters.push_str(cluster.get(..at).unwrap_or_default());
            let rest = cluster.len() - at - letter.len_utf8();
            (letter.to_string(), if rest == 0 { None } else { Some(rest) })
        } else {
            continue;
        };
        let mut is_pattern = row.patterns.contains(&name.as_str());
        let value = match value {
            Some(length) => arg.part(text.len() - length..text.len()),
            None => {
                let Some(next) = args.get(index) else { break };
                // An unknown word may be an option that takes this word as its value.
                is_pattern &= start == 0 || args[start - 1].known;
                index += 1;
                next.clone()
            }
        };
        found.valued.push(Valued { name, value, words: start..index, is_pattern });
    }
    found
}

/// Returns the arguments of a command without its exclusions: the files that they name are not read.
pub(super) fn without_exclusions(program: &str, args: &[Expanded]) -> Vec<Expanded> {
    let mut excluded: Vec<Range<usize>> = Vec::new();
    let valued = scan(program, args).valued;
    excluded.extend(valued.into_iter().filter(|option| option.is_pattern && option.is_exclusion()).map(|o| o.words));
    if program == "zip" {
        excluded.extend(zip_exclusions(args));
    }
    let is_excluded = |index: usize, arg: &Expanded| {
        arg.text.starts_with("--exclude=") || excluded.iter().any(|range| range.contains(&index))
    };
    let kept = args.iter().enumerate().filter(|(index, arg)| !is_excluded(*index, arg));
    kept.map(|(_, arg)| arg.clone()).collect()
}

/// Returns the positions of the lists of `zip -x`. A list ends at the next option or at `@`.
fn zip_exclusions(args: &[Expanded]) -> Vec<Range<usize>> {
    let mut lists = Vec::new();
    for (start, arg) in args.iter().enumerate() {
        // `-x` may be the value of the option before it.
        let takes_value = |word: &Expanded| {
            !word.known || word.text.starts_with('-') && word.text.ends_with(['b', 'i', 'n', 'O', 'P', 's', 't'])
        };
        let is_value = start > 0 && takes_value(&args[start - 1]);
        if !matches!(arg.text.as_str(), "-x" | "--exclude") || is_value {
            continue;
        }
        let is_end = |word: &Expanded| word.text.starts_with('-') || word.text == "@";
        let length = args[start + 1..].iter().take_while(|word| !is_end(word)).count();
        lists.push(start..start + 1 + length);
    }
    lists
}

/// A rule for the names of files. The last one that matches applies.
struct Rule {
    includes: bool,
    /// `None` if the pattern cannot be evaluated.
    glob: Option<GlobMatcher>,
}

/// Files below a directory that a program reads.
#[derive(Default)]
struct Selection {
    rules: Vec<Rule>,
    /// `true` if a file without a matching rule is skipped.
    skips_others: bool,
    skipped_directories: Vec<GlobMatcher>,
    /// `true` if files and directories whose names start with a dot are skipped.
    skips_hidden: bool,
}

impl Selection {
    /// `true` if the program reads this file below the directory.
    fn reads(&self, file: &Path, root: &Path) -> bool {
        let is_directory = !file.is_symlink() && file.is_dir();
        if is_directory {
            // The files in it are checked on their own.
            return false;
        }
        let below = file.strip_prefix(root).unwrap_or(file);
        let is_hidden = |part: &std::ffi::OsStr| part.to_string_lossy().starts_with('.');
        if self.skips_hidden && below.iter().any(is_hidden) {
            return false;
        }
        let is_skipped = |part: &std::ffi::OsStr| self.skipped_directories.iter().any(|glob| glob.is_match(part));
        if below.parent().is_some_and(|parent| parent.iter().any(is_skipped)) {
            return false;
        }
        let name = file.file_name().unwrap_or_default();
        let matches = |rule: &&Rule| match &rule.glob {
            Some(glob) => glob.is_match(name),
            None => rule.includes,
        };
        self.rules.iter().rev().find(matches).map_or(!self.skips_others, |rule| rule.includes)
    }
}

/// Compiles a pattern for names. Returns `None` if it may mean something else to the program.
fn name_glob(value: &Expanded, is_case_insensitive: bool) -> Option<GlobMatcher> {
    if !value.known || value.text.contains('/') || value.text.contains("[[") {
        return None;
    }
    let glob = GlobBuilder::new(&value.text).case_insensitive(is_case_insensitive).build().ok()?;
    Some(glob.compile_matcher())
}

/// Returns a protected file that a search program reads, and its pattern.
pub(super) fn find_read<'a>(
    command: &SimpleCommand,
    all: &[SimpleCommand],
    is_reader: &dyn Fn(&str) -> bool,
    patterns: &'a dyn PathSet,
) -> Option<(PathBuf, &'a str)> {
    match command.name.as_str() {
        "grep" | "egrep" | "fgrep" => {
            if !Options::new(command).has("rR", &["recursive", "dereference-recursive"]) {
                return None;
            }
            let scan = scan(&command.name, &command.args);
            find_selected(command, roots(command, &scan), &grep_selection(&scan), patterns)
        }
        "rg" => {
            let scan = scan("rg", &command.args);
            let selection = rg_selection(command, &scan)?;
            find_selected(command, roots(command, &scan), &selection, patterns)
        }
        "find" => find_listed(command, all, is_reader, patterns),
        _ => None,
    }
}

/// Returns the directories that a search program reads. Empty if the command does not read directories.
pub(super) fn read_roots(command: &SimpleCommand) -> Vec<Expanded> {
    let is_search = match command.name.as_str() {
        "grep" | "egrep" | "fgrep" => Options::new(command).has("rR", &["recursive", "dereference-recursive"]),
        // Without a directory, `rg` searches the standard input of a pipe.
        "rg" => command.fed_by.is_empty() && command.input.is_none() && command.reads.is_empty(),
        _ => false,
    };
    if is_search { roots(command, &scan(&command.name, &command.args)) } else { Vec::new() }
}

fn find_selected<'a>(
    command: &SimpleCommand,
    roots: Vec<Expanded>,
    selection: &Selection,
    patterns: &'a dyn PathSet,
) -> Option<(PathBuf, &'a str)> {
    roots.into_iter().find_map(|path| {
        let tree = AffectedPath {
            path,
            cwds: command.cwds.to_vec(),
            reach: Reach::Tree,
            access: Access::Read,
            names: Vec::new(),
        };
        tree.names().find_map(|root| patterns.protecting_below(&root, &|file: &Path| selection.reads(file, &root)))
    })
}

/// Returns the directories that `grep -r` or `rg` searches.
fn roots(command: &SimpleCommand, scan: &Scan) -> Vec<Expanded> {
    let is_value = |index: usize| scan.valued.iter().any(|option| option.words.contains(&index));
    let plain = command.args.iter().enumerate().filter(|(index, _)| !is_value(*index));
    let plain: Vec<Expanded> = plain.map(|(_, arg)| arg.clone()).collect();
    let has_pattern = scan.valued.iter().any(|option| matches!(option.name.as_str(), "e" | "f" | "regexp" | "file"));
    let operands: Vec<_> = Options::of(&command.name, &plain).operands().skip(usize::from(!has_pattern)).collect();
    if operands.is_empty() {
        return vec![Expanded { text: ".".to_owned(), known: true, ..Expanded::default() }];
    }
    operands.into_iter().filter(|root| root.known).cloned().collect()
}

/// Reads the rules of `grep`: a file without a match is read, unless the first rule is an inclusion.
fn grep_selection(scan: &Scan) -> Selection {
    let mut selection = Selection::default();
    for option in scan.valued.iter().filter(|option| option.is_pattern) {
        let glob = name_glob(&option.value, false);
        match option.name.as_str() {
            "exclude-dir" => {
                let text = option.value.text.trim_end_matches('/').len();
                selection.skipped_directories.extend(name_glob(&option.value.part(0..text), false));
            }
            "include" => selection.rules.push(Rule { includes: true, glob }),
            // `grep` reads braces literally.
            _ => {
                let glob = if option.value.text.contains('{') { None } else { glob };
                selection.rules.push(Rule { includes: false, glob });
            }
        }
    }
    selection.skips_others = selection.rules.first().is_some_and(|rule| rule.includes);
    selection
}

/// Reads the rules of `rg`. Returns `None` if it only lists names, or skips hidden and ignored files.
fn rg_selection(command: &SimpleCommand, scan: &Scan) -> Option<Selection> {
    let has = |long: &str| command.args.iter().filter(|arg| arg.text == long).count();
    let unrestricted = scan.letters.matches('u').count() + has("--unrestricted");
    let reads_hidden = unrestricted > 1 || scan.letters.contains('.') || has("--hidden") > 0;
    let globs = || scan.valued.iter().filter(|option| option.is_pattern);
    // A file that matches an inclusion is read even if it is hidden.
    let has_inclusion = globs().any(|option| !option.is_exclusion());
    let selects_more = reads_hidden || unrestricted > 0 || has_inclusion;
    if has("--files") > 0 || !selects_more {
        return None;
    }
    let mut selection = Selection {
        skips_others: has_inclusion,
        skips_hidden: !reads_hidden && !has_inclusion,
        ..Selection::default()
    };
    for option in globs() {
        let value = &option.value;
        let is_case_insensitive = option.name == "iglob";
        if !option.is_exclusion() {
            selection.rules.push(Rule { includes: true, glob: name_glob(value, is_case_insensitive) });
            continue;
        }
        let end = value.text.trim_end_matches('/').len();
        let start = if value.text.starts_with("!**/") { 4 } else { 1 };
        let name = if start < end { value.part(start..end) } else { Expanded::default() };
        let glob = name_glob(&name, is_case_insensitive);
        // An inclusion may select the directory again.
        if !has_inclusion {
            selection.skipped_directories.extend(glob.clone());
        }
        if end == value.text.len() {
            selection.rules.push(Rule { includes: false, glob });
        }
    }
    Some(selection)
}

/// Returns a protected file that `find` lists by its name, if a program reads the files of the list.
fn find_listed<'a>(
    command: &SimpleCommand,
    all: &[SimpleCommand],
    is_reader: &dyn Fn(&str) -> bool,
    patterns: &'a dyn PathSet,
) -> Option<(PathBuf, &'a str)> {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let runs = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    let executed = words.windows(2).filter(|pair| runs(pair[0])).map(|pair| pair[1].rsplit('/').next());
    let executes = executed.flatten().any(is_reader);
    let lists = |word: &Expanded| !word.known && word.from.iter().any(|name| name == "find");
    let passes = || all.iter().any(|other| is_reader(&other.name) && other.args.iter().any(lists));
    if !executes && !passes() {
        return None;
    }
    let tests = name_tests(&words);
    // With `-o` one of the tests is enough.
    let is_choice = words.iter().any(|word| matches!(*word, "-o" | "-or" | ","));
    let roots = Find::new(command, all)?.roots;
    roots.into_iter().filter(|root| root.known).find_map(|path| {
        let written = PathBuf::from(&path.text);
        let tree = AffectedPath {
            path,
            cwds: command.cwds.to_vec(),
            reach: Reach::Tree,
            access: Access::Read,
            names: Vec::new(),
        };
        tree.names().find_map(|root| {
            let is_read = |file: &Path| {
                // `find` shows a path as its directory is written.
                let shown = written.join(file.strip_prefix(&root).unwrap_or(file));
                let passes = |test: &NameTest| {
                    let name = if test.is_path { shown.as_os_str() } else { file.file_name().unwrap_or_default() };
                    test.glob.is_match(name) != test.is_negated
                };
                let mut positive = tests.iter().filter(|test| !test.is_negated).peekable();
                let is_named = positive.peek().is_some();
                is_named && if is_choice { positive.any(passes) } else { tests.iter().all(passes) }
            };
            patterns.protecting_below(&root, &is_read)
        })
    })
}

/// A test of `find` for a name or a path.
struct NameTest {
    glob: GlobMatcher,
    is_path: bool,
    is_negated: bool,
}

fn name_tests(words: &[&str]) -> Vec<NameTest> {
    let mut tests = Vec::new();
    for (index, pair) in words.windows(2).enumerate() {
        let is_path = match pair[0] {
            "-name" | "-iname" => false,
            "-path" | "-ipath" | "-wholename" | "-iwholename" => true,
            _ => continue,
        };
        let is_case_insensitive = pair[0].starts_with("-i");
        let Ok(glob) = GlobBuilder::new(pair[1]).case_insensitive(is_case_insensitive).build() else { continue };
        let is_negated = index > 0 && matches!(words[index - 1], "!" | "-not");
        tests.push(NameTest { glob: glob.compile_matcher(), is_path, is_negated });
    }
    tests
}
