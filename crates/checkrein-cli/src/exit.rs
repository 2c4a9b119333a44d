//! What the program ends with. The same everywhere, and documented.

use std::fmt;
use std::process::ExitCode;

use crate::interrupt::Interrupted;

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// One that somebody else has chosen.
    pub const fn code(code: u8) -> Self {
        Self(code)
    }

    /// As shells number it when a signal has ended something.
    pub fn of_signal(signal: i32) -> Self {
        u8::try_from(signal.saturating_add(128)).map_or(FAILURE, Self)
    }
}

/// All went well.
pub const SUCCESS: Exit = Exit(0);
/// Problems were found.
pub const FAILURE: Exit = Exit(1);
/// `run`: what was asked about is denied, or all ends.
pub const DENIED: Exit = Exit(2);
/// `run`: the user is to be asked.
pub const ASK: Exit = Exit(3);
/// `run`: denied because a hook failed.
pub const FAILED_CLOSED: Exit = Exit(4);
/// The program was called in a way that it does not know.
pub const USAGE: Exit = Exit(64);

/// For `--help`.
pub const HELP: &str = "Commands that show something have --json; `checkrein schema` describes what that prints.

Exit codes:
  0        all went well
  1        problems were found, or something could not be done
  2, 3, 4  what a verdict says, see `checkrein run --help`
  64       a wrong call: also names of events and files in it that are not there, and values that are no JSON
  130      interrupted (128 and the number of the signal)";

/// An error of who called, not of what was looked at: the program ends with [`USAGE`].
#[derive(Debug)]
pub struct UsageError(anyhow::Error);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for UsageError {}

/// For errors that only another call mends.
pub trait UsageErrorExt<T> {
    /// Makes the error a [`UsageError`].
    fn usage_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> UsageErrorExt<T> for Result<T, E> {
    fn usage_error(self) -> anyhow::Result<T> {
        self.map_err(|error| UsageError(error.into()).into())
    }
}

/// What the program ends with after this error.
pub fn of_error(error: &anyhow::Error) -> Exit {
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
