//! Tables of paths, and their comparison with paths that are partly unknown.
//!
//! A row is a pattern:
//!
//! | row | matches |
//! |---|---|
//! | `name` | a name in any directory |
//! | `dir/name` | these last parts of a path, in any directory |
//! | `~/name` | a path below the home directory |
//! | `/etc/name` | a path from the root |
//! | `row/` | the same, and everything below |
//! | `!row` | an exception |
//!
//! `*` matches any text within one part. The last row that matches applies. Case matters, as in path guards.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::builtins::doubt::{Line, is_wholly_unknown};
use crate::builtins::paths::PathSet;
use crate::builtins::shell::{Expanded, lexical};
use crate::wildcard::wildcard;

/// A table of paths.
#[derive(Debug)]
pub(super) struct Table {
    /// Rows that another table gives. They come first.
    derived: LazyLock<Vec<String>>,
    rows: &'static [&'static str],
}

/// Result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    No,
    /// Only a running shell knows it.
    Maybe,
    /// One of the files that a wildcard means is in the table.
    Included,
    Yes,
}

/// A part of a path.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Known(String),
    /// A part of which some text is unknown.
    Partial(Expanded),
    /// Any number of unknown parts.
    Any,
}

/// Names that files of many programs have. Below an unknown directory they are quiet.
const COMMON_NAMES: &[&str] = &[
    "auth.json",
    "config",
    "config.json",
    "config.toml",
    "config.yaml",
    "config.yml",
    "credentials.json",
    "default",
    "history",
    "hooks.json",
    "hosts",
    "hosts.yml",
    "profile",
    "settings.json",
    "settings.local.json",
    "tasks.json",
    "token",
];

