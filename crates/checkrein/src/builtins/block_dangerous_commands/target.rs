//! Classification of path operands: the root, a home directory, the working directory.
//!
//! The rules of [`rules`](super::rules) use it. It compares names and reads nothing from the disk.

use std::path::{Path, PathBuf};

use super::super::shell::{Expanded, SimpleCommand, lexical};

/// Kind of directory that a path denotes, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// The root, a part of the system, or a pattern directly below the root.
    System,
    /// A user's home directory.
    Home,
    /// A directory that contains the working directory.
    Above,
    /// The working directory, or all of its contents.
    WorkingDirectory,
    /// The contents of a variable's directory. If the variable is empty, that is the root.
    MaybeRoot,
    Other,
}

pub(super) const SYSTEM: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/lib",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
    "/Volumes",
    "/private",
    "/mnt",
    "/media",
];

/// A path operand of a command with its [`Target`].
#[derive(Debug)]
pub(super) struct PathOperand {
    pub(super) target: Target,
    /// Phrase for a directory or its contents: `your home directory`.
    pub(super) description: String,
}

impl PathOperand {
    pub(super) fn new(value: &Expanded, command: &SimpleCommand, home: Option<&str>, cwd: &Path) -> Self {
        if !value.known {
            return Self::unknown(&value.text);
        }
        if value.text.is_empty() {
            return Self::other();
        }
        if home.is_none() && (value.text == "~" || value.text.starts_with("~/") && is_all(&value.text[2..])) {
            return Self::directory(Target::Home, "your home directory", value.glob);
        }
        let (path, at_root) = without_wildcards(value);
        let is_contents = value.glob && path != value.text.trim_end_matches('/');
        let places: Vec<PathBuf> = command.cwds.iter().map(|cwd| lexical(&cwd.join(&path))).collect();
        let is_own_home = |place: &PathBuf| home.is_some_and(|home| *place == lexical(Path::new(home)));
        if let Some(place) = places.iter().find(|place| SYSTEM.iter().any(|system| **place == *Path::new(system))) {
            let name = match place.to_str() {
                Some("/") => "the root directory".to_owned(),
                // The home of root is a system directory too.
                _ if is_own_home(place) => "your home directory".to_owned(),
                _ => format!("the system directory `{}`", place.display()),
            };
            return Self::directory(Target::System, &name, is_contents);
        }
        if at_root {
            return Self::directory(Target::System, &format!("everything that matches `{}`", value.text), false);
        }
        let is_in_homes = |place: &&PathBuf| matches!(parent_text(place), Some("/home" | "/Users"));
        if places.iter().any(is_own_home) {
            return Self::directory(Target::Home, "your home directory", is_contents);
        }
        if let Some(place) = places.iter().find(is_in_homes) {
            let name = format!("the home directory `{}`", place.display());
            return Self::directory(Target::Home, &name, is_contents);
        }
        let Some(place) = places.first() else { return Self::other() };
        let cwd = lexical(cwd);
        // A relative path that leads up is meant as such, wherever the command has gone before.
        let gone_to = if Path::new(&path).is_absolute() { None } else { command.cwds.first() };
        let is_above = |below: &Path| below != place && below.starts_with(place);
        if is_above(&cwd) || gone_to.is_some_and(|gone_to| is_above(&lexical(gone_to))) {
            let name = format!("`{}`, which contains the working directory", place.display());
            Self::directory(Target::Above, &name, is_contents)
        } else if cwd == *place {
            Self::directory(Target::WorkingDirectory, "the working directory", is_contents)
        } else {
            Self::other()
        }
    }

    fn directory(target: Target, name: &str, is_contents: bool) -> Self {
        let description = if is_contents { format!("everything in {name}") } else { name.to_owned() };
        Self { target, description }
    }

    fn other() -> Self {
        Self { target: Target::Other, description: String::new() }
    }

    /// Classifies a path with unknown parts: `$DIR/` and `$DIR/*` are the root if `DIR` is empty.
    fn unknown(text: &str) -> Self {
        let Some(rest) = text.strip_prefix('$') else { return Self::other() };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let below = behind.strip_prefix('/');
        if name == "HOME" && (behind.is_empty() || below.is_some_and(is_all)) {
            return Self::directory(Target::Home, "your home directory", behind.contains('*'));
        }
        if !name.is_empty() && below.is_some_and(is_all) {
            let root = format!("the root directory if `{name}` is empty; use `${{{name}:?}}`");
            return Self::directory(Target::MaybeRoot, &root, behind.contains('*'));
        }
        Self::other()
    }
}

fn parent_text(path: &Path) -> Option<&str> {
    path.parent().and_then(Path::to_str)
}

/// `true` for a last component that includes all entries: empty, `*`, `.*` and similar.
fn is_all(component: &str) -> bool {
    component.is_empty() || component == "." || (component.contains('*') && !component.contains(char::is_alphanumeric))
}

/// Removes a last component that includes all entries. Also returns `true` if a pattern is directly below the root.
fn without_wildcards(value: &Expanded) -> (String, bool) {
    if !value.glob {
        return (value.text.clone(), false);
    }
    let text = value.text.trim_end_matches('/');
    let (parent, last) = text.rsplit_once('/').unwrap_or((".", text));
    let first_below_root = text.strip_prefix('/').and_then(|rest| rest.trim_start_matches('/').split('/').next());
    let at_root = first_below_root.is_some_and(|first| first.contains(['*', '?', '[']))
        && text.trim_start_matches('/').split('/').skip(1).all(is_all);
    if is_all(last) {
        (if parent.is_empty() { "/".to_owned() } else { parent.to_owned() }, at_root)
    } else {
        (text.to_owned(), at_root)
    }
}
