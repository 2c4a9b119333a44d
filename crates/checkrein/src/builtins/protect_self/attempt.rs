//! Tool calls with which an agent may answer the questions of its own hooks.
//!
//! `checkrein hook` reads every tool call with it, with and without hooks. It never starts anything, and it only reads
//! directories and links.

use std::path::{Path, PathBuf};

use checkrein_core::Event;

use super::control;
use super::references::MAX_PATHS;
use crate::builtins::commands::{ParsedCommands, parse_commands};
use crate::builtins::find_command::Find;
use crate::builtins::json_strings::strings;
use crate::builtins::options::Options;
use crate::builtins::paths::{expanded, names, spellings, with_home};
use crate::builtins::shell::{Expanded, SimpleCommand, pieces};

/// Programs that move, remove, copy or link a whole directory. The last operand of the others is their destination.
const OF_DIRECTORIES: &[&str] = &["cp", "ln", "mv", "rimraf", "rm", "rsync", "scp", "srm", "trash"];

/// Those of [`OF_DIRECTORIES`] without a destination.
const REMOVERS: &[&str] = &["rimraf", "rm", "srm", "trash"];

/// A tool call, read for attempts of the agent to answer its own questions.
#[derive(Debug)]
pub struct Attempt<'a> {
    event: &'a Event,
    parsed: ParsedCommands,
    cwd: &'a Path,
    home: Option<&'a str>,
}

impl<'a> Attempt<'a> {
    /// Reads the shell commands of a call.
    pub fn new(event: &'a Event, cwd: &'a Path, home: Option<&'a str>) -> Self {
        Self { event, parsed: parse_commands(event, home, cwd), cwd, home }
    }

    /// `true` if the call shows that it runs `checkrein approve` or a similar command, which only the user may run.
    pub fn answers_questions(&self) -> bool {
        control::answers_questions(&self.parsed)
    }

    /// Words of the commands as the shell passes them on, one per line.
    pub fn words(&self) -> String {
        let mut all = String::new();
        for command in &self.parsed.simple_commands {
            let own = std::iter::once(&command.program).chain(&command.args).map(|word| word.text.as_str());
            for word in own.chain(command.input.as_deref()) {
                all.push_str(word);
                all.push('\n');
            }
        }
        all
    }

    /// `true` if the call names one of these directories or a file in one, in any spelling of its path, runs in one, or moves,
    /// removes, copies or links a directory that contains one.
    pub fn names_files(&self, directories: &[PathBuf]) -> bool {
        let existing = directories.iter().filter(|directory| directory.symlink_metadata().is_ok());
        let guarded = Guarded(existing.flat_map(|directory| names(directory)).collect());
        !guarded.0.is_empty() && (self.commands_name(&guarded) || self.input_names(&guarded))
    }

    fn commands_name(&self, guarded: &Guarded) -> bool {
        let commands = &self.parsed.simple_commands;
        let mut paths = 0;
        commands.iter().any(|command| {
            let words = || std::iter::once(&command.program).chain(&command.args);
            command.cwds.iter().any(|cwd| guarded.contain(cwd))
                || words().chain(&command.reads).chain(&command.writes).any(|word| {
                    paths += 1;
                    paths <= MAX_PATHS && self.word_names(word, command, guarded)
                })
                || self.takes_whole(command, guarded)
                || self.finds(command, guarded)
        })
    }

    /// `true` if a word, or a part of it such as the value of an option, is a path in a guarded directory.
    fn word_names(&self, word: &Expanded, command: &SimpleCommand, guarded: &Guarded) -> bool {
        let parts = pieces(&word.text).filter(|piece| *piece != word.text).map(|piece| Expanded {
            text: with_home(piece, self.home),
            known: true,
            glob: word.glob,
            ..Expanded::default()
        });
        std::iter::once(word.clone())
            .chain(parts)
            .any(|path| self.files(&path, command).iter().any(|file| guarded.contain(file)))
    }

