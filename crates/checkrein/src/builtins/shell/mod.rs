//! Shell commands, read well enough to judge them.
//!
//! `parse` reads the grammar of bash into commands and words. `steps` walks through them as a shell would and returns
//! the programs that would run: it follows variables that the text itself sets, `cd`, programs that start others (`sudo`,
//! `env`, `xargs`, `find -exec`), and texts that are run as scripts (`sh -c`, `eval`, here-documents, `echo … | sh`). What
//! only a running shell can know stays unknown: variables from outside, the output of programs, aliases, and what scripts
//! and other languages do.
//!
//! A text that cannot be read for certain is [`Unreadable`], never a shorter list of programs: guards ask about it.

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

/// The reason why a text cannot be read as a shell would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(pub(crate) &'static str);
