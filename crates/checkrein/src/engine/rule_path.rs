//! Permission rules for files: `src/**`, `**/secret/*`, `*.ts`, `/etc/**`, `~/.ssh/**`.
//!
//! A pattern without a slash matches a name in any directory. A pattern with a slash is relative to the agent's working
//! directory. Both also match everything below. A pattern that starts with a slash is tried from the root and from the
//! working directory, because agents disagree about it. A pattern that cannot be parsed matches every file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::builtins::paths::{PathSet as _, Patterns, ResolvedPatterns, names, spellings, with_home};
use crate::sync::lock;

pub(super) struct PathRule {
    /// `None` if the pattern cannot be parsed.
    patterns: Option<Patterns>,
    /// Cache for the last working directory: agents seldom change it.
    placed: Mutex<Option<(PathBuf, Arc<ResolvedPatterns>)>>,
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
        // Rules have no negated patterns.
        let patterns = if pattern.starts_with('!') { None } else { Patterns::parse(&all).ok() };
        Self { patterns, placed: Mutex::default() }
    }

    pub(super) fn fits(&self, path: &str, cwd: &Path, home: Option<&str>) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        let placed = {
            let mut placed = lock(&self.placed);
            match &*placed {
                Some((dir, placed)) if dir == cwd => Arc::clone(placed),
                _ => {
                    let new = Arc::new(patterns.resolve(cwd, home));
                    *placed = Some((cwd.to_owned(), Arc::clone(&new)));
                    new
                }
            }
        };
        spellings(path).iter().any(|path| {
            let path = cwd.join(with_home(path, home));
            names(&path).iter().any(|path| placed.protecting(path).is_some())
        })
    }
}
