//! The simple commands that a shell text would run, in order.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::ParseError;
use super::expanded::Expanded;
use super::interpreter::Interpreter;

/// Environment in which a text would run.
#[derive(Debug, Clone, Copy)]
pub struct ShellEnv<'a> {
    pub home: Option<&'a str>,
    pub cwd: &'a Path,
}

/// One program with its arguments.
#[derive(Debug, Clone, Default)]
pub struct SimpleCommand {
    /// The word that names the program.
    pub program: Expanded,
    /// Name of the program without its directory. Empty for redirections without a program.
    pub name: String,
    pub args: Vec<Expanded>,
    /// Files that the shell opens for writing.
    pub writes: Vec<Expanded>,
    /// Files of `writes` to which the shell appends.
    pub appends: Vec<Expanded>,
    /// Files that the shell opens for reading.
    pub reads: Vec<Expanded>,
    /// Programs whose output is the standard input.
    pub fed_by: Vec<String>,
    /// Programs that get its output, through one or more pipes.
    pub pipes_to: Vec<String>,
    /// Programs that start it, outermost first: `sudo`, `xargs`, `sh`.
    pub wrappers: Vec<Arc<str>>,
    /// Variables that the text sets for it, by name.
    pub env: Vec<(String, Expanded)>,
    /// Text of the standard input, if known.
    pub input: Option<String>,
    /// `true` if a function calls itself, in the background or in a pipe.
    pub multiplies: bool,
    /// Possible working directories.
    pub cwds: Arc<[PathBuf]>,
    /// `false` if the command may also run in a directory that only a running shell knows.
    pub cwd_known: bool,
}

impl SimpleCommand {
    /// `true` if the program that runs is known: its word has no unknown text, no wildcard, and is one word.
    pub fn program_known(&self) -> bool {
        let program = &self.program;
        self.name.is_empty() && program.text.is_empty() && program.unknown.is_empty()
            || program.known && !program.glob && !program.may_split && !program.cut
    }

    /// Returns the arguments that are not options. All arguments behind `--` are operands.
    pub fn operands(&self) -> impl Iterator<Item = &Expanded> {
        let end = self.args.iter().position(|arg| arg.text == "--").unwrap_or(self.args.len());
        self.args
            .iter()
            .enumerate()
            .filter(move |(index, arg)| {
                *index > end || (*index < end && (!arg.text.starts_with('-') || arg.text == "-"))
            })
            .map(|(_, arg)| arg)
    }

    /// `true` if the command has one of these options: single letters, also combined, or long names.
    pub fn has_option(&self, letters: &str, long: &[&str]) -> bool {
        self.args.iter().take_while(|arg| arg.text != "--").any(|arg| match arg.text.strip_prefix('-') {
            Some(name) if name.starts_with('-') => {
                let name = name[1..].split('=').next().unwrap_or_default();
                long.contains(&name)
            }
            Some(name) => name.contains(|c| letters.contains(c)),
            None => false,
        })
    }
}

/// Returns the simple commands that a text would run.
pub fn simple_commands(text: &str, env: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::new(env);
    interpreter.text(text)?;
    Ok(interpreter.commands)
}

/// Returns the simple commands that the text of a tool call would run in one of these directories.
pub(crate) fn commands_of_text(
    text: &str,
    home: Option<&str>,
    cwds: Vec<PathBuf>,
) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::in_one_of(home, cwds)?;
    interpreter.text(text)?;
    Ok(interpreter.commands)
}

/// Returns the simple commands that a program of a tool call would run in one of these directories.
pub(crate) fn commands_of_argv(
    argv: &[String],
    home: Option<&str>,
    cwds: Vec<PathBuf>,
) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::in_one_of(home, cwds)?;
    interpreter.argv(&literals(argv))?;
    Ok(interpreter.commands)
}

/// Returns the work that reading a text takes, whether it can be read or not.
#[doc(hidden)]
pub fn work_of(text: &str, env: ShellEnv<'_>) -> usize {
    let mut interpreter = Interpreter::new(env);
    let _ = interpreter.text(text);
    interpreter.work.spent()
}

/// Returns the simple commands that a text would run with these variables, and the names of the variables that it sets.
pub fn simple_commands_with(
    text: &str,
    env: ShellEnv<'_>,
    vars: &[(String, String)],
) -> Result<(Vec<SimpleCommand>, HashSet<String>), ParseError> {
    let mut interpreter = Interpreter::new(env);
    interpreter.inherit(vars)?;
    interpreter.text(text)?;
    Ok((interpreter.commands, interpreter.assigned))
}

/// Returns the simple commands that a program with its arguments would run.
pub fn simple_commands_of_argv(argv: &[String], env: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::new(env);
    interpreter.argv(&literals(argv))?;
    Ok(interpreter.commands)
}

/// Returns words with their positions in the list.
fn literals(argv: &[String]) -> Vec<Expanded> {
    let words = (0..).zip(argv);
    words.map(|(index, word)| Expanded { span: Some((index, index + 1)), ..Expanded::literal(word) }).collect()
}

/// Returns the program's name without its directory and without `.exe`.
pub(super) fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Removes `.` and `..` from a path without reading the disk.
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}
