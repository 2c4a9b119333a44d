//! Paths and patterns for them.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::shell::{Expanded, lexical};
use crate::real_path::{real_ancestor, real_path};

/// One pattern, as it is given.
#[derive(Debug, Clone)]
struct Pattern {
    given: String,
    /// Without the `!`.
    text: String,
    exception: bool,
}

/// Patterns for paths. The last one that fits counts, as in `.gitignore`.
#[derive(Debug, Clone)]
pub(crate) struct Patterns(Vec<Pattern>);

impl Patterns {
    pub(crate) fn read(given: &[String]) -> Result<Self, String> {
        let read = |given: &String| {
            let text = given.strip_prefix('!').unwrap_or(given);
            if text.trim().is_empty() {
                return Err("has an empty pattern; write one or remove it".to_owned());
            }
            let pattern = Pattern { given: given.clone(), text: text.to_owned(), exception: given.starts_with('!') };
            // The place that it is for does not matter for whether it can be read.
            glob(text).map(|_| pattern)
        };
        given.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The patterns for one directory.
    pub(crate) fn at(&self, cwd: &Path, home: Option<&str>) -> PlacedPatterns {
        // A directory that is reached through a link has two names, and files may be called by either.
        let mut cwds = vec![lexical(cwd)];
        cwds.extend(real_path(cwd).ok().filter(|real| *real != cwds[0]));
        let placed = self.0.iter().map(|pattern| (pattern.clone(), placed(&pattern.text, &cwds, home)));
        PlacedPatterns(placed.collect())
    }
}

fn glob(text: &str) -> Result<Glob, String> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("has a pattern that cannot be read, `{text}`: {}", error.kind()))
}

/// A pattern without a slash fits a name anywhere; one with a slash is a path from the directory. Both fit what is below.
fn placed(text: &str, cwds: &[PathBuf], home: Option<&str>) -> Vec<GlobMatcher> {
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    let bases: Vec<String> = if let (Some(rest), Some(home)) = (text.strip_prefix("~/"), home) {
        vec![format!("{}/{rest}", globset::escape(home))]
    } else if Path::new(text).is_absolute() {
        vec![text.to_owned()]
    } else if text.contains('/') {
        let escaped = |cwd: &PathBuf| globset::escape(cwd.to_string_lossy().trim_end_matches('/'));
        cwds.iter().map(|cwd| format!("{}/{text}", escaped(cwd))).collect()
    } else {
        vec![format!("**/{text}")]
    };
    let all = bases.iter().flat_map(|base| [base.clone(), format!("{base}/**")]);
    all.filter_map(|text| glob(&text).ok()).map(|glob| glob.compile_matcher()).collect()
}

/// Patterns that know where they are.
#[derive(Debug)]
pub(crate) struct PlacedPatterns(Vec<(Pattern, Vec<GlobMatcher>)>);

impl PlacedPatterns {
    /// The pattern that protects this absolute path, if one does.
    pub(crate) fn protecting(&self, path: &Path) -> Option<&str> {
        let (pattern, _) = self.0.iter().rev().find(|(_, globs)| globs.iter().any(|glob| glob.is_match(path)))?;
        (!pattern.exception).then_some(&pattern.given)
    }

    /// As [`protecting`](Self::protecting), for anything below a directory that exists.
    pub(crate) fn protecting_below(&self, directory: &Path) -> Option<(PathBuf, &str)> {
        // A tree may be huge, and somebody waits.
        const LOOKED_AT: usize = 5000;
        let mut waiting = vec![directory.to_owned()];
        let mut looked_at = 0;
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                looked_at += 1;
                if looked_at > LOOKED_AT {
                    return None;
                }
                let path = entry.path();
                if let Some(pattern) = self.protecting(&path) {
                    return Some((path, pattern));
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push(path);
                }
            }
        }
        None
    }
}

/// The names that a path has: as it is written, without `.` and `..`, and where links lead.
pub(crate) fn names(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![lexical(path)];
    for real in [real(path), real(&names[0])].into_iter().flatten() {
        if !names.contains(&real) {
            names.push(real);
        }
    }
    names
}

/// Where links lead, for as much of the path as exists.
fn real(path: &Path) -> Option<PathBuf> {
    real_ancestor(path).map(|(found, rest)| lexical(&found.join(rest)))
}

/// The files that a word stands for: itself, or what its wildcards fit.
pub(crate) fn expanded(value: &Expanded, cwd: &Path) -> Vec<PathBuf> {
    let whole = cwd.join(&value.text);
    if !value.glob {
        return vec![whole];
    }
    // As many as a command line usually holds.
    const FOUND: usize = 2000;
    let mut found = vec![PathBuf::new()];
    for component in whole.components() {
        let text = component.as_os_str().to_string_lossy();
        let pattern = text.contains(['*', '?', '[']).then(|| glob(&text).ok()).flatten();
        let Some(pattern) = pattern.map(|glob| glob.compile_matcher()) else {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        };
        let fits = |name: &str| pattern.is_match(name) && (!name.starts_with('.') || text.starts_with('.'));
        found = found
            .iter()
            .flat_map(|directory| std::fs::read_dir(directory).into_iter().flatten().flatten())
            .filter(|entry| fits(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .take(FOUND)
            .collect();
    }
    // A shell leaves the word as it is if nothing fits.
    if found.is_empty() { vec![whole] } else { found }
}
