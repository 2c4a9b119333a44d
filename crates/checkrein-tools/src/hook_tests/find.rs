//! Which files have cases.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The directory that holds cases, beside a project's own hooks.
const TESTS: &str = ".checkrein/tests";

/// What files with cases end in, wherever they are.
const ENDINGS: &[&str] = &[".test.yaml", ".test.yml"];

/// Directories in which nobody keeps cases.
const SKIPPED: &[&str] = &[".git", "node_modules", "target"];

/// A path that leads to no cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTestsFound {
    /// It cannot be looked at.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There are none below it.
    #[error("no cases in {}: they are files that end in .test.yaml, or all .yaml files of a directory `tests`", path.display())]
    Empty {
        /// The path.
        path: PathBuf,
    },
}

/// The files with cases, by name.
///
/// With no paths: all YAML files in `.checkrein/tests` of the nearest directory upwards from `dir` that has it, not past
/// the root of the repository, and what ends in `.test.yaml` beside the files with hooks. A path that is a file is taken as
/// it is; of a directory all files below it that end in `.test.yaml`, and all YAML files of directories called `tests`.
///
/// # Errors
/// A path that is not there, or that has none.
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

/// The directories in which cases are looked for if nobody names any.
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

/// The files of one directory.
fn list(dir: &Path, all_yaml: bool, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_one = (all_yaml && is_yaml(&name)) || ENDINGS.iter().any(|ending| name.ends_with(ending));
        if is_one && entry.path().is_file() {
            found.insert(entry.path());
        }
    }
    Ok(())
}

fn below(dir: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    list(dir, dir.file_name().is_some_and(|name| name == "tests"), found)?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        // Links may lead in circles.
        if entry.file_type()?.is_dir() && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
            below(&entry.path(), found)?;
        }
    }
    Ok(())
}