/// A row of a table.
struct Row<'a> {
    text: &'a str,
    is_exception: bool,
    is_anchored: bool,
    has_below: bool,
    parts: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn new(text: &'a str, home: Option<&'a str>) -> Option<Self> {
        let (is_exception, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (has_below, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let (start, rest) = match (rest.strip_prefix("~/"), rest.strip_prefix('/')) {
            (Some(rest), _) => (Some(home?), rest),
            (None, Some(rest)) => (Some(""), rest),
            (None, None) => (None, rest),
        };
        let own = rest.split('/');
        let parts = start.into_iter().flat_map(|start| start.split('/').filter(|part| !part.is_empty())).chain(own);
        Some(Self { text, is_exception, is_anchored: start.is_some(), has_below, parts: parts.collect() })
    }

    fn answer(&self, path: &[Part]) -> Answer {
        if !self.has_below {
            return self.exact(path);
        }
        let ends = 1..=path.len();
        ends.map(|end| self.exact(&path[..end])).max_by_key(|answer| *answer as u8).unwrap_or(Answer::No)
    }

    /// Compares the last part of the row with the last part of the path, then those before it.
    fn exact(&self, path: &[Part]) -> Answer {
        let Some((own_last, own_before)) = self.parts.split_last() else { return Answer::No };
        let Some((last, before)) = path.split_last() else { return Answer::No };
        let mut answer = match last {
            Part::Known(name) if wildcard(own_last, name) => Answer::Yes,
            Part::Known(_) => return Answer::No,
            Part::Partial(name) if includes(name, own_last) => Answer::Included,
            Part::Partial(name) if is_surely(own_last, name) => Answer::Yes,
            Part::Partial(name) if is_likely(own_last, name) => Answer::Maybe,
            Part::Partial(_) => return Answer::No,
            // An unknown name matters only in a directory of the row.
            Part::Any => match (own_before.last(), before.last()) {
                (Some(own), Some(Part::Known(name))) if wildcard(own, name) => Answer::Maybe,
                _ => return Answer::No,
            },
        };
        let mut before = before.iter().rev();
        for own in own_before.iter().rev() {
            match before.next() {
                Some(Part::Known(name)) if wildcard(own, name) => {}
                Some(Part::Partial(name)) if Line::new(name, []).could_match(own) => answer = Answer::Maybe,
                Some(Part::Any) => {
                    let is_common = own_last.contains('*') || COMMON_NAMES.contains(own_last);
                    return if is_common && own_before.last() == Some(own) { Answer::No } else { Answer::Maybe };
                }
                _ => return Answer::No,
            }
        }
        match before.next() {
            None => answer,
            Some(_) if !self.is_anchored => answer,
            Some(Part::Any) => Answer::Maybe,
            Some(_) => Answer::No,
        }
    }
}

/// Extensions of many ordinary files. Alone they say nothing about a name: `$X.json`.
const COMMON_EXTENSIONS: &[&str] = &[
    ".cfg", ".conf", ".css", ".csv", ".html", ".js", ".json", ".jsonc", ".log", ".md", ".py", ".rs", ".sh", ".toml",
    ".ts", ".txt", ".xml", ".yaml", ".yml",
];

/// Returns the known start and the known end of a name.
fn known_ends(name: &Expanded) -> (&str, &str) {
    let is_open = |(at, c): &(usize, char)| {
        name.unknown.iter().any(|range| range.contains(at)) || name.glob && matches!(c, '*' | '?' | '[' | ']')
    };
    if name.cut {
        return ("", "");
    }
    let mut open = name.text.char_indices().filter(is_open);
    let Some((first, c)) = open.next() else { return (&name.text, &name.text) };
    let (last, c) = open.next_back().unwrap_or((first, c));
    (&name.text[..first], &name.text[last + c.len_utf8()..])
}

/// `true` if a name with unknown parts matches a pattern whatever they are.
fn is_surely(pattern: &str, name: &Expanded) -> bool {
    let (start, end) = known_ends(name);
    match pattern.split_once('*') {
        _ if start == name.text && !name.cut => wildcard(pattern, start),
        Some(("", suffix)) if !suffix.contains('*') => end.ends_with(suffix),
        Some((prefix, "")) => !prefix.is_empty() && start.starts_with(prefix),
        _ => false,
    }
}

/// `true` if a wildcard includes the name of a row, and shows that it means it: `.env*` includes `.env`.
fn includes(name: &Expanded, own: &str) -> bool {
    let (start, _) = known_ends(name);
    let is_meant = own == name.text || !own.contains('*') && start.len() > 2 && wildcard(&name.text, own);
    name.glob && name.unknown.is_empty() && is_meant
}

/// `true` if a name with unknown parts could match a pattern, and its known start or end is that of the pattern.
fn is_likely(pattern: &str, name: &Expanded) -> bool {
    let (start, end) = known_ends(name);
    let prefix = pattern.split('*').next().unwrap_or_default();
    let suffix = pattern.rsplit('*').next().unwrap_or_default();
    let has_start = !start.is_empty() && !prefix.is_empty() && (start.starts_with(prefix) || prefix.starts_with(start));
    let has_end = !end.is_empty() && !suffix.is_empty() && (end.ends_with(suffix) || suffix.ends_with(end));
    (has_start || has_end && !COMMON_EXTENSIONS.contains(&end)) && Line::new(name, []).could_match(pattern)
}

impl Table {
    pub(super) const fn new(rows: &'static [&'static str]) -> Self {
        Self { derived: LazyLock::new(Vec::new), rows }
    }

    /// Creates a table whose first rows come from another table.
    pub(super) const fn derived(rows: &'static [&'static str], derived: fn() -> Vec<String>) -> Self {
        Self { derived: LazyLock::new(derived), rows }
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.derived.iter().map(String::as_str).chain(self.rows.iter().copied())
    }

    /// Compares a path with all rows. Rows for the home directory apply to those of other users too.
    pub(super) fn answer(&self, path: &[Part], home: Option<&str>) -> Answer {
        let own = self.answer_in(path, home);
        match other_home(path) {
            Some(other) if own == Answer::No && home != Some(other.as_str()) => self.answer_in(path, Some(&other)),
            _ => own,
        }
    }

    fn answer_in(&self, path: &[Part], home: Option<&str>) -> Answer {
        let (mut may_match, mut may_except) = (false, false);
        for row in self.rows().rev().filter_map(|text| Row::new(text, home)) {
            match (row.answer(path), row.is_exception) {
                (Answer::No, _) => {}
                (Answer::Maybe, false) => may_match = true,
                (Answer::Maybe, true) => may_except = true,
                (Answer::Included, false) => return Answer::Yes,
                (Answer::Included, true) => {}
                (Answer::Yes, false) => return if may_except { Answer::Maybe } else { Answer::Yes },
                (Answer::Yes, true) => break,
            }
        }
        if may_match { Answer::Maybe } else { Answer::No }
    }

    /// Returns whether a known path is in the table.
    pub(super) fn has(&self, path: &Path, home: Option<&str>) -> bool {
        self.answer(&parts_of(path), home) == Answer::Yes
    }

    /// Lists the places of the rows in the home directory, from the root, and in the project.
    pub(super) fn places<'t>(&'t self, home: Option<&'t str>, project: &'t Path) -> impl Iterator<Item = PathBuf> + 't {
        self.rows().filter_map(move |text| {
            let row = Row::new(text, home)?;
            let parts: PathBuf = row.parts.iter().take_while(|part| !part.contains('*')).collect();
            let is_named = row.text.trim_end_matches('/').contains('/') && parts.components().next().is_some();
            if row.is_exception || !is_named {
                return None;
            }
            let base = if row.is_anchored { Path::new("/") } else { project };
            Some(base.join(parts))
        })
    }
}

/// Returns the home directory of a user in which a path is.
fn other_home(path: &[Part]) -> Option<String> {
    match path {
        [Part::Known(homes), Part::Known(user), _, ..] if matches!(homes.as_str(), "home" | "Users") => {
            Some(format!("/{homes}/{user}"))
        }
        [Part::Known(root), _, ..] if root == "root" => Some("/root".to_owned()),
        _ => None,
    }
}

