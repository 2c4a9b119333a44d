//! What a command gets of the host's environment.
//!
//! checkrein's own hooks get names that every program needs and what they ask for. Hooks of agents that pass everything on
//! get everything, but for two kinds of variables, unless somebody has asked for them: what looks like a secret, and what makes
//! programs load or run something else. A project's settings can set variables for the agent, and with them for every hook of
//! its user.

mod names;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use checkrein_core::Scope;
use checkrein_dialects::{CommandLine, CommandSpec, Dialect, Environment};

use super::{HandlerEnv, var_expand};
use crate::builtins::secrets;
use crate::trust::ProjectRoots;
use names::{is_loader, is_secret_name};

/// The variable that counts how many checkrein processes have called one another. A hook that starts an agent may reach
/// checkrein again; one that reaches itself never ends.
pub const DEPTH: &str = "CHECKREIN_DEPTH";

/// Variables that every native hook gets if the host has them. Nothing here is a secret.
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
    // What programs on Windows cannot do without.
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

/// Variables whose names start like this are passed on as well.
const USUAL_PREFIX: &str = "LC_";

/// Stands for all variables, in lists of those that are asked for.
pub(crate) const EVERYTHING: &str = "*";

const PATH: &str = "PATH";

/// What a command gets.
pub(super) struct ChildEnv {
    pub(super) variables: Vec<(OsString, OsString)>,
    /// Names of those that it does not get, although its agent would pass them on. Of `PATH`, parts are held back.
    pub(super) held_back: Vec<String>,
}

/// What the hook may have of the host's environment, and what it adds.
pub(super) fn given(spec: &CommandSpec, dialect: &Dialect, scope: Scope, env: &HandlerEnv) -> ChildEnv {
    let all = spec.env_all == Some(true) || spec.env_allow.iter().any(|own| own == EVERYTHING);
    let is_allowed = |name: &str| all || spec.env_allow.iter().any(|own| own == name);
    let passed_on = |name: &str| match dialect.process.environment {
        Environment::All => spec.env_all.is_none(),
        Environment::AllBut(prefixes) => {
            spec.env_all.is_none() && !prefixes.iter().any(|prefix| name.starts_with(prefix))
        }
        Environment::Only(names) => names.contains(&name),
        Environment::Usual => is_usual(name),
    };
    // What an administrator keeps from all but his own hooks is not passed on, whoever asks for it.
    let may_get = |name: &OsStr| {
        spec.env_bounds.is_empty() || name.to_str().is_some_and(|name| is_usual(name) || spec.may_get(name))
    };
    let is_set = |name: &OsStr| spec.env_set.iter().any(|(own, _)| name == own.as_str());
    let mut given = ChildEnv { variables: Vec::new(), held_back: Vec::new() };
    for (at, (name, value)) in env.vars.iter().enumerate().filter(|(_, (name, _))| !is_set(name) && may_get(name)) {
        let text = name.to_str();
        if all || text.is_some_and(is_allowed) {
            given.variables.push((name.clone(), value.clone()));
            continue;
        }
        let Some(text) = text.filter(|name| passed_on(name)) else { continue };
        if text == PATH {
            let (path, is_clean) = good_entries(value, scope, &env.cwd);
            given.held_back.extend((!is_clean).then(|| PATH.to_owned()));
            given.variables.push((name.clone(), path));
        } else if !is_usual(text) && !is_named(spec, text) && env.is_suspect(at) {
            given.held_back.push(text.to_owned());
        } else {
            given.variables.push((name.clone(), value.clone()));
        }
    }
    // What is kept from it must not come under another name.
    let bounded = (!spec.env_bounds.is_empty()).then(|| HandlerEnv {
        vars: env.vars.iter().filter(|(name, _)| may_get(name)).cloned().collect(),
        suspects: std::sync::Arc::default(),
        ..env.clone()
    });
    let known = bounded.as_ref().unwrap_or(env);
    given.variables.extend(spec.env_set.iter().map(|(name, value)| match dialect.process.expands {
        true => (name.into(), var_expand::value(value, known).into()),
        false => (name.into(), value.into()),
    }));
    given
}

impl HandlerEnv {
    /// Whether the variable at this place looks like a secret, or makes programs load something else.
    fn is_suspect(&self, at: usize) -> bool {
        let suspects =
            self.suspects.get_or_init(|| self.vars.iter().map(|(name, value)| is_suspect(name, value)).collect());
        suspects.get(at).copied().unwrap_or(true)
    }
}

fn is_suspect(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    is_loader(&name) || is_secret_name(&name, &value) || secrets::has_secret(&value)
}

/// Whether the command itself names a variable, as `$NAME` or `${NAME…}`.
fn is_named(spec: &CommandSpec, name: &str) -> bool {
    let names = |text: &str| {
        text.match_indices('$').any(|(at, _)| {
            let rest = &text[at + 1..];
            let rest = rest.strip_prefix('{').unwrap_or(rest);
            let behind = rest.strip_prefix(name);
            behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        })
    };
    match &spec.run {
        CommandLine::Shell { text, .. } => names(text),
        CommandLine::Argv(words) => words.iter().any(|word| names(word)),
    }
}

/// The entries of a `PATH` that a hook of this scope may have, and whether those are all. In a cloned repository, those that
/// are not absolute are programs of that repository. So are those that lead into it; but a project's own hooks, which were
/// approved, rely on what was installed for the project.
fn good_entries(path: &OsStr, scope: Scope, dir: &Path) -> (OsString, bool) {
    let is_own = matches!(scope, Scope::Project | Scope::Local | Scope::Code);
    let project = (!is_own).then(|| ProjectRoots::around(dir));
    let is_good = |entry: &Path| entry.is_absolute() && !project.as_ref().is_some_and(|project| project.has(entry));
    let entries: Vec<_> = std::env::split_paths(path).collect();
    // As texts: paths are compared part by part.
    let is_another = |at: usize| !entries[..at].iter().any(|before| before.as_os_str() == entries[at].as_os_str());
    if (0..entries.len()).filter(|&at| is_another(at)).all(|at| is_good(&entries[at])) {
        return (path.to_owned(), true);
    }
    let kept = std::env::join_paths(entries.iter().filter(|entry| is_good(entry)));
    (kept.unwrap_or_default(), false)
}

/// Names on Windows are the same in every case.
pub fn is_usual(name: &str) -> bool {
    let same = |usual: &&str| if cfg!(windows) { usual.eq_ignore_ascii_case(name) } else { **usual == *name };
    USUAL.iter().any(same) || name.starts_with(USUAL_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_names_it_asks_for() {
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

    #[cfg(unix)]
    #[test]
    fn paths_that_depend_on_the_directory_are_taken_out() {
        for (path, clean) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/bin", "/bin"),
            ("/bin:", "/bin"),
            (":/bin", "/bin"),
            ("/usr/bin::/bin", "/usr/bin:/bin"),
            ("node_modules/.bin:../x:/bin", "/bin"),
            ("", ""),
        ] {
            let (kept, is_clean) = good_entries(OsStr::new(path), Scope::User, Path::new("/no/such/project"));
            assert_eq!((kept.to_str().unwrap(), is_clean), (clean, path == clean && !path.is_empty()), "{path}");
        }
    }
}
