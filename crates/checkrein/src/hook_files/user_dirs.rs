//! Directories of the user, for programs that cannot trust their environment variables.
//!
//! A project's settings can set variables for an agent, and so for `checkrein hook`. [`UserDirs::locations`] therefore takes the
//! home directory from the account database or from the caller. Commands that a person types use
//! [`Locations::default`], which believes variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::locations::{Locations, repository};

/// Directories of the user that the caller knows from a source that no project can change.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UserDirs {
    /// Home directory. `None`: that of the account database.
    pub home: Option<PathBuf>,
    /// Directory for config files. `None`: `.config` in the home directory.
    pub config: Option<PathBuf>,
    /// Directory for state. `None`: `.local/state` in the home directory.
    pub state: Option<PathBuf>,
}

/// Reason why a directory cannot be used as one of the user's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UserDirError {
    /// The account database has no entry for the user, and `HOME` is not set.
    #[error(
        "the home directory is unknown: the account database has no entry for this user and HOME is not set; name it \
         with `checkrein hook AGENT --home DIR`"
    )]
    Unknown,
    /// The path is relative.
    #[error("{} is not an absolute path; name the directory with its full path", .0.display())]
    Relative(PathBuf),
    /// The directory cannot be read.
    #[error("cannot use {} as a directory of the user: {why}", .path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Error of the system.
        why: String,
    },
    /// The directory belongs to another user.
    #[error(
        "{} belongs to another user (uid {owner}), so its hooks are not trusted; name your own directory with \
         `checkrein hook AGENT --home DIR`",
        .path.display()
    )]
    OtherOwner {
        /// The directory.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Other users can write to the directory.
    #[error(
        "{path} is writable by other users (mode {mode:04o}), so its hooks are not trusted; run `chmod go-w {path}`, or \
         name another directory with `checkrein hook AGENT --home DIR`",
        path = .path.display()
    )]
    Writable {
        /// The directory.
        path: PathBuf,
        /// Mode of the directory.
        mode: u32,
    },
    /// The directory is inside of a git work tree, so a repository may have written its files.
    #[error(
        "{} is inside of the git work tree {}, so its hooks are not trusted as yours; name a directory outside of it \
         with `checkrein hook AGENT --home DIR`",
        .path.display(),
        .tree.display()
    )]
    InWorkTree {
        /// The directory.
        path: PathBuf,
        /// Root of the work tree.
        tree: PathBuf,
    },
}

impl UserDirs {
    /// Returns directories with this home directory.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets the directory for config files.
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

    /// Returns the directories of these locations that differ from those that the account database implies. A caller that does not
    /// trust variables must get them in another way.
    pub fn differing(place: &Locations) -> Self {
        let account = checkrein_process::user_home();
        let home = place.home.clone().filter(|home| !is_same(Some(home), account.as_deref()));
        let base = place.home.as_deref();
        let differs = |dir: &Option<PathBuf>, usual: &str| {
            let usual = base.map(|home| home.join(usual));
            dir.clone().filter(|dir| !is_same(Some(dir), usual.as_deref()))
        };
        Self { home, config: differs(&place.config, CONFIG), state: differs(&place.state, STATE) }
    }

    /// Options of `checkrein hook` with their directories, in the order in which they are written.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [("--home", &self.home), ("--config-home", &self.config), ("--state-home", &self.state)];
        all.into_iter().filter_map(|(option, dir)| Some((option, dir.as_deref()?)))
    }

    /// Sets the directory of an option. Returns `false` if the option is none of [`options`](Self::options).
    pub fn set(&mut self, option: &str, dir: impl Into<PathBuf>) -> bool {
        let field = match option {
            "--home" => &mut self.home,
            "--config-home" => &mut self.config,
            "--state-home" => &mut self.state,
            _ => return false,
        };
        *field = Some(dir.into());
        true
    }

    /// Returns `true` if no directory is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the locations of a user whose environment variables may come from a project.
    ///
    /// # Errors
    /// A directory that another user or a repository can write, or no home directory at all.
    pub fn locations(&self) -> Result<Locations, UserDirError> {
        let (home, checks) = match (&self.home, checkrein_process::user_home()) {
            (Some(home), _) => (home.clone(), Checks::All),
            (None, Some(home)) => (home, Checks::Permissions),
            (None, None) => {
                let variable = std::env::var_os("HOME").filter(|home| !home.is_empty());
                (variable.map(PathBuf::from).ok_or(UserDirError::Unknown)?, Checks::All)
            }
        };
        check(&home, checks)?;
        if let Some(config) = &self.config {
            check(config, Checks::All)?;
        }
        if let Some(state) = &self.state {
            check(existing_part(state), Checks::All)?;
        }
        let mut place = Locations::new("/").administrator(0).home(home).variables_of_process().distrust_variables();
        if self.home.is_some() {
            place = place.with_known_home();
        }
        if let Some(config) = &self.config {
            place = place.config(config);
        }
        if let Some(state) = &self.state {
            place = place.state(state);
        }
        Ok(place)
    }
}

