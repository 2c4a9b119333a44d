//! One line that tells how far it is, on a terminal only.

use std::io::{IsTerminal, Write};

use checkrein_tools::hook_tests::{CaseReport, HookProbes};

use super::super::printable;

pub(super) struct Line {
    all: usize,
    done: usize,
    bad: usize,
    on_terminal: bool,
}

impl Line {
    pub(super) fn new(all: usize) -> Self {
        let line = Self { all, done: 0, bad: 0, on_terminal: std::io::stderr().is_terminal() };
        line.draw("");
        line
    }

    pub(super) fn done(&mut self, report: &CaseReport) {
        self.count(!report.is_passed(), &report.name);
    }

    pub(super) fn probed(&mut self, probes: &HookProbes) {
        self.count(probes.has_findings(), &probes.id);
    }

    fn count(&mut self, bad: bool, name: &str) {
        self.done += 1;
        self.bad += usize::from(bad);
        self.draw(name);
    }

    fn draw(&self, name: &str) {
        if self.on_terminal {
            let name: String = printable(name).chars().take(40).collect();
            // When it is closed there is nobody left to tell.
            let _ = write!(std::io::stderr(), "\r\x1b[K{}/{} done, {} bad  {name}", self.done, self.all, self.bad);
            let _ = std::io::stderr().flush();
        }
    }
}

/// Whoever gives up on the way wants no half line either.
impl Drop for Line {
    fn drop(&mut self) {
        if self.on_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