    /// Files that a word may denote. The reader of commands does not follow wildcards of `cd`.
    fn files(&self, word: &Expanded, command: &SimpleCommand) -> Vec<PathBuf> {
        let entered = self.parsed.simple_commands.iter().filter(|other| matches!(other.name.as_str(), "cd" | "pushd"));
        let targets =
            entered.flat_map(|other| other.operands().filter(|target| target.glob).map(move |target| (other, target)));
        let cwds = targets.flat_map(|(other, target)| other.cwds.iter().flat_map(|cwd| expanded(target, cwd)));
        command.cwds.iter().cloned().chain(cwds).flat_map(|cwd| expanded(word, &cwd)).collect()
    }

    /// `true` if a command moves, removes, copies or links a directory that contains a guarded one.
    fn takes_whole(&self, command: &SimpleCommand, guarded: &Guarded) -> bool {
        let name = command.name.as_str();
        if !OF_DIRECTORIES.contains(&name) {
            return false;
        }
        let options = Options::new(command);
        let targets = options.values("t", &["target-directory"]);
        let is_target =
            |operand: &Expanded| !REMOVERS.contains(&name) && targets.iter().any(|to| to.text == operand.text);
        let mut taken: Vec<_> = options.operands().filter(|operand| !is_target(operand)).collect();
        if !REMOVERS.contains(&name) && targets.is_empty() && taken.len() > 1 {
            taken.pop();
        }
        taken.into_iter().any(|operand| self.files(operand, command).iter().any(|file| guarded.are_below(file)))
    }

    /// `true` if `find` changes files of a guarded directory below one of its own.
    fn finds(&self, command: &SimpleCommand, guarded: &Guarded) -> bool {
        let Some(find) = Find::new(command, &self.parsed.simple_commands).filter(|find| find.changes) else {
            return false;
        };
        let is_found = |name: &str| find.names.is_empty() || find.names.iter().any(|glob| glob.is_match(name));
        find.roots.iter().any(|root| self.files(root, command).iter().any(|file| guarded.are_below(file)))
            && guarded.file_names().any(|name| is_found(&name))
    }

    /// `true` if a text of the input is a path in a guarded directory. Applies to tools that are no shell.
    fn input_names(&self, guarded: &Guarded) -> bool {
        if !self.parsed.texts.is_empty() {
            return false;
        }
        let Some(input) = self.event.tool_input() else { return false };
        let is_path = |text: &str| !text.contains('\n') && text.len() <= LONGEST_PATH;
        let all = strings(input);
        let texts = all.iter().map(|string| &*string.text.decoded).filter(|text| is_path(text)).take(MAX_PATHS);
        texts.flat_map(spellings).any(|path| guarded.contain(&self.cwd.join(with_home(&path, self.home))))
    }
}

/// Maximum length of a path on Linux.
const LONGEST_PATH: usize = 4096;

/// Names of directories that exist.
struct Guarded(Vec<PathBuf>);

impl Guarded {
    /// `true` if a path is one of the directories, or in one. Links of paths that exist are resolved.
    fn contain(&self, path: &Path) -> bool {
        let is_in = |path: &PathBuf| self.0.iter().any(|own| path.starts_with(own));
        names(path).iter().any(is_in)
    }

    /// `true` if one of the directories is this one, or below it.
    fn are_below(&self, path: &Path) -> bool {
        names(path).iter().any(|path| self.0.iter().any(|own| own.starts_with(path)))
    }

    /// Names of the directories and of the files in them.
    fn file_names(&self) -> impl Iterator<Item = String> {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let entries = |directory: &PathBuf| std::fs::read_dir(directory).into_iter().flatten().flatten();
        let below = self.0.iter().flat_map(entries).filter_map(move |entry| name(&entry.path()));
        self.0.iter().filter_map(move |directory| name(directory)).chain(below)
    }
}
