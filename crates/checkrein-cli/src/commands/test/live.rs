//! Progress line of `checkrein test` on standard error. Prints nothing if that is not a terminal.

use std::io::{IsTerminal, Write};

use checkrein_tools::hook_tests::{CaseReport, HookProbes};

use super::super::printable;

pub(super) struct Line {
    all: usize,
    done: usize,
    failed: usize,
    on_terminal: bool,
}

impl Line {
    pub(super) fn new(all: usize) -> Self {
        let line = Self { all, done: 0, failed: 0, on_terminal: std::io::stderr().is_terminal() };
        line.draw("");
        line
    }

    pub(super) fn done(&mut self, report: &CaseReport) {
        self.count(!report.is_passed(), &report.name);
    }

    pub(super) fn probed(&mut self, probes: &HookProbes) {
        self.count(probes.has_findings(), &probes.id);
    }

    fn count(&mut self, failed: bool, name: &str) {
        self.done += 1;
        self.failed += usize::from(failed);
        self.draw(name);
    }

    fn draw(&self, name: &str) {
        if self.on_terminal {
            let name: String = printable(name).chars().take(40).collect();
            // A closed standard error has no reader.
            let _ =
                write!(std::io::stderr(), "\r\x1b[K{}/{} done, {} failed  {name}", self.done, self.all, self.failed);
            let _ = std::io::stderr().flush();
        }
    }
}

/// Removes the line, also after an error.
impl Drop for Line {
    fn drop(&mut self) {
        if self.on_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
