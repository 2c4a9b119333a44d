//! Reads the command line of `find`: its directories, its tests for names, and its actions.
//!
//! `block_dangerous_commands` and `protect_paths` use it.

use globset::{GlobBuilder, GlobMatcher};

use super::doubt::is_passing;
use super::shell::{Expanded, SimpleCommand, is_reader, starts_others};

/// A command line of `find`.
pub(super) struct Find {
    /// Directories that it searches.
    pub(super) roots: Vec<Expanded>,
    /// `true` if it has tests for names or paths.
    pub(super) is_filtered: bool,
    /// Patterns for names. Empty if files of any name are possible.
    pub(super) names: Vec<GlobMatcher>,
    /// `true` if it deletes what it finds, itself or with a program.
    pub(super) deletes: bool,
    /// `true` if it may change what it finds.
    pub(super) changes: bool,
}

/// Programs that delete their operands.
const DELETES: &[&str] = &["rm", "shred", "unlink", "rmdir", "srm", "trash"];

/// Tests for names and paths. Their values are patterns.
const TESTS: &[&str] = &["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"];

impl Find {
    /// Reads a command of `find`, with the commands that get its output as arguments.
    pub(super) fn new(command: &SimpleCommand, all: &[SimpleCommand]) -> Option<Self> {
        if command.name != "find" {
            return None;
        }
        let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
        let mut start = 0;
        while let Some(word) = words.get(start) {
            match *word {
                "-H" | "-L" | "-P" => start += 1,
                "-D" => start += 2,
                word if word.starts_with("-O") => start += 1,
                _ => break,
            }
        }
        let is_expression =
            |word: &str| word.len() > 1 && word.starts_with('-') || matches!(word, "(" | ")" | "!" | ",");
        let roots = command.args.get(start..).unwrap_or_default();
        let mut roots: Vec<_> = roots.iter().take_while(|arg| !is_expression(&arg.text)).cloned().collect();
        if roots.is_empty() {
            roots.push(Expanded { text: ".".to_owned(), known: true, ..Expanded::default() });
        }
        let is_filtered = words.iter().any(|word| TESTS.contains(word));
        let executed: Vec<&str> = words
            .windows(2)
            .filter(|pair| pair[0].starts_with("-exec") || pair[0].starts_with("-ok"))
            .map(|pair| pair[1].rsplit('/').next().unwrap_or_default())
            .collect();
        let piped = piped_programs(all);
        let programs = || executed.iter().copied().chain(piped.iter().copied());
        let own = words.contains(&"-delete");
        let is_writer = |name: &str| !is_reader(name) && !starts_others(name);
        Some(Self {
            roots,
            is_filtered,
            names: names(&words),
            deletes: own || programs().any(|name| DELETES.contains(&name)),
            changes: own || programs().any(is_writer),
        })
    }
}

/// Returns the programs that get the output of `find` as arguments from `xargs` or `parallel`.
fn piped_programs(all: &[SimpleCommand]) -> Vec<&str> {
    let mut programs = Vec::new();
    for (index, command) in all.iter().enumerate() {
        if is_passing(command) && command.fed_by.iter().any(|name| name == "find") {
            // The commands behind it are the ones that it starts.
            let started = all[index + 1..].iter().take_while(|next| next.fed_by == command.fed_by);
            programs.extend(started.map(|command| command.name.as_str()));
        }
    }
    programs
}

/// Returns the patterns for names, if each file that is found must match one of them.
fn names(words: &[&str]) -> Vec<GlobMatcher> {
    // Other tests only reduce the files, but `-o` and `!` may add files.
    if words.iter().any(|word| matches!(*word, "-o" | "-or" | "!" | "-not" | ",")) {
        return Vec::new();
    }
    let glob = |pair: &[&str]| {
        let is_name = matches!(pair[0], "-name" | "-iname");
        let glob = GlobBuilder::new(pair[1]).case_insensitive(pair[0] == "-iname").build().ok();
        if is_name { glob } else { None }
    };
    words.windows(2).filter_map(glob).map(|glob| glob.compile_matcher()).collect()
}