/// A table for one home directory.
pub(super) struct TableIn<'a> {
    pub(super) table: &'static Table,
    pub(super) home: Option<&'a str>,
}

impl PathSet for TableIn<'_> {
    fn protecting(&self, path: &Path) -> Option<&str> {
        if self.table.has(path, self.home) { Some("") } else { None }
    }
}

/// Returns the parts of a known path.
pub(super) fn parts_of(path: &Path) -> Vec<Part> {
    let normal = path.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(Part::Known(name.to_string_lossy().into_owned())),
        _ => None,
    });
    normal.collect()
}

/// Returns the parts of a path with unknown text, relative to a directory. `None`: only a running shell knows the directory.
pub(super) fn parts_of_word(word: &Expanded, cwd: Option<&Path>) -> Vec<Part> {
    let is_literal = |at: &usize| !word.unknown.iter().any(|range| range.contains(at));
    let starts_unknown = word.unknown.first().is_some_and(|range| range.start == 0) || word.text.is_empty();
    let mut parts = match cwd {
        _ if word.text.starts_with('/') && !starts_unknown => Vec::new(),
        Some(cwd) if !starts_unknown => parts_of(&lexical(cwd)),
        _ => vec![Part::Any],
    };
    let slashes = word.text.match_indices('/').map(|(at, _)| at).filter(is_literal);
    let mut start = 0;
    for end in slashes.chain([word.text.len()]) {
        let part = word.part(start..end);
        let is_open = part.glob || !part.known;
        match part.text.as_str() {
            "" | "." => {}
            ".." if !is_open => match parts.last() {
                Some(Part::Any) => {}
                _ => drop(parts.pop()),
            },
            _ if part.cut || is_wholly_unknown(&part) => parts.push(Part::Any),
            _ if is_open => parts.push(Part::Partial(part)),
            _ => parts.push(Part::Known(part.text)),
        }
        start = end + 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: Table = Table::new(&[
        ".env",
        ".env.*",
        "!.env.example",
        "*.pem",
        "~/.ssh/id_*",
        "!*.pub",
        "~/.gnupg/",
        "ci/flow.yml",
        "/etc/shadow",
        "a*z",
        "~/.kube/config",
    ]);

    fn word(text: &str) -> Expanded {
        let mut unknown = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let start = text.len() - rest.len() + at;
            let length = 1 + rest[at + 1..].find(|c: char| !c.is_ascii_uppercase()).unwrap_or(rest[at + 1..].len());
            unknown.push(start..start + length);
            rest = &rest[at + length..];
        }
        Expanded {
            text: text.to_owned(),
            known: unknown.is_empty(),
            glob: text.contains('*'),
            unknown,
            ..Expanded::default()
        }
    }

    #[test]
    fn rows_are_compared_with_known_and_unknown_parts() {
        use Answer::{Maybe, No, Yes};
        for (text, expected) in [
            (".env", Yes),
            ("sub/.env.local", Yes),
            (".env.example", No),
            (".environment", No),
            ("x.pem", Yes),
            ("/home/a/.ssh/id_rsa", Yes),
            ("/home/a/.ssh/id_rsa.pub", No),
            ("/home/b/.ssh/id_rsa", Yes),
            ("/p/.ssh/id", No),
            ("/home/a/.gnupg", Yes),
            ("/home/a/.gnupg/x/y", Yes),
            ("ci/flow.yml", Yes),
            ("flow.yml", No),
            ("/etc/shadow", Yes),
            ("etc/shadow", No),
            ("abz", Yes),
            ("$X", No),
            ("$DIR/main.rs", No),
            ("$DIR/.env", Yes),
            ("$X.env", Maybe),
            (".env$X", Maybe),
            (".env.$X", Maybe),
            ("key-$X.pem", Yes),
            ("$X.rs", No),
            ("$X.yml", No),
            ("fl$X.yml", No),
            ("ci/fl$X.yml", Maybe),
            ("$X.pem", Yes),
            ("$HOME/.ssh/id_ed", Maybe),
            ("$DIR/shadow", Maybe),
            ("$DIR/config", No),
            ("$DIR/.kube/config", Maybe),
            ("/home/a/.ssh/$KEY", Maybe),
            ("/home/a/.gnupg/$KEY", Yes),
            ("/home/a/src/$FILE", No),
            ("*.pem", Yes),
            (".env*", Yes),
            ("*.txt", No),
            ("a$X", Maybe),
        ] {
            let parts = parts_of_word(&word(text), Some(Path::new("/p/q")));
            assert_eq!(TABLE.answer(&parts, Some("/home/a")), expected, "{text}");
        }
    }

    #[test]
    fn rows_in_the_home_directory_apply_to_all_users() {
        assert!(TABLE.has(Path::new("/home/a/.gnupg"), None));
        assert!(TABLE.has(Path::new("/home/b/.gnupg"), Some("/home/a")));
        assert!(!TABLE.has(Path::new("/p/.gnupg"), Some("/home/a")));
        assert!(TABLE.has(Path::new("/p/.env"), None));
    }
}
