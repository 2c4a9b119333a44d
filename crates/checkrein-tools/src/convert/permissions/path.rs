//! Conditions for `Read(…)` and `Edit(…)`, whose patterns have the form of gitignore.
//!
//! `//x` starts at the root of the file system, `~/x` at the home directory, `/x` at the directory of the settings, `x/y` and `./x` at
//! the working directory. A name without a slash matches at any depth.

use checkrein_dialects::RuleDecision;

use super::Permission;
use super::rule::{EDITORS, READERS, literal, said};
use super::write::{Said, quoted};

/// Use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Directory to which a pattern is relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    UserSettings,
    Project,
    Working,
}

/// Home directory and project in tests of rules.
const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";

/// Returns the condition for a pattern.
pub(super) fn say(pattern: &str, access: Access, permission: &Permission) -> Result<Said, String> {
    let is_allow = permission.decision == RuleDecision::Allow;
    let pattern = pattern.trim();
    if pattern.starts_with('!') || pattern.contains(['\\', '"']) {
        return Err("negated patterns, quotes and backslashes have no counterpart".to_owned());
    }
    let (base, rest) = split(pattern, permission.of_user);
    let rest = rest.trim_end_matches('/');
    let fits = condition(base, rest, pattern, is_allow)?;
    let when = match (is_allow, access) {
        (true, Access::Read) => all_files(READERS, &fits),
        (true, Access::Write) => all_files(EDITORS, &fits),
        (false, Access::Read) => any_file(r#"p.access == "read""#, &fits),
        (false, Access::Write) => any_file(r#"p.access in ["write", "delete"]"#, &fits),
    };
    let word = if access == Access::Read { "read" } else { "write" };
    let test = |path: &str| format!("path: {}, access: {word}", quoted(path));
    Ok(said(when, &test(&example(base, rest)), &test("/home/user/project/other.txt")))
}

fn any_file(access: &str, fits: &str) -> String {
    format!("paths.exists(p, {access} && [p.abs, p.real].exists(f, {fits}))")
}

fn all_files(tools: &str, fits: &str) -> String {
    format!("tool.common_name in {tools} && paths.size() > 0 && paths.all(p, [p.abs, p.real].all(f, {fits}))")
}

fn split(pattern: &str, of_user: bool) -> (Base, &str) {
    if let Some(rest) = pattern.strip_prefix("//") {
        return (Base::Root, rest);
    }
    if let Some(rest) = pattern.strip_prefix("~/") {
        return (Base::Home, rest);
    }
    if let Some(rest) = pattern.strip_prefix('/') {
        return (if of_user { Base::UserSettings } else { Base::Project }, rest);
    }
    (Base::Working, pattern.strip_prefix("./").unwrap_or(pattern))
}

/// Condition on the file `f`.
fn condition(base: Base, rest: &str, pattern: &str, is_allow: bool) -> Result<String, String> {
    let is_glob = |text: &str| text.contains(['*', '?', '[', '{']);
    let directory = rest.strip_suffix("/**").unwrap_or(rest);
    let any_depth = base == Base::Working && !pattern.trim_end_matches('/').contains('/');
    if rest.is_empty() || rest == "**" {
        return Ok(below(base, "", is_allow));
    }
    if !is_glob(directory) && !any_depth {
        return Ok(below(base, directory, is_allow));
    }
    let start = rest.strip_prefix("**/").unwrap_or(rest);
    let patterns = |start: &str| format!("f.globs([{}, {}])", literal(start), literal(&format!("{start}/**")));
    if base == Base::Root {
        return Ok(patterns(&format!("/{rest}")));
    }
    // `globs` needs a constant, and the directory is none. So the pattern is compared at any depth of it.
    if is_allow && !any_depth && start == rest {
        return Err("a relative pattern with `*` can be said only for more files".to_owned());
    }
    Ok(format!("({}) && {}", below(base, "", is_allow), patterns(&format!("**/{start}"))))
}

/// Condition that a file is in a directory. The agent can be started in a directory of the project.
fn below(base: Base, directory: &str, is_allow: bool) -> String {
    let end = |start: &str| match directory {
        "" => format!("f.under({start})"),
        _ => format!("f.under({start} + {})", literal(&format!("/{directory}"))),
    };
    match base {
        Base::Root => format!("f.under({})", literal(&format!("/{directory}"))),
        Base::Home => end("home"),
        Base::UserSettings => end("home + \"/.claude\""),
        Base::Project => end("project"),
        Base::Working if is_allow => end("project"),
        Base::Working => format!("{} || {}", end("project"), end("cwd")),
    }
}

/// A file to which the pattern applies.
fn example(base: Base, rest: &str) -> String {
    let start = match base {
        Base::Root => "",
        Base::Home => HOME,
        Base::UserSettings => "/home/user/.claude",
        Base::Project | Base::Working => PROJECT,
    };
    let file = rest.replace("**", "a").replace(['*', '?'], "x");
    match file.as_str() {
        "" => format!("{start}/a"),
        _ => format!("{start}/{file}"),
    }
}
