//! [`Places`]: the directories in which agents keep their session files, and the search for files in them.

use std::ffi::OsString;
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// Maximum number of files and directories that one search visits.
const MAX_VISITED: usize = 200_000;

/// Directories of a user.
#[derive(Debug, Clone, Default)]
pub struct Places {
    home: PathBuf,
    vars: Vec<(String, OsString)>,
}

impl Places {
    /// Places in this home directory, without variables.
    pub fn in_home(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), vars: Vec::new() }
    }

    /// Uses the variables of this process that agents use for their directories.
    #[must_use]
    pub fn with_variables(mut self) -> Self {
        let names = super::FORMATS.iter().flat_map(|format| format.roots.iter().filter_map(|root| root.variable));
        let set = |name: &str| Some((name.to_owned(), std::env::var_os(name).filter(|value| !value.is_empty())?));
        self.vars = names.filter_map(set).collect();
        self
    }

    /// Returns the directory of a root.
    pub(super) fn resolve(&self, root: &Root) -> PathBuf {
        let named = root.variable.and_then(|name| self.vars.iter().find(|(have, _)| have == name));
        match named {
            Some((_, value)) => Path::new(value).join(root.below_variable),
            None => self.home.join(root.below_home),
        }
    }
}

/// A directory of session files.
#[derive(Debug)]
pub struct Root {
    /// Path in the home directory.
    pub(super) below_home: &'static str,
    /// Variable that names another directory.
    pub(super) variable: Option<&'static str>,
    /// Path below the directory that the variable names.
    pub(super) below_variable: &'static str,
    /// Patterns of files. A component can have one `*`.
    pub(super) patterns: &'static [&'static str],
}

/// Result of a search.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<PathBuf>,
    /// Entries that were not visited, with the reason.
    pub(super) problems: Vec<String>,
}

/// Finds the regular files of a pattern. Symbolic links and special files are reported, not followed.
pub(super) fn find(root: &Path, pattern: &str) -> Found {
    let mut found = Found::default();
    let mut visited = 0;
    let components: Vec<_> = pattern.split('/').collect();
    visit(root, &components, &mut found, &mut visited);
    found.files.sort();
    found
}

fn visit(dir: &Path, components: &[&str], found: &mut Found, visited: &mut usize) {
    let Some((first, rest)) = components.split_first() else { return };
    for (path, kind) in entries(dir, first, found) {
        *visited += 1;
        if *visited > MAX_VISITED {
            found.problems.push(format!("{}: more than {MAX_VISITED} files; the rest is not read", dir.display()));
            return;
        }
        // A link to a directory may hide sessions. Other odd files do so only in the place of a session file.
        let is_odd = match rest.is_empty() {
            true => !(kind.is_file() || kind.is_dir()),
            false => kind.is_symlink() && path.is_dir(),
        };
        if is_odd {
            found.problems.push(format!("{}: not a regular file or directory, so not read", path.display()));
        } else if rest.is_empty() && kind.is_file() {
            found.files.push(path);
        } else if !rest.is_empty() && kind.is_dir() {
            visit(&path, rest, found, visited);
        }
    }
}

/// Lists the entries of a directory that fit a component of a pattern.
fn entries(dir: &Path, component: &str, found: &mut Found) -> Vec<(PathBuf, FileType)> {
    if !component.contains('*') {
        let path = dir.join(component);
        return path.symlink_metadata().map(|metadata| vec![(path, metadata.file_type())]).unwrap_or_default();
    }
    let list = match std::fs::read_dir(dir) {
        Ok(list) => list,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            found.problems.push(format!("{}: {error}", dir.display()));
            return Vec::new();
        }
    };
    let fitting = list.flatten().filter(|entry| fits(component, &entry.file_name().to_string_lossy()));
    let mut fitting: Vec<_> = fitting.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?))).collect();
    fitting.sort_by(|a, b| a.0.cmp(&b.0));
    fitting
}

/// Returns `true` if a name fits a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_special_files_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("p/a")).unwrap();
        std::fs::create_dir_all(path("elsewhere")).unwrap();
        for file in ["p/a/one.jsonl", "p/a/two.txt", "elsewhere/three.jsonl"] {
            std::fs::write(path(file), "").unwrap();
        }
        std::os::unix::fs::symlink(path("elsewhere"), path("p/b")).unwrap();
        std::os::unix::fs::symlink(path("elsewhere/three.jsonl"), path("p/a/three.jsonl")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("p/a/four.jsonl"), rustix::fs::Mode::RWXU).unwrap();
        let found = find(dir.path(), "p/*/*.jsonl");
        assert_eq!(found.files, [path("p/a/one.jsonl")]);
        assert_eq!(found.problems.len(), 3, "{:?}", found.problems);
        assert!(find(dir.path(), "missing/*/*.jsonl").files.is_empty());
    }
}
