//! [`Exit`]: the exit codes of the program.
//!
//! Every command returns one. `docs/exit-codes.md` documents them for users.

use std::fmt;
use std::process::ExitCode;

use crate::interrupt::Interrupted;

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// A code that an agent's protocol defines.
    pub const fn code(code: u8) -> Self {
        Self(code)
    }

    /// The code that shells use after a signal.
    pub fn from_signal(signal: i32) -> Self {
        u8::try_from(signal.saturating_add(128)).map_or(FAILURE, Self)
    }
}

/// The command succeeded.
pub const SUCCESS: Exit = Exit(0);
/// A problem was found, or an operation failed.
pub const FAILURE: Exit = Exit(1);
/// `run`, `try`: the verdict is deny or halt.
pub const DENIED: Exit = Exit(2);
/// `run`, `try`: the verdict is ask or defer.
pub const ASK: Exit = Exit(3);
/// `run`, `try`: the verdict is deny because a hook failed.
pub const FAILED_CLOSED: Exit = Exit(4);
/// An argument is invalid.
pub const USAGE: Exit = Exit(64);

/// End of `checkrein --help`.
pub const HELP: &str = "Exit codes: 0 success, 1 failure, 64 usage error; see `checkrein COMMAND --help`";

/// An error in the arguments. The program exits with [`USAGE`].
#[derive(Debug)]
pub struct UsageError(anyhow::Error);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for UsageError {}

/// Conversion of errors that other arguments would avoid.
pub trait UsageErrorExt<T> {
    /// Makes the error a [`UsageError`].
    fn usage_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> UsageErrorExt<T> for Result<T, E> {
    fn usage_error(self) -> anyhow::Result<T> {
        self.map_err(|error| UsageError(error.into()).into())
    }
}

/// The exit code after an error.
pub fn for_error(error: &anyhow::Error) -> Exit {
    match error.downcast_ref() {
        Some(Interrupted { exit }) => *exit,
        None if error.is::<UsageError>() => USAGE,
        None => FAILURE,
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.0.into()
    }
}
