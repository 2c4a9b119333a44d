//! The commands, one file or folder each, and the functions that they share for output.
//!
//! Notes and errors go to standard error, results to standard output. Text from hooks and files must pass [`printable`] or
//! [`print_note`] before it reaches a terminal.

pub mod audit;
pub mod bench;
pub mod check;
pub mod colours;
pub mod completions;
pub mod config;
pub mod convert;
pub mod dialect;
pub mod event;
pub mod events;
pub mod explain;
pub mod get;
pub mod hook;
pub mod init;
pub mod install;
mod layout;
pub mod list;
pub mod man;
mod paths;
pub mod progress;
pub mod record;
pub mod replay;
pub mod run;
pub mod say;
pub mod schema;
pub mod simulate;
pub mod status;
pub mod terminal;
pub mod test;
pub mod trust;

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

pub use self::paths::{display_path, display_source, shorten_paths};
use crate::exit::Exit;

/// Control characters that texts of several lines may contain.
const LINES: &[char] = &['\n', '\t'];

/// Amount of text that `-q` and `-v` select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets the verbosity for the rest of the process. Only the first call has an effect.
pub fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or(Verbosity::Normal)
}

/// `true` after `-q`: print no notes and no progress.
pub fn is_quiet() -> bool {
    verbosity() == Verbosity::Quiet
}

/// `true` after `-v`: print all details.
pub fn is_verbose() -> bool {
    verbosity() == Verbosity::Verbose
}

/// Prints an error with its causes on standard error.
pub fn print_error(error: &anyhow::Error) -> io::Result<()> {
    write_message(&format!("{error:#}"))
}

/// Prints the reason for a failure on standard error, also after `-q`.
pub fn print_failure(text: &str) {
    // A closed standard error has no reader.
    let _ = write_message(text);
}

/// Prints a note beside the result on standard error, unless `-q` was given.
pub fn print_note(text: &str) {
    if !is_quiet() {
        print_failure(text);
    }
}

/// Only the first line is shortened: the others may be lines of a file with a mark below them.
fn write_message(text: &str) -> io::Result<()> {
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    writeln!(anstream::stderr(), "checkrein: {}", sanitize(&(shorten_paths(first) + rest), LINES))
}

/// Replaces characters that would move a terminal's cursor or change its colours. Ids, matchers and output of hooks are
/// foreign text.
pub fn printable(text: &str) -> String {
    sanitize(text, &['\t'])
}

/// Returns `true` if a character controls a terminal, or the order in which others are shown.
pub fn is_terminal_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn sanitize(text: &str, kept: &[char]) -> String {
    text.chars()
        .map(|c| if is_terminal_control(c) && !kept.contains(&c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// A count with its noun: `1 hook`, `2 hooks`.
pub fn pluralize(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The reader closed the pipe before the end of the output. The exit code stays that of the result.
#[derive(Debug, Clone, Copy)]
pub struct BrokenPipe(pub Exit);

impl fmt::Display for BrokenPipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reader of the output closed the pipe")
    }
}

impl std::error::Error for BrokenPipe {}

/// The exit code after the output, also if the reader closed the pipe.
pub fn finish_output(exit: Exit, showing: anyhow::Result<()>) -> anyhow::Result<Exit> {
    match showing {
        Ok(()) => Ok(exit),
        Err(error) if is_closed_pipe(&error) => Err(BrokenPipe(exit).into()),
        Err(error) => Err(error),
    }
}

/// Returns `true` if the reader closed the pipe, as `head` does. That is not an error.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.is::<BrokenPipe>()
        || error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
