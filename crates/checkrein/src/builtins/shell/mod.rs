//! Parser and interpreter for shell commands. Guards, permission rules and the trust check use it.
//!
//! `parse` parses the grammar of bash into commands, words and marks. `interpreter` follows them without running anything
//! and returns the programs that would run. It follows variables that the text itself sets, `cd`, functions, programs that
//! start others (`sudo`, `env`, `xargs`, `find -exec`), and nested scripts (`sh -c`, `eval`, here-documents, `echo … | sh`,
//! `source <(…)`, `git -c alias.x='!…'`). It does not follow scripts in files, and other languages.
//!
//! Some things are known only to a running shell: variables from outside, the output of programs, and the effects of scripts
//! and other languages. They are marked as unknown, never left out: see [`Expanded::unknown`],
//! [`SimpleCommand::program_known`] and [`SimpleCommand::cwd_known`]. After an assignment that may or may not run, a variable
//! has both values.
//!
//! A text that cannot be parsed for certain is a [`ParseError`], never a shorter list of programs: guards ask about it.

mod braces;
mod commands;
mod expand;
mod expanded;
mod interpreter;
mod parse;
mod quote;
mod read_only;
mod state;
mod testing;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod word;
mod work;
mod wrappers;

pub use commands::{
    ShellEnv, SimpleCommand, lexical, simple_commands, simple_commands_of_argv, simple_commands_with, work_of,
};
pub(crate) use commands::{commands_of_argv, commands_of_text};
pub use expanded::Expanded;
pub(crate) use quote::{quoted, quoted_words};
pub(crate) use read_only::{is_reader, pieces};
pub use testing::exercise_shell;
pub(crate) use wrappers::starts_others;

/// Reason why a text cannot be parsed: a clause such as `a quote is not closed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(pub(crate) &'static str);
