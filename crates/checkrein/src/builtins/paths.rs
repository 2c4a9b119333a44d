//! Path patterns of `protect_paths`, and the names under which a file can be reached.
//!
//! [`names`] and [`expanded`] also serve `protect_self`. A path has several names if it contains links or wildcards;
//! callers must check all of them.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::doubt::Line;
use super::shell::{Expanded, lexical};
use crate::real_path::{real_ancestor, real_path};

/// One pattern of the arguments.
#[derive(Debug, Clone)]
struct Pattern {
    argument: String,
    /// The argument without `!`.
    text: String,
    exception: bool,
}

/// Patterns for paths. The last one that matches applies, as in `.gitignore`.
#[derive(Debug, Clone)]
pub(crate) struct Patterns(Vec<Pattern>);

impl Patterns {
    pub(crate) fn parse(args: &[String]) -> Result<Self, String> {
        let parse = |arg: &String| {
            let text = arg.strip_prefix('!').unwrap_or(arg);
            if text.trim().is_empty() {
                return Err("has an empty pattern; remove it".to_owned());
            }
            let pattern = Pattern { argument: arg.clone(), text: text.to_owned(), exception: arg.starts_with('!') };
            // The syntax does not depend on the directory.
            glob(text).map(|_| pattern)
        };
        args.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Resolves the patterns for a working directory.
    pub(crate) fn resolve(&self, cwd: &Path, home: Option<&str>) -> ResolvedPatterns {
        // A directory behind a link has two names, and tool calls may use either.
        let mut cwds = vec![lexical(cwd)];
        cwds.extend(real_path(cwd).ok().filter(|real| *real != cwds[0]));
        let resolved = self.0.iter().map(|pattern| (pattern.clone(), matchers(&pattern.text, &cwds, home)));
        ResolvedPatterns(resolved.collect())
    }
}

/// Returns the last component of a pattern that is not only a wildcard. All its wildcards are `*`.
fn last_name(pattern: &str) -> Option<String> {
    let is_open = |component: &&str| component.chars().all(|c| matches!(c, '*' | '~' | '.'));
    let name = pattern.rsplit('/').find(|component| !is_open(component))?;
    let mut plain = String::new();
    let mut closing = None;
    for c in name.chars() {
        match (c, closing) {
            (c, Some(end)) if c == end => closing = None,
            (_, Some(_)) => {}
            ('?' | '*', None) => plain.push('*'),
            ('[', None) => (closing, _) = (Some(']'), plain.push('*')),
            ('{', None) => (closing, _) = (Some('}'), plain.push('*')),
            (c, None) => plain.push(c),
        }
    }
    Some(plain)
}

fn glob(text: &str) -> Result<Glob, String> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("has an invalid pattern, `{text}`: {}", error.kind()))
}

