//! Where paths start.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use checkrein_dialects::config::PathBase;

/// Where the files of dialects are looked for: what the process knows of its user and his machine, or something else for
/// tests and sandboxes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Locations {
    /// The user's home directory. Without one, files there are not looked for.
    pub home: Option<PathBuf>,
    /// The user's directory for settings.
    pub config: Option<PathBuf>,
    /// What stands for `/`.
    pub root: PathBuf,
    /// Variables, of which some name directories. Of others the process's own count, if it is as the process has it.
    pub vars: Vec<(OsString, OsString)>,
    /// Whether the process's own variables count.
    of_process: bool,
    /// The number of the user, besides 0, who owns an administrator's files and the directories that they are in. `None`:
    /// whoever owns what stands for `/`.
    pub administrator: Option<u32>,
}

/// As the process has it.
impl Default for Locations {
    fn default() -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        // Neither depends on a variable: whoever sets those must not move what an administrator has set.
        let (root, administrator) = (PathBuf::from("/"), Some(0));
        let place = Self { home, config: None, root, vars: Vec::new(), of_process: true, administrator };
        // One that is not absolute is to be ignored, says the specification.
        let config = place.var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|config| config.is_absolute());
        Self { config: config.or_else(|| Some(place.home.as_ref()?.join(".config"))), ..place }
    }
}

impl Locations {
    /// No home, no variables, and this for `/`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let (root, vars) = (root.into(), Vec::new());
        Self { home: None, config: None, root, vars, of_process: false, administrator: None }
    }

    /// With this user, besides 0, for the owner of an administrator's files.
    #[must_use]
    pub fn administrator(mut self, number: u32) -> Self {
        self.administrator = Some(number);
        self
    }

    /// With this home, and `.config` in it for settings.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        self.config = Some(home.join(".config"));
        self.home = Some(home);
        self
    }

    /// With this directory for settings.
    #[must_use]
    pub fn config(mut self, config: impl Into<PathBuf>) -> Self {
        self.config = Some(config.into());
        self
    }

    /// With this variable.
    #[must_use]
    pub fn var_set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// A variable of the environment, or the value that a test has set.
    #[doc(hidden)]
    pub fn var(&self, name: &str) -> Option<OsString> {
        let found = self.vars.iter().rev().find(|(have, _)| have == name).map(|(_, value)| value.clone());
        found.or_else(|| std::env::var_os(name).filter(|_| self.of_process)).filter(|value| !value.is_empty())
    }

    /// A path with the home directory for `~`, from this directory if it is relative.
    pub(super) fn resolve(&self, path: &str, from: &Path) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => from.join(path),
        }
    }

    /// The directory that the first of these variables names which is set, else one of the home directory.
    fn named(&self, names: &[&str], otherwise: &str, dir: &Path) -> Option<PathBuf> {
        match names.iter().find_map(|name| self.var(name)) {
            Some(named) => Some(dir.join(named)),
            None => self.home.as_ref().map(|home| home.join(otherwise)),
        }
    }

    /// The directories that a path may start at, the nearest first. Empty: it is nowhere.
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
                    // What lies above a directory that is in no repository may be anybody's, as in `/tmp`.
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

/// The nearest directory that has `.git`, a directory or, in a worktree, a file.
pub fn repository(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// Values of variables may be secrets.
impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { home, config, root, vars: _, of_process: _, administrator } = self;
        let mut shown = f.debug_struct("Where");
        shown.field("home", home).field("config", config).field("root", root).field("administrator", administrator);
        shown.finish_non_exhaustive()
    }
}
