//! One file per command.

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
pub mod list;
pub mod man;
pub mod progress;
pub mod record;
pub mod replay;
pub mod run;
pub mod say;
pub mod schema;
pub mod simulate;
pub mod status;
pub mod test;
pub mod trust;

use std::fmt;
use std::io::{self, Write};

use crate::exit::Exit;

/// What texts of several lines may have in them.
const LINES: &[char] = &['\n', '\t'];

/// Writes an error and what led to it, in one clear form.
pub fn print_error(error: &anyhow::Error) -> io::Result<()> {
    writeln!(anstream::stderr(), "checkrein: {}", sanitize(&format!("{error:#}"), LINES))
}

/// Tells something beside the result, on standard error. When that is closed there is nobody left to tell.
pub fn print_note(text: &str) {
    let _ = writeln!(anstream::stderr(), "checkrein: {}", sanitize(text, LINES));
}

/// Text without what would move a terminal's cursor or change its colours: names, matchers and words of hooks are foreign.
pub fn printable(text: &str) -> String {
    sanitize(text, &['\t'])
}

/// Whether a character does something to a terminal, or to the order in which others are shown.
pub fn is_terminal_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn sanitize(text: &str, kept: &[char]) -> String {
    text.chars()
        .map(|c| if is_terminal_control(c) && !kept.contains(&c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// So many of them: `1 hook`, `2 hooks`.
pub fn pluralize(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The reader has gone before all was shown. What the program ends with is what it found out, whoever reads it.
#[derive(Debug, Clone, Copy)]
pub struct BrokenPipe(pub Exit);

impl fmt::Display for BrokenPipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads this any more")
    }
}

impl std::error::Error for BrokenPipe {}

/// What to end with when all is shown, or as much as somebody wanted to see.
pub fn finish_output(exit: Exit, showing: anyhow::Result<()>) -> anyhow::Result<Exit> {
    match showing {
        Ok(()) => Ok(exit),
        Err(error) if is_closed_pipe(&error) => Err(BrokenPipe(exit).into()),
        Err(error) => Err(error),
    }
}

/// Whether the reader has gone, as `head` does when it has seen enough. That is no problem of ours.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.is::<BrokenPipe>()
        || error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
