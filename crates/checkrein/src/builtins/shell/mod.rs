//! Parser and interpreter for shell commands. Guards, permission rules and the trust check use it.
//!
//! `parse` parses the grammar of bash into commands and words. `commands` interprets them and returns the programs that
//! would run. It follows variables that the text itself sets, `cd`, programs that start others (`sudo`, `env`, `xargs`,
//! `find -exec`), and nested scripts (`sh -c`, `eval`, here-documents, `echo … | sh`). Some things are known only to a
//! running shell: variables from outside, the output of programs, aliases, and the effects of scripts and other languages.
//!
//! A text that cannot be parsed for certain is a [`ParseError`], never a shorter list of programs: guards ask about it.

mod commands;
mod parse;
mod read_only;
mod testing;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod word;
mod wrappers;

pub use commands::{ShellEnv, SimpleCommand, lexical, simple_commands, simple_commands_of_argv, simple_commands_with};
pub(crate) use read_only::{is_reader, pieces};
pub use testing::exercise_shell;
pub use word::Expanded;
pub(crate) use wrappers::starts_others;

/// Reason why a text cannot be parsed: a clause such as `a quote is not closed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(pub(crate) &'static str);
