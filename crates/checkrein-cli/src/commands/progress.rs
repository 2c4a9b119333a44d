//! A line on the terminal that says how far a long command is. Nothing where standard error is no terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line changes: more often nobody can read it.
const PAUSE: Duration = Duration::from_millis(100);

/// The line. It is gone when this is dropped, also when the program is interrupted.
pub struct Progress {
    shown: Option<Instant>,
    on_terminal: bool,
}

impl Progress {
    /// Shows nothing yet.
    pub fn new() -> Self {
        Self { shown: None, on_terminal: io::stderr().is_terminal() }
    }

    /// Shows this text, if there is somebody to see it.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        if self.on_terminal && self.shown.is_none_or(|shown| shown.elapsed() >= PAUSE) {
            self.shown = Some(Instant::now());
            let _ = write!(io::stderr(), "\r\x1b[K{}", text());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
