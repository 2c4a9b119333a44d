//! Base directories of hook files.
//!
//! The location of managed files never depends on an environment variable.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use checkrein_dialects::config::PathBase;

use super::user_dirs::{self, CONFIG, STATE, is_same};

/// Base directories in which hook files are searched: those of the process, or others for tests and sandboxes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Locations {
    /// Home directory of the user. Without one, files in it are not searched.
    pub home: Option<PathBuf>,
    /// Config directory of the user.
    pub config: Option<PathBuf>,
    /// Directory for state of the user, such as approvals.
    pub state: Option<PathBuf>,
    /// Root directory in place of `/`.
    pub root: PathBuf,
    /// Environment variables, some of which name directories. They take precedence over those of the process.
    pub vars: Vec<(OsString, OsString)>,
    /// `true` if variables of the process apply too.
    of_process: bool,
    /// `true` if variables may name directories of the user. `false` if a project may have set them.
    trusts_variables: bool,
    /// `true` if the home directory is the user's, also if an agent starts in it: the caller named it, or it is that of a person
    /// whose account has no entry. Otherwise a project could have set `HOME` to itself.
    is_home_known: bool,
    /// User id, besides 0, that may own managed files and their directories. `None`: the owner of the root directory.
    pub administrator: Option<u32>,
}

/// Directories of the process and its user.
impl Default for Locations {
    fn default() -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        // Neither depends on a variable: a project can set variables and must not move managed files.
        let (root, administrator) = (PathBuf::from("/"), Some(0));
        let has_account = checkrein_process::user_home().is_some();
        let is_home_known = !has_account && home.as_deref().is_some_and(user_dirs::is_home_of_user);
        let place = Self { home, root, administrator, is_home_known, ..Self::new("/").variables_of_process() };
        // The XDG specification ignores a relative path.
        let named = |name: &str| place.var(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
        let in_home = |usual: &str| Some(place.home.as_ref()?.join(usual));
        let config = named("XDG_CONFIG_HOME").or_else(|| in_home(CONFIG));
        let state = named("XDG_STATE_HOME").or_else(|| in_home(STATE));
        Self { config, state, ..place }
    }
}

