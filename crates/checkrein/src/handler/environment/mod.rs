//! Environment variables of a command.
//!
//! Hooks in checkrein's own files get the variables that every program needs, the directories of tools such as `CARGO_HOME`, and
//! those they ask for. Hooks of agents that pass
//! the whole environment on also get variables that are known to be harmless, and those that their command names. A project's
//! settings can set variables of the agent, and so of every hook of the user. Therefore all other variables are withheld, and so
//! is every value that leads into the project, except for the project's own hooks.

mod foreign;
mod names;
mod program;

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::{CommandLine, CommandSpec, Dialect, Environment, HandlerSpec, HookSpec};

use super::{HandlerEnv, var_expand};
use crate::builtins::secrets;
use crate::trust::ProjectRoots;
pub(super) use foreign::is_foreign;
use names::{belongs_in_project, is_harmless, is_tool_variable};

/// Variable with the depth of nested checkrein processes. A hook that starts an agent can run checkrein again; the depth stops
/// an endless recursion.
pub const DEPTH: &str = "CHECKREIN_DEPTH";

/// Variables that every native hook gets if the host has them. None is a secret.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TZ",
    DEPTH,
    // Required by programs on Windows.
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramFiles",
    "ProgramData",
    "windir",
];

/// Prefix of other variables that every native hook gets.
const USUAL_PREFIX: &str = "LC_";

/// Means all variables in `env_allow`.
pub(crate) const EVERYTHING: &str = "*";

const PATH: &str = "PATH";

/// Environment of a command.
pub(super) struct ChildEnv {
    pub(super) variables: Vec<(OsString, OsString)>,
    /// Names of variables that the agent would pass on and checkrein does not. `PATH`: without some of its entries.
    pub(super) withheld: Vec<String>,
    /// Names of withheld variables that the command itself uses. It cannot work without them.
    pub(super) broken: Vec<String>,
}

/// Returns the part of the host's environment that a hook may have, and the variables that it sets.
pub(super) fn child_env(spec: &CommandSpec, dialect: &Dialect, scope: Scope, env: &HandlerEnv) -> ChildEnv {
    let all = spec.env_all == Some(true) || spec.env_allow.iter().any(|own| own == EVERYTHING);
    let is_allowed = |name: &str| all || spec.env_allow.iter().any(|own| own == name);
    let passed_on = |name: &str| match dialect.process.environment {
        Environment::All => spec.env_all.is_none(),
        Environment::AllBut(prefixes) => {
            spec.env_all.is_none() && !prefixes.iter().any(|prefix| name.starts_with(prefix))
        }
        Environment::Only(names) => names.contains(&name),
        Environment::Usual => is_usual(name) || is_tool_variable(name),
    };
    // A restriction of the administrator takes precedence over `env_allow`.
    let may_get = |name: &OsStr| {
        spec.env_bounds.is_empty() || name.to_str().is_some_and(|name| is_usual(name) || spec.may_get(name))
    };
    let is_set = |name: &OsStr| spec.env_set.iter().any(|(own, _)| name == own.as_str());
    let is_own_project = matches!(scope, Scope::Project | Scope::Local | Scope::Code);
    let project = OnceCell::new();
    let leads_into_project = |name: &str, value: &OsStr| {
        let project = || project.get_or_init(|| env.project_roots());
        !is_own_project && !belongs_in_project(name) && leads_into(value, &env.cwd, project)
    };
    let home = env.var("HOME").map(PathBuf::from);
    let mut child = ChildEnv { variables: Vec::new(), withheld: Vec::new(), broken: Vec::new() };
    for (name, value) in env.vars.iter().filter(|(name, _)| !is_set(name) && may_get(name)) {
        let text = name.to_str();
        if all || text.is_some_and(is_allowed) {
            child.variables.push((name.clone(), value.clone()));
            continue;
        }
        let Some(text) = text.filter(|name| passed_on(name)) else { continue };
        if text == PATH {
            let (path, is_clean) = good_entries(value, scope, || env.project_roots(), home.as_deref());
            if !is_clean {
                child.withheld.push(PATH.to_owned());
            }
            child.variables.push((name.clone(), path));
            continue;
        }
        // These are set for each event.
        if dialect.process.variables.iter().any(|row| row.name == text) {
            continue;
        }
        let is_named = is_named(spec, text);
        if leads_into_project(text, value) {
            child.withheld.push(text.to_owned());
            if is_named {
                child.broken.push(text.to_owned());
            }
            continue;
        }
        let is_harmless = || {
            let value = value.to_string_lossy();
            is_harmless(text, &value, home.as_deref()) && !secrets::has_secret(&value)
        };
        if is_usual(text) || is_named || is_harmless() {
            child.variables.push((name.clone(), value.clone()));
        } else {
            child.withheld.push(text.to_owned());
        }
    }
    // A restricted variable must not reach the hook through the expansion of another one.
    let bounded = (!spec.env_bounds.is_empty()).then(|| HandlerEnv {
        vars: env.vars.iter().filter(|(name, _)| may_get(name)).cloned().collect(),
        ..env.clone()
    });
    let known = bounded.as_ref().unwrap_or(env);
    child.variables.extend(spec.env_set.iter().map(|(name, value)| match dialect.process.expands {
        true => (name.into(), var_expand::value(value, known).into()),
        false => (name.into(), value.into()),
    }));
    program::add(&mut child.variables, env);
    child
}

