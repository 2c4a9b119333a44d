//! A progress line of long commands. It is shown only if standard error is a terminal, and not after `-q`.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Minimum time between two changes of the line, so that it stays readable.
const PAUSE: Duration = Duration::from_millis(100);

/// The line. Dropping it erases the line, also if the program is interrupted.
pub struct Progress {
    shown: Option<Instant>,
    is_visible: bool,
}

impl Progress {
    /// A line that is still empty.
    pub fn new() -> Self {
        Self { shown: None, is_visible: io::stderr().is_terminal() && !super::is_quiet() }
    }

    /// Shows a text, unless the last change is too recent.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        if self.is_visible && self.shown.is_none_or(|shown| shown.elapsed() >= PAUSE) {
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
