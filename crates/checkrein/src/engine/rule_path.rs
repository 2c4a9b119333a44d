//! Rules for files: `src/**`, `**/secret/*`, `*.ts`, `/etc/**`, `~/.ssh/**`.
//!
//! A pattern without a slash fits a name anywhere, one with a slash is a path from the agent's directory, and both fit what
//! is below. One that starts with a slash is a path from the root, and is tried from the agent's directory too: agents do not
//! agree what it means.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::builtins::paths::{Patterns, PlacedPatterns, names};
use crate::sync::lock;

pub(super) struct PathRule {
    /// `None`: it cannot be read.
    patterns: Option<Patterns>,
    /// For the directory that was asked for last: agents seldom change it.
    placed: Mutex<Option<(PathBuf, Arc<PlacedPatterns>)>>,
}

impl PathRule {
    pub(super) fn new(pattern: &str) -> Self {
        let pattern = pattern.trim();
        let mut all = vec![pattern.to_owned()];
        if let Some(rest) = pattern.strip_prefix("//") {
            all = vec![format!("/{rest}")];
        } else if let Some(rest) = pattern.strip_prefix('/').filter(|rest| rest.contains('/')) {
            all.push(rest.to_owned());
        }
        // What is left out is not for rules to say.
        let patterns = if pattern.starts_with('!') { None } else { Patterns::read(&all).ok() };
        Self { patterns, placed: Mutex::default() }
    }

    pub(super) fn fits(&self, path: &str, cwd: &Path, home: Option<&str>) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        let placed = {
            let mut placed = lock(&self.placed);
            match &*placed {
                Some((dir, placed)) if dir == cwd => Arc::clone(placed),
                _ => {
                    let new = Arc::new(patterns.at(cwd, home));
                    *placed = Some((cwd.to_owned(), Arc::clone(&new)));
                    new
                }
            }
        };
        names(&cwd.join(path)).iter().any(|path| placed.protecting(path).is_some())
    }
}