/// Returns the variables of a command hook without those of an event, for checks. `None` for other handlers.
pub fn variables_of(hook: &HookSpec, env: &HandlerEnv) -> Option<Vec<(OsString, OsString)>> {
    let HandlerSpec::Command(spec) = &hook.handler else { return None };
    Some(child_env(spec, hook.dialect, hook.info.source.scope, env).variables)
}

/// `true` if a value, or a part of a list, is a path inside of the project.
fn leads_into<'a>(value: &OsStr, cwd: &Path, project: impl Fn() -> &'a ProjectRoots) -> bool {
    let text = value.to_string_lossy();
    // Most values contain no path.
    if !text.contains('/') && !matches!(&*text, "." | "..") {
        return false;
    }
    let is_inside = |part: &str| {
        let path = part.strip_prefix("file://").unwrap_or(part);
        let is_path = path.contains('/') || matches!(path, "." | "..");
        // A URL or a piece of text has no such directory.
        is_path && !path.contains("://") && project().contains(&cwd.join(path))
    };
    let separators = [':', ';', ',', ' ', '=', '@', '\'', '"', '\n', '\t'];
    is_inside(&text) || text.split(separators).any(is_inside)
}

/// `true` if the command itself contains a variable, as `$NAME` or `${NAME…}`.
fn is_named(spec: &CommandSpec, name: &str) -> bool {
    let names = |text: &str| {
        text.match_indices('$').any(|(start, _)| {
            let rest = &text[start + 1..];
            let rest = rest.strip_prefix('{').unwrap_or(rest);
            let after = rest.strip_prefix(name);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        })
    };
    match &spec.run {
        CommandLine::Shell { text, .. } => names(text),
        CommandLine::Argv(words) => words.iter().any(|word| names(word)),
    }
}

