//! What a path that is about to be destroyed stands for.

use std::path::{Path, PathBuf};

use super::super::shell::{Expanded, SimpleCommand, lexical};

/// What a path stands for, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// The root, a part of the system, or a pattern right below the root.
    System,
    /// A user's home.
    Home,
    /// A directory that holds the working directory.
    Above,
    /// The working directory, or all that is in it.
    Here,
    /// All below a variable that may be empty, and then the root.
    MaybeRoot,
    Other,
}

const SYSTEM: &[&str] = &[
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

pub(super) fn target(value: &Expanded, step: &SimpleCommand, home: Option<&str>, cwd: &Path) -> Target {
    if !value.known {
        return unknown(&value.text);
    }
    if value.text.is_empty() {
        return Target::Other;
    }
    if home.is_none() && (value.text == "~" || value.text.starts_with("~/") && is_all(&value.text[2..])) {
        return Target::Home;
    }
    let (path, at_root) = without_wildcards(value);
    let places: Vec<PathBuf> = step.cwds.iter().map(|cwd| lexical(&cwd.join(&path))).collect();
    let is_system = |place: &PathBuf| SYSTEM.iter().any(|system| place == Path::new(system));
    if at_root || places.iter().any(is_system) {
        return Target::System;
    }
    let is_home = |place: &PathBuf| {
        let in_homes = matches!(place.parent().and_then(Path::to_str), Some("/home" | "/Users"));
        in_homes || home.is_some_and(|home| *place == lexical(Path::new(home)))
    };
    if places.iter().any(is_home) {
        return Target::Home;
    }
    let Some(place) = places.first() else { return Target::Other };
    let cwd = lexical(cwd);
    // A relative path that leads up is meant as such, wherever the command has gone before.
    let gone_to = step.cwds.first().filter(|_| !Path::new(&path).is_absolute());
    let is_above = |below: &Path| below != place && below.starts_with(place);
    if is_above(&cwd) || gone_to.is_some_and(|gone_to| is_above(&lexical(gone_to))) {
        Target::Above
    } else if cwd == *place {
        Target::Here
    } else {
        Target::Other
    }
}

/// `$DIR/` and `$DIR/*` are the root if there is no `DIR`.
fn unknown(text: &str) -> Target {
    let Some(rest) = text.strip_prefix('$') else { return Target::Other };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    match behind.strip_prefix('/') {
        _ if name == "HOME" && (behind.is_empty() || behind.strip_prefix('/').is_some_and(is_all)) => Target::Home,
        Some(behind) if !name.is_empty() && is_all(behind) => Target::MaybeRoot,
        _ => Target::Other,
    }
}

/// Whether a last component stands for everything: nothing, `*`, `.*` and the like.
fn is_all(component: &str) -> bool {
    component.is_empty() || component == "." || (component.contains('*') && !component.contains(char::is_alphanumeric))
}

/// The path without a last component that stands for everything, and whether a pattern stands right below the root.
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
