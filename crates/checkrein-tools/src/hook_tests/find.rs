//! Search for test files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file;
use checkrein_document::{Format, MAX_SIZE};

/// Directory of a project's test files.
const TESTS: &str = ".checkrein/tests";

/// File name endings of test files in other directories.
const ENDINGS: &[&str] = &[".test.yaml", ".test.yml"];

/// Directories that are not searched.
const SKIPPED: &[&str] = &[".git", "node_modules", "target"];

/// Error for a path without test cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTestsFound {
    /// The path cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Path.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The directory has no test files.
    #[error("no test cases in {}; test files end in .test.yaml, or are .yaml files in a directory `tests`", path.display())]
    Empty {
        /// Path.
        path: PathBuf,
    },
}

/// Finds test files, sorted by path.
///
/// Without paths: all YAML files in `.checkrein/tests` of the nearest directory upwards from `dir` that has it, up to the root
/// of the repository, and files that end in `.test.yaml` next to the hook files. A path to a file is used as it is. A path to a
/// directory yields all files below it that end in `.test.yaml`, and all YAML files in directories named `tests`.
///
/// # Errors
/// A path does not exist or has no test files.
pub fn find(paths: &[PathBuf], dir: &Path, config_files: &[PathBuf]) -> Result<Vec<PathBuf>, NoTestsFound> {
    let mut found = BTreeSet::new();
    if paths.is_empty() {
        for place in places(dir, config_files) {
            let _ = list(&place, place.ends_with(TESTS), &mut found);
        }
        return Ok(found.into_iter().collect());
    }
    for path in paths {
        let unreadable = |error| NoTestsFound::Unreadable { path: path.clone(), error };
        if path.metadata().map_err(unreadable)?.is_dir() {
            let before = found.len();
            below(path, &mut found).map_err(unreadable)?;
            if found.len() == before {
                return Err(NoTestsFound::Empty { path: path.clone() });
            }
        } else {
            found.insert(path.clone());
        }
    }
    Ok(found.into_iter().collect())
}

/// `true` if a file has hooks or packs instead of test cases. Their rules have tests of their own.
pub fn is_hook_file(path: &Path) -> bool {
    let Ok(text) = regular_file::read_text(path, MAX_SIZE as u64) else { return false };
    let Ok(document) = checkrein_document::parse(&text, Format::from_path(path).unwrap_or(Format::Yaml)) else {
        return false;
    };
    let has = |key: &str| document.root.get(key).is_some();
    (has("hooks") || has("packs")) && !has("cases")
}

/// Directories that are searched by default.
pub fn places(dir: &Path, config_files: &[PathBuf]) -> Vec<PathBuf> {
    let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    let upwards = dir.ancestors().take_while(|above| root.map_or(*above == dir, |root| above.starts_with(root)));
    let nearest = upwards.map(|above| above.join(TESTS)).find(|tests| tests.is_dir());
    let mut all: Vec<_> = vec![nearest.unwrap_or_else(|| dir.join(TESTS))];
    for parent in config_files.iter().filter_map(|file| file.parent()) {
        if !all.iter().any(|place| place == parent) {
            all.push(parent.to_owned());
        }
    }
    all
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Adds the test files of one directory. `all_yaml` adds every YAML file.
fn list(dir: &Path, all_yaml: bool, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_test_file = (all_yaml && is_yaml(&name)) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        if is_test_file && entry.path().is_file() {
            found.insert(entry.path());
        }
    }
    Ok(())
}

fn below(dir: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    list(dir, dir.file_name().is_some_and(|name| name == "tests"), found)?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        // Symbolic links are not followed, because they can form a cycle.
        if entry.file_type()?.is_dir() && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
            below(&entry.path(), found)?;
        }
    }
    Ok(())
}