/// Config directory in a home directory.
pub(super) const CONFIG: &str = ".config";

/// State directory in a home directory.
pub(super) const STATE: &str = ".local/state";

/// Checks of a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checks {
    /// Owner and mode. For a home directory of the account database, which may contain a repository of the user.
    Permissions,
    /// Also the position: the directory must not be in a work tree.
    All,
}

/// `true` if no other user and no repository can write this home directory.
pub(super) fn is_home_of_user(dir: &Path) -> bool {
    check(dir, Checks::All).is_ok()
}

/// Checks that no other user and no repository can write a directory of the user. A missing directory passes: it has no files.
fn check(dir: &Path, checks: Checks) -> Result<(), UserDirError> {
    if !dir.is_absolute() {
        return Err(UserDirError::Relative(dir.to_owned()));
    }
    let real = match dir.canonicalize() {
        Ok(real) => real,
        Err(error) if super::find::is_missing(&error) && checks == Checks::Permissions => return Ok(()),
        Err(error) => return Err(UserDirError::Unreadable { path: dir.to_owned(), why: error.to_string() }),
    };
    permissions(&real)?;
    match repository(&real) {
        Some(tree) if checks == Checks::All => {
            Err(UserDirError::InWorkTree { path: dir.to_owned(), tree: tree.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Returns the directory, or the nearest one above it that exists. The first write of state creates the others, for the user only.
fn existing_part(dir: &Path) -> &Path {
    dir.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(dir)
}

#[cfg(unix)]
fn permissions(dir: &Path) -> Result<(), UserDirError> {
    use std::os::unix::fs::MetadataExt as _;

    let unreadable = |error: std::io::Error| UserDirError::Unreadable { path: dir.to_owned(), why: error.to_string() };
    let metadata = dir.metadata().map_err(unreadable)?;
    if !metadata.is_dir() {
        return Err(UserDirError::Unreadable { path: dir.to_owned(), why: "it is not a directory".to_owned() });
    }
    let owner = metadata.uid();
    // Root is trusted with everything, and owns the home directories of service accounts.
    if owner != rustix::process::getuid().as_raw() && owner != 0 {
        return Err(UserDirError::OtherOwner { path: dir.to_owned(), owner });
    }
    let mode = metadata.mode() & 0o7777;
    // A group with the number of its only user is private. Some systems let it write the home directory.
    let has_private_group = metadata.gid() == owner;
    if mode & 0o002 != 0 || (mode & 0o020 != 0 && !has_private_group) {
        return Err(UserDirError::Writable { path: dir.to_owned(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> Result<(), UserDirError> {
    Ok(())
}

/// `true` if both paths are the same directory, or are equal.
pub(super) fn is_same(one: Option<&Path>, other: Option<&Path>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one == other };
    one == other || one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// A variable that names a directory, with its usual value in the home directory.
pub(super) fn location_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    const OF_SYSTEM: [(&str, &str); 4] = [
        ("XDG_CONFIG_HOME", CONFIG),
        ("XDG_STATE_HOME", STATE),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CACHE_HOME", ".cache"),
    ];
    let of_agents = checkrein_dialects::ALL.iter().flat_map(|dialect| {
        let files = dialect.config.files.iter().map(|row| &row.base);
        let install = dialect.install.into_iter();
        let paths = install.flat_map(|table| table.user.iter().chain(table.project).map(|path| &path.base));
        files.chain(paths).flat_map(|base| {
            let (names, usual) = base.variables();
            names.iter().map(move |name| (*name, usual))
        })
    });
    OF_SYSTEM.into_iter().chain(of_agents)
}

/// Variables of an agent, as hooks of the user may see them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HookVars {
    /// The variables.
    pub vars: Vec<(OsString, OsString)>,
    /// Names of the variables that were replaced, because they name other directories than the user's.
    pub replaced: Vec<String>,
}

impl HookVars {
    /// Replaces `HOME` and other variables that name directories, if they disagree with the user's directories.
    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>, place: &Locations) -> Self {
        let mut result = Self { vars: vars.into_iter().collect(), replaced: Vec::new() };
        if place.trusts_variables() {
            return result;
        }
        let Some(home) = &place.home else { return result };
        let usual = |name: &str| match name {
            "HOME" => Some(home.clone()),
            "XDG_CONFIG_HOME" => place.config.clone(),
            "XDG_STATE_HOME" => place.state.clone(),
            _ => location_variables().find(|(own, _)| *own == name).map(|(_, usual)| home.join(usual)),
        };
        for (name, value) in &mut result.vars {
            let Some(name) = name.to_str() else { continue };
            if let Some(usual) = usual(name).filter(|usual| !is_same(Some(Path::new(&*value)), Some(usual))) {
                *value = usual.into();
                result.replaced.push(name.to_owned());
            }
        }
        if !result.vars.iter().any(|(name, _)| name == "HOME") {
            result.vars.push(("HOME".into(), home.into()));
        }
        result
    }
}