/// Returns the entries of a `PATH` that a hook of this scope may have, and `true` if those are all entries.
///
/// A relative entry, or one inside the project, could run programs of a cloned repository. So could one in another checkout, or in a
/// cache of packages. A project's own approved hooks keep entries inside the project: they rely on tools installed there.
fn good_entries(
    path: &OsStr,
    scope: Scope,
    project_roots: impl FnOnce() -> ProjectRoots,
    home: Option<&Path>,
) -> (OsString, bool) {
    let is_own = matches!(scope, Scope::Project | Scope::Local | Scope::Code);
    let project = if is_own { None } else { Some(project_roots()) };
    let is_good = |entry: &Path| {
        let is_in_project = |project: &ProjectRoots| project.contains(entry) || is_foreign(entry, home);
        entry.is_absolute() && !project.as_ref().is_some_and(is_in_project)
    };
    let entries: Vec<_> = std::env::split_paths(path).collect();
    // Duplicates are checked once. Compared as strings, because `Path` ignores some differences.
    let is_first =
        |index: usize| !entries[..index].iter().any(|before| before.as_os_str() == entries[index].as_os_str());
    if (0..entries.len()).filter(|&index| is_first(index)).all(|index| is_good(&entries[index])) {
        return (path.to_owned(), true);
    }
    let kept = std::env::join_paths(entries.iter().filter(|entry| is_good(entry)));
    (kept.unwrap_or_default(), false)
}

/// Returns `true` if every native hook gets the variable. Names on Windows ignore letter case.
pub fn is_usual(name: &str) -> bool {
    let same = |usual: &&str| if cfg!(windows) { usual.eq_ignore_ascii_case(name) } else { **usual == *name };
    USUAL.iter().any(same) || name.starts_with(USUAL_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_in_the_command_are_requested() {
        for (text, named) in [
            ("curl -H \"$TOKEN\"", true),
            ("curl ${TOKEN}", true),
            ("curl ${TOKEN:-none}", true),
            ("echo $TOKENS $TOKEN_2 ${TOKENS}", false),
            ("echo TOKEN", false),
            ("$", false),
        ] {
            assert_eq!(is_named(&CommandSpec::shell(text), "TOKEN"), named, "{text}");
            assert_eq!(is_named(&CommandSpec::argv(["x", text]), "TOKEN"), named, "{text}");
        }
    }

    /// Managed hooks have a fixed `PATH`, and hooks of other agents that of the host.
    #[cfg(unix)]
    #[test]
    fn every_hook_gets_the_directory_of_the_program() {
        use checkrein_dialects::agents::{claude, native};

        let place = tempfile::tempdir().unwrap();
        let program = place.path().canonicalize().unwrap().join("checkrein");
        let mut env =
            HandlerEnv::new("/no/such/project", [("PATH".into(), "/usr/bin".into())], crate::Registry::empty());
        env.program = Some(program.clone());
        let inherits = CommandSpec::shell("x");
        let mut fixed = CommandSpec::shell("x");
        fixed.env_set.push(("PATH".to_owned(), "/bin".to_owned()));
        for (spec, dialect, scope, start) in [
            (&inherits, &native::DIALECT, Scope::User, "/usr/bin"),
            (&inherits, &native::DIALECT, Scope::Project, "/usr/bin"),
            (&inherits, &claude::DIALECT, Scope::User, "/usr/bin"),
            (&fixed, &native::DIALECT, Scope::Managed, "/bin"),
        ] {
            let variables = child_env(spec, dialect, scope, &env).variables;
            let value =
                |name: &str| variables.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone());
            let path = format!("{start}:{}", program.parent().unwrap().display());
            assert_eq!(value(PATH), Some(path.into()), "{} {scope:?}", dialect.name);
            assert_eq!(value("CHECKREIN_BIN"), Some(program.clone().into()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn relative_path_entries_are_removed() {
        for (path, clean) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/bin", "/bin"),
            ("/bin:", "/bin"),
            (":/bin", "/bin"),
            ("/usr/bin::/bin", "/usr/bin:/bin"),
            ("node_modules/.bin:../x:/bin", "/bin"),
            ("", ""),
        ] {
            let project = || ProjectRoots::for_dir(Path::new("/no/such/project"));
            let (kept, is_clean) = good_entries(OsStr::new(path), Scope::User, project, None);
            assert_eq!((kept.to_str().unwrap(), is_clean), (clean, path == clean && !path.is_empty()), "{path}");
        }
    }
}