/// Compiles a pattern. Without a slash it matches a name in any directory; with a slash it is a path from the working
/// directory. Both also match everything below.
fn matchers(text: &str, cwds: &[PathBuf], home: Option<&str>) -> Vec<GlobMatcher> {
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

/// Patterns for one working directory.
#[derive(Debug)]
pub(crate) struct ResolvedPatterns(Vec<(Pattern, Vec<GlobMatcher>)>);

impl ResolvedPatterns {
    /// `true` if a path component with unknown parts could be one that a pattern names.
    pub(crate) fn protecting_name(&self, component: &Expanded) -> bool {
        let line = Line::new(component, []);
        let patterns = self.0.iter().filter(|(pattern, _)| !pattern.exception);
        patterns.filter_map(|(pattern, _)| last_name(&pattern.text)).any(|name| line.could_match(&name))
    }

    /// `true` if a relative path is the end of a path that a pattern names.
    pub(crate) fn protecting_end(&self, relative: &Path) -> bool {
        let is_end = |pattern: &Pattern| {
            let text = pattern.text.trim_start_matches("~/");
            !pattern.exception && !text.contains(['*', '?', '[', '{']) && Path::new(text).ends_with(relative)
        };
        relative.components().next().is_some() && self.0.iter().any(|(pattern, _)| is_end(pattern))
    }
}

impl PathSet for ResolvedPatterns {
    fn protecting(&self, path: &Path) -> Option<&str> {
        let (pattern, _) = self.0.iter().rev().find(|(_, globs)| globs.iter().any(|glob| glob.is_match(path)))?;
        if pattern.exception { None } else { Some(&pattern.argument) }
    }
}

/// A set of paths: the patterns of a guard, or a table of facts.
pub(crate) trait PathSet {
    /// Returns the pattern that an absolute path matches.
    fn protecting(&self, path: &Path) -> Option<&str>;

    /// Returns a protected path below an existing directory, and its pattern. Other files than `is_affected` are skipped.
    fn protecting_below(&self, directory: &Path, is_affected: &dyn Fn(&Path) -> bool) -> Option<(PathBuf, &str)> {
        // Limits the time for a huge tree: the agent waits.
        const MAX_ENTRIES: usize = 5000;
        let mut waiting = vec![directory.to_owned()];
        let mut entries = 0;
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                entries += 1;
                if entries > MAX_ENTRIES {
                    return None;
                }
                let path = entry.path();
                if let Some(pattern) = self.protecting(&path).filter(|_| is_affected(&path)) {
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

/// Returns the path with `~` as the home directory.
pub(crate) fn with_home(text: &str, home: Option<&str>) -> String {
    match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => text.to_owned(),
    }
}

/// Returns the paths that a text of tool input may denote.
///
/// Some programs read a path up to a NUL, others read all of it, others read one path per line. A path may be a `file://`
/// address.
pub(crate) fn spellings(text: &str) -> Vec<String> {
    let parts = text.split('\0').take(1).chain([text]).chain(text.lines());
    let mut paths: Vec<String> = Vec::new();
    for part in parts.map(str::trim) {
        let path = match part.get(..7) {
            Some(start) if start.eq_ignore_ascii_case("file://") => {
                let rest = &part[7..];
                let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
                paths.push(path.to_owned());
                decoded(path)
            }
            _ => part.to_owned(),
        };
        paths.push(path);
    }
    paths.dedup();
    paths.retain(|path| !path.is_empty());
    paths
}

/// Replaces `%2e` and similar escapes of an address.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let escape = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = escape.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = &behind[if byte.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the names of a path: without `.` and `..`, and with links resolved.
pub(crate) fn names(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![lexical(path)];
    for real in [real(path), real(&names[0])].into_iter().flatten() {
        if !names.contains(&real) {
            names.push(real);
        }
    }
    names
}

/// Resolves links in the part of the path that exists.
fn real(path: &Path) -> Option<PathBuf> {
    real_ancestor(path).map(|(found, rest)| lexical(&found.join(rest)))
}

/// Returns the files that a word denotes: the path itself, or the files that match its wildcards.
pub(crate) fn expanded(value: &Expanded, cwd: &Path) -> Vec<PathBuf> {
    let whole = cwd.join(&value.text);
    if !value.glob {
        return vec![whole];
    }
    // More than a usual command line holds.
    const MAX_FILES: usize = 2000;
    let mut found = vec![PathBuf::new()];
    for component in whole.components() {
        let text = component.as_os_str().to_string_lossy();
        let pattern = text.contains(['*', '?', '[']).then(|| glob(&text).ok()).flatten();
        let Some(pattern) = pattern.map(|glob| glob.compile_matcher()) else {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        };
        let matches = |name: &str| pattern.is_match(name) && (!name.starts_with('.') || text.starts_with('.'));
        found = found
            .iter()
            .flat_map(|directory| std::fs::read_dir(directory).into_iter().flatten().flatten())
            .filter(|entry| matches(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .take(MAX_FILES)
            .collect();
    }
    // A shell leaves the word unchanged if no file matches.
    if found.is_empty() { vec![whole] } else { found }
}