impl Locations {
    /// Creates locations with this root directory, without a home directory and variables.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let (root, vars) = (root.into(), Vec::new());
        Self {
            home: None,
            config: None,
            state: None,
            root,
            vars,
            of_process: false,
            trusts_variables: true,
            is_home_known: false,
            administrator: None,
        }
    }

    /// Adds the variables of the process.
    pub(super) fn variables_of_process(mut self) -> Self {
        self.of_process = true;
        self
    }

    /// Treats files at places that variables name as files of the project. The usual places are always searched.
    pub(super) fn distrust_variables(mut self) -> Self {
        self.trusts_variables = false;
        self
    }

    /// Marks the home directory as one that the caller named and checked.
    pub(super) fn with_known_home(mut self) -> Self {
        self.is_home_known = true;
        self
    }

    /// Returns the home directory, if no project can have named it.
    pub(crate) fn known_home(&self) -> Option<&Path> {
        self.home.as_deref().filter(|_| self.is_home_known)
    }

    /// Returns `true` if variables may name directories of the user.
    pub fn trusts_variables(&self) -> bool {
        self.trusts_variables
    }

    /// Sets the user id, besides 0, that may own managed files.
    #[must_use]
    pub fn administrator(mut self, number: u32) -> Self {
        self.administrator = Some(number);
        self
    }

    /// Sets the home directory, and the usual directories in it for config files and state.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        self.config = Some(home.join(CONFIG));
        self.state = Some(home.join(STATE));
        self.home = Some(home);
        self
    }

    /// Sets the config directory.
    #[must_use]
    pub fn config(mut self, config: impl Into<PathBuf>) -> Self {
        self.config = Some(config.into());
        self
    }

    /// Sets the directory for state.
    #[must_use]
    pub fn state(mut self, state: impl Into<PathBuf>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Returns checkrein's own directory for state. `None` if the user has no home directory.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("checkrein"))
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn var_set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// Returns an environment variable that is not empty.
    #[doc(hidden)]
    pub fn var(&self, name: &str) -> Option<OsString> {
        let found = self.vars.iter().rev().find(|(have, _)| have == name).map(|(_, value)| value.clone());
        found.or_else(|| std::env::var_os(name).filter(|_| self.of_process)).filter(|value| !value.is_empty())
    }

    /// Resolves `~/` and relative paths, which start at `from`.
    pub(super) fn resolve(&self, path: &str, from: &Path) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => from.join(path),
        }
    }

    /// Resolves the path of an audit log, in which `%u` is the name of the user and `%%` a percent sign.
    pub(super) fn resolve_log(&self, path: &str, from: &Path) -> PathBuf {
        self.resolve(&with_user_name(path, &user_name()), from)
    }

    /// Returns the directory that the first set variable names, or else one in the home directory. Variables that are not
    /// trusted are ignored.
    fn named(&self, names: &[&str], otherwise: &str, dir: &Path) -> Option<PathBuf> {
        match names.iter().find_map(|name| self.var(name)).filter(|_| self.trusts_variables) {
            Some(named) => Some(dir.join(named)),
            None => self.home.as_ref().map(|home| home.join(otherwise)),
        }
    }

    /// Returns the directory that untrusted variables name as a base, and the name of the variable. `None` if it is the same as
    /// the usual one, or if variables are trusted.
    pub(super) fn moved_base(&self, base: PathBase, dir: &Path) -> Option<(&'static str, PathBuf)> {
        if self.trusts_variables {
            return None;
        }
        let home = || Some(("HOME", PathBuf::from(self.var("HOME")?)));
        let in_home = |usual: &str| home().map(|(name, home)| (name, home.join(usual)));
        let (name, moved) = match base {
            PathBase::Home => home()?,
            PathBase::Config => match self.var("XDG_CONFIG_HOME") {
                Some(config) => ("XDG_CONFIG_HOME", PathBuf::from(config)),
                None => in_home(CONFIG)?,
            },
            PathBase::Variable(..) | PathBase::FirstVariable(..) => {
                let (names, usual) = base.variables();
                let set = names.iter().find_map(|name| Some((*name, dir.join(self.var(name)?))));
                set.or_else(|| in_home(usual))?
            }
            PathBase::Root | PathBase::Project | PathBase::Repository | PathBase::Upwards { .. } => return None,
        };
        let usual = self.bases(base, dir).into_iter().next();
        (moved.is_absolute() && !is_same(usual.as_deref(), Some(&moved))).then_some((name, moved))
    }

    /// Returns the base directories of a path, nearest first. Empty if there is none.
    pub fn bases(&self, base: PathBase, dir: &Path) -> Vec<PathBuf> {
        let only = |path: Option<PathBuf>| path.into_iter().collect();
        match base {
            PathBase::Root => vec![self.root.clone()],
            PathBase::Home => only(self.home.clone()),
            PathBase::Config => only(self.config.clone()),
            PathBase::Variable(name, otherwise) => only(self.named(&[name], otherwise, dir)),
            PathBase::FirstVariable(names, otherwise) => only(self.named(names, otherwise, dir)),
            PathBase::Project => vec![dir.to_owned()],
            PathBase::Repository => vec![repository(dir).unwrap_or(dir).to_owned()],
            PathBase::Upwards { steps, within_repository } => {
                let last = match (within_repository, repository(dir)) {
                    (false, _) => None,
                    (true, Some(root)) => Some(root),
                    // Outside a repository, parent directories may belong to other users, as in `/tmp`.
                    (true, None) => Some(dir),
                };
                let mut dirs = Vec::new();
                for above in dir.ancestors().take(steps.saturating_add(1)) {
                    dirs.push(above.to_owned());
                    if Some(above) == last {
                        break;
                    }
                }
                dirs
            }
        }
    }
}

/// Replaces `%u` with a name and `%%` with a percent sign. Other texts after a percent sign stay.
fn with_user_name(path: &str, name: &str) -> String {
    let mut result = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        let (text, length) = match after.chars().next() {
            Some('u') => (name, 1),
            Some('%') => ("%", 1),
            _ => ("%", 0),
        };
        result.push_str(before);
        result.push_str(text);
        rest = &after[length..];
    }
    result + rest
}

/// Name of the user in the account database, or else the user id. Always a single component of a path.
pub fn user_name() -> String {
    let is_component = |name: &String| !name.contains(['/', '\\']) && !["", ".", ".."].contains(&name.as_str());
    let named = checkrein_process::user_name().and_then(|name| name.into_string().ok()).filter(is_component);
    #[cfg(unix)]
    let unknown = || rustix::process::getuid().as_raw().to_string();
    #[cfg(not(unix))]
    let unknown = || "user".to_owned();
    named.unwrap_or_else(unknown)
}

/// Returns the nearest directory with `.git`, which is a directory or, in a worktree, a file.
pub fn repository(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// Without variables, which may be secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            home,
            config,
            state,
            root,
            vars: _,
            of_process: _,
            trusts_variables,
            is_home_known: _,
            administrator,
        } = self;
        let mut shown = f.debug_struct("Locations");
        shown.field("home", home).field("config", config).field("state", state).field("root", root);
        shown.field("trusts_variables", trusts_variables).field("administrator", administrator);
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_a_log_path_are_replaced() {
        for (path, resolved) in [
            ("/var/log/%u.jsonl", "/var/log/ann.jsonl"),
            ("/var/log/%u/%u-%%u.jsonl", "/var/log/ann/ann-%u.jsonl"),
            ("100%", "100%"),
            ("%ä%", "%ä%"),
            ("", ""),
        ] {
            assert_eq!(with_user_name(path, "ann"), resolved);
        }
    }
}
