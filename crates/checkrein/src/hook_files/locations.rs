//! Base directories of hook files.
//!
//! The location of managed files never depends on an environment variable.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use checkrein_dialects::config::PathBase;

/// Base directories in which hook files are searched: those of the process, or others for tests and sandboxes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Locations {
    /// Home directory of the user. Without one, files in it are not searched.
    pub home: Option<PathBuf>,
    /// Config directory of the user.
    pub config: Option<PathBuf>,
    /// Root directory in place of `/`.
    pub root: PathBuf,
    /// Environment variables, some of which name directories. They take precedence over those of the process.
    pub vars: Vec<(OsString, OsString)>,
    /// `true` if variables of the process apply too.
    of_process: bool,
    /// User id, besides 0, that may own managed files and their directories. `None`: the owner of the root directory.
    pub administrator: Option<u32>,
}

/// Directories of the process and its user.
impl Default for Locations {
    fn default() -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        // Neither depends on a variable: a project can set variables and must not move managed files.
        let (root, administrator) = (PathBuf::from("/"), Some(0));
        let place = Self { home, config: None, root, vars: Vec::new(), of_process: true, administrator };
        // The XDG specification ignores a relative path.
        let config = place.var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|config| config.is_absolute());
        Self { config: config.or_else(|| Some(place.home.as_ref()?.join(".config"))), ..place }
    }
}

impl Locations {
    /// Creates locations with this root directory, without a home directory and variables.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let (root, vars) = (root.into(), Vec::new());
        Self { home: None, config: None, root, vars, of_process: false, administrator: None }
    }

    /// Sets the user id, besides 0, that may own managed files.
    #[must_use]
    pub fn administrator(mut self, number: u32) -> Self {
        self.administrator = Some(number);
        self
    }

    /// Sets the home directory, and `.config` in it as the config directory.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        self.config = Some(home.join(".config"));
        self.home = Some(home);
        self
    }

    /// Sets the config directory.
    #[must_use]
    pub fn config(mut self, config: impl Into<PathBuf>) -> Self {
        self.config = Some(config.into());
        self
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

    /// Returns the directory that the first set variable names, or else one in the home directory.
    fn named(&self, names: &[&str], otherwise: &str, dir: &Path) -> Option<PathBuf> {
        match names.iter().find_map(|name| self.var(name)) {
            Some(named) => Some(dir.join(named)),
            None => self.home.as_ref().map(|home| home.join(otherwise)),
        }
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

/// Returns the nearest directory with `.git`, which is a directory or, in a worktree, a file.
pub fn repository(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// Without variables, which may be secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { home, config, root, vars: _, of_process: _, administrator } = self;
        let mut shown = f.debug_struct("Where");
        shown.field("home", home).field("config", config).field("root", root).field("administrator", administrator);
        shown.finish_non_exhaustive()
    }
}
