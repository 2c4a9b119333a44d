//! What the program ends with. The same everywhere, and documented.

use std::process::ExitCode;

/// An exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// One that somebody else has chosen.
    pub const fn of(code: u8) -> Self {
        Self(code)
    }

    /// As shells number it when a signal has ended something.
    pub fn of_signal(signal: i32) -> Self {
        u8::try_from(signal.saturating_add(128)).map_or(PROBLEMS, Self)
    }
}

/// All went well.
pub const FINE: Exit = Exit(0);
/// Problems were found.
pub const PROBLEMS: Exit = Exit(1);
/// `run`: what was asked about is denied, or all ends.
pub const DENIED: Exit = Exit(2);
/// `run`: the user is to be asked.
pub const ASK: Exit = Exit(3);
/// `run`: denied because a hook failed.
pub const FAILED_CLOSED: Exit = Exit(4);
/// The program was called in a way that it does not know.
pub const WRONG_CALL: Exit = Exit(64);

/// For `--help`.
pub const HELP: &str = "Commands that show something have --json; `checkrein schema` describes what that prints.

Exit codes:
  0        all went well
  1        problems were found
  2, 3, 4  what a verdict says, see `checkrein run --help`
  64       a wrong call
  130      interrupted (128 and the number of the signal)";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.0.into()
    }
}
