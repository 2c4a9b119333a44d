//! The commands, one file or folder each, and the functions that they share for output.
//!
//! Notes and errors go to standard error, results to standard output. Text from hooks and files must pass [`printable`] or
//! [`print_note`] before it reaches a terminal.

pub mod approvals;
pub mod ask;
pub mod audit;
pub mod bench;
pub mod check;
pub mod colours;
pub mod completions;
pub mod config;
pub mod convert;
pub mod coverage;
pub mod dialect;
pub mod doctor;
pub mod event;
pub mod events;
pub mod explain;
pub mod facts;
pub mod get;
pub mod hook;
pub mod init;
pub mod install;
mod layout;
pub mod list;
pub mod live;
pub mod log;
pub mod man;
mod output_file;
pub mod packs;
mod pager;
mod paths;
pub mod progress;
pub mod record;
pub mod replay;
pub mod run;
pub mod say;
pub mod schema;
pub mod selection;
pub mod serve;
pub mod simulate;
pub mod status;
pub mod terminal;
pub mod test;
pub mod trust;
pub mod try_call;
mod visible;

use std::fmt;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context as _;
use checkrein::internal::regular_file;

pub use self::paths::{display_path, display_source, shorten_paths};
use self::visible::{LINES, printable};
use crate::exit::Exit;

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

/// Maximum size of a file that an argument names, in bytes.
const MAX_ARGUMENT_FILE: u64 = 256 * 1024 * 1024;

/// Reads the text of a file that an argument names.
fn read_text(path: &Path) -> anyhow::Result<String> {
    let read = || -> io::Result<String> {
        let mut text = String::new();
        let file = regular_file::open_argument(path)?;
        if file.take(MAX_ARGUMENT_FILE + 1).read_to_string(&mut text)? as u64 > MAX_ARGUMENT_FILE {
            return Err(regular_file::ReadError::TooLarge { size: None, limit: MAX_ARGUMENT_FILE }.into());
        }
        Ok(text)
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// Prints an error with its causes on standard error. Some errors contain the text of their cause, which is not repeated.
pub fn print_error(error: &anyhow::Error) -> io::Result<()> {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    write_message(&text)
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
    writeln!(anstream::stderr(), "checkrein: {}", visible::visible(&(shorten_paths(first) + rest), LINES))
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
