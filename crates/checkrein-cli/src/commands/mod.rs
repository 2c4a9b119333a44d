//! One file per command.

pub mod completions;
pub mod dialect;
pub mod events;
pub mod get;
pub mod man;
pub mod say;
pub mod schema;
pub mod simulate;

use std::io::{self, Write};

/// Writes an error and what led to it, in one clear form.
pub fn complain(error: &anyhow::Error) -> io::Result<()> {
    writeln!(anstream::stderr(), "checkrein: {error:#}")
}

/// Whether the reader has gone, as `head` does when it has seen enough. That is no problem of ours.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
