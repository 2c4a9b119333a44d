//! Hooks from files: where each dialect keeps them, read and merged.
//!
//! ```
//! use checkrein::dialects::agents::native;
//! use checkrein::hook_files::{Locations, Sources};
//! # let dir = tempfile::tempdir()?;
//! # let (home, project) = (dir.path().join("home"), dir.path().join("project"));
//! # std::fs::create_dir_all(project.join(".checkrein"))?;
//!
//! std::fs::write(
//!     project.join(".checkrein/hooks.yaml"),
//!     "hooks: [{id: guard, event: PreToolUse, matcher: Bash, command: ./guard.sh}]",
//! )?;
//! // `Sources::discover` looks where the process's own user keeps files.
//! let sources = Sources::discover_in(&native::DIALECT, &project, Locations::new(dir.path()).home(home));
//! let loaded = sources.load();
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.hooks[0].info.id, "guard");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What comes of many files
//!
//! - Hooks of all files run; none takes another's place. Their order is that of the files, and a file's own order. Files
//!   of a dialect come in the order of its table: for checkrein's own the administrator's, the user's, the project's, the
//!   user's for that project.
//! - Of two hooks that are the same, one runs: the plan shows the other one. A hook of a wider
//!   [trust level](checkrein_core::TrustLevel) comes before one of a repository, then the first.
//! - What a file says about others applies to files of its own dialect, and to those that they include. It never changes
//!   anything of a wider scope ([`Scope::may_change`]): what does not apply is reported.
//! - A file that several others name is read for the one with the widest scope.
//! - A file of the user that lies in the project is the project's: a project can set the variables that say where the
//!   user's files are.
//! - Hooks that are switched off by a file stay in the list, [`Disabled`](checkrein_core::HookState::Disabled).
//! - checkrein's own files of an administrator come first, whatever else is read ([`Sources::without_managed`] aside). What
//!   they forbid is [`Disabled`](checkrein_core::HookState::Disabled), and [`HookSpec::off_by`] says why.
//! - Hooks of the project's files run only if they are approved: see [`trust`](crate::trust).
//! - A file that is not there is fine. One that is there and cannot be read closes all gates that it could have, and so
//!   does one that makes no sense as a whole.

mod approval;
mod context;
mod effective_settings;
mod env_skip;
mod find;
mod include;
mod load;
mod loaded_file;
mod locations;
mod managed_guards;
mod merge;
mod ownership;
mod plugin;
mod read;
mod recursion;
mod restrict;
mod self_protection;
mod symlinks;

use std::fmt;
use std::path::PathBuf;

use checkrein_core::{Compat, EventFilter, HookState, Scope};
use checkrein_dialects::config::{AuditSettings, DecodeOptions, Diagnostic};
use checkrein_dialects::{Dialect, HookSpec};

use crate::real_path::real_path_or_same;
use crate::trust::{Review, Reviewed, Status, Trust, TrustError};

pub(crate) use approval::settings_of_user;
pub use effective_settings::Setting;
pub use env_skip::Skip;
pub use locations::Locations;
pub use locations::repository;
pub use ownership::Ownership;

/// Where hooks come from. They are looked for when they are [loaded](Self::load), each time anew.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    parts: Vec<SourceSet>,
}

/// Files of one dialect.
#[derive(Clone)]
struct SourceSet {
    dialect: &'static Dialect,
    files: Files,
    options: DecodeOptions,
    /// Whether an administrator's files come first.
    managed: bool,
    /// The agent that asks.
    caller: Option<&'static Dialect>,
    trust: Trust,
    /// Whether files that are named need approval as well.
    of_project: bool,
}

#[derive(Debug, Clone)]
enum Files {
    /// Where the dialect keeps them, seen from a directory.
    Usual(PathBuf, Locations),
    /// These; what they include is looked for from a directory.
    Named(Vec<PathBuf>, PathBuf, Locations),
    /// Those of a plugin in this directory.
    Plugin(PathBuf, Locations),
}

impl Files {
    /// The directory that files are looked for from, and the places of others.
    fn place(&self) -> (&std::path::Path, &Locations) {
        match self {
            Self::Usual(dir, place) | Self::Named(_, dir, place) | Self::Plugin(dir, place) => (dir, place),
        }
    }
}

impl fmt::Debug for SourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.dialect.name).field(&self.files).finish()
    }
}

impl Sources {
    /// All files that this dialect has for an agent that was started in this directory.
    ///
    /// Files of the project are looked for upwards from there if the dialect does so, up to the root of the repository; in
    /// no repository, only there.
    pub fn discover(dialect: &'static Dialect, dir: impl Into<PathBuf>) -> Self {
        Self::discover_in(dialect, dir, Locations::default())
    }

    /// As [`discover`](Self::discover), with other places for the user's and the administrator's files.
    pub fn discover_in(dialect: &'static Dialect, dir: impl Into<PathBuf>, place: Locations) -> Self {
        Self::of(dialect, Files::Usual(absolute(dir.into()), place))
    }

    /// These files, which are in this dialect. JSON if their extension does not say otherwise.
    ///
    /// They are taken for the user's own ([`Scope::User`]): who names them has read them. What they say about all files
    /// counts more than what any others say, but for the administrator's. One that is not there is reported.
    ///
    /// If one of them includes all files of another dialect, those are looked for from the directory that the process is
    /// in now.
    pub fn of_files<P: Into<PathBuf>>(dialect: &'static Dialect, paths: impl IntoIterator<Item = P>) -> Self {
        Self::of_files_in(dialect, paths, absolute(PathBuf::from(".")), Locations::default())
    }

    /// As [`of_files`](Self::of_files), with other places for the files that they include.
    pub fn of_files_in<P: Into<PathBuf>>(
        dialect: &'static Dialect,
        paths: impl IntoIterator<Item = P>,
        dir: impl Into<PathBuf>,
        place: Locations,
    ) -> Self {
        let paths = paths.into_iter().map(|path| absolute(path.into())).collect();
        Self::of(dialect, Files::Named(paths, absolute(dir.into()), place))
    }

    /// The hooks of a plugin of this dialect's agent, which is in this directory. Its hooks know where that is: by the
    /// variable that the agent sets, in Claude Code `CLAUDE_PLUGIN_ROOT`. A dialect without plugins has none.
    pub fn plugin(dialect: &'static Dialect, root: impl Into<PathBuf>) -> Self {
        Self::of(dialect, Files::Plugin(absolute(root.into()), Locations::default()))
    }

    fn of(dialect: &'static Dialect, files: Files) -> Self {
        Self {
            parts: vec![SourceSet {
                dialect,
                files,
                options: DecodeOptions::default(),
                managed: true,
                caller: None,
                trust: Trust::usual(),
                of_project: false,
            }],
        }
    }

    /// Leaves out checkrein's own files of an administrator, and all that they demand. For who reads files and does not let
    /// their hooks decide anything, such as a converter; an agent that does this takes the machine's guards down.
    #[must_use]
    pub fn without_managed(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.managed = false);
        self
    }

    /// Takes the hooks of this agent, where files have those of several.
    #[must_use]
    pub fn agent(mut self, name: &str) -> Self {
        for part in &mut self.parts {
            part.options.agent = Some(name.to_owned());
        }
        self
    }

    /// Takes only the hooks that may run at an event, and spends no time on others: what is wrong with those is not told.
    #[must_use]
    pub fn only(mut self, filter: &EventFilter) -> Self {
        for part in &mut self.parts {
            part.options.only = Some(filter.clone());
        }
        self
    }

    /// For an event that this agent has sent. It runs the hooks of its own files itself, so that those are passed over where
    /// others include them, unless the include says otherwise.
    #[must_use]
    pub fn called_by(mut self, agent: &'static Dialect) -> Self {
        for part in &mut self.parts {
            part.caller = Some(agent);
        }
        self
    }

    /// Lets files name this dialect of the host, as in `include`. A dialect of checkrein's with the same name takes precedence.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        for part in &mut self.parts {
            part.options.dialects.push(dialect);
        }
        self
    }

    /// Lets hooks of projects run that are approved there. If nothing is said: [`Trust::usual`].
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "reads better where it is called, and is cloned once for each part"
    )]
    pub fn trust(mut self, trust: Trust) -> Self {
        for part in &mut self.parts {
            part.trust = trust.clone();
        }
        self
    }

    /// Takes files that are named for the project's own ([`Scope::Project`]): they need approval, and change nothing of the
    /// user's. For names that come from a project, and for a review of files before approval.
    #[must_use]
    pub fn as_of_project(mut self) -> Self {
        for part in &mut self.parts {
            part.of_project = true;
        }
        self
    }

    /// The hooks that need approval, with their scripts, as they are now.
    pub fn review(&self) -> Review {
        let loaded = self.load();
        Review::of(loaded.reviewed, loaded.diagnostics)
    }

    /// Takes back approvals of the project's hooks, by file and name: also of those that are not there any more. Gives those
    /// that are gone.
    ///
    /// # Errors
    /// A place for approvals that cannot be written or believed.
    pub fn revoke(&self, is_meant: impl Fn(&str, &str) -> bool) -> Result<Vec<(String, String)>, TrustError> {
        let mut gone = Vec::new();
        for part in &self.parts {
            if let Files::Usual(dir, _) | Files::Named(_, dir, _) = &part.files {
                let dir = real_path_or_same(dir);
                gone.extend(crate::trust::revoke(&part.trust, repository(&dir).unwrap_or(&dir), &is_meant)?);
            }
        }
        Ok(gone)
    }

    /// These, and behind them others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.parts.extend(others.parts);
        self
    }

    /// Reads all files there are now.
    pub fn load(&self) -> Loaded {
        load::load(&self.parts)
    }
}

/// Later changes of the process's directory must not move files.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// What all files come to.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The hooks, in order.
    pub hooks: Vec<HookSpec>,
    /// What is wrong with the files, and what came of that.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether an agent's rules are followed where they are not safe, if a file of the user or an administrator says so.
    pub compat: Option<Compat>,
    /// Whether the environment may say that hooks are skipped under an agent.
    pub allow_skip: bool,
    /// Where what hooks decide is written down, if a file of the user or an administrator says so. Paths are resolved.
    pub audit: Option<AuditSettings>,
    /// What files say about all hooks, and counts: the administrator's, in the order of files, and what else is in force.
    pub settings: Vec<Setting>,
    /// The files that were looked at, in order.
    pub files: Vec<FileState>,
    /// Files whose hooks the agent that asks runs itself. See [`Sources::called_by`].
    pub passed_over: Vec<PathBuf>,
    /// All paths at which a change may matter; a last part `*` stands for every file of the directory.
    pub followed: Vec<PathBuf>,
    /// The hooks that need approval, whether they have it or not.
    pub(crate) reviewed: Vec<Reviewed>,
}

impl Loaded {
    /// Looks whether scripts of hooks that were approved are what was approved, and says so in the
    /// [state](checkrein_core::HookState::Changed) of those whose are not. For showing: what runs is looked at whenever it
    /// runs.
    pub fn look_at_scripts(&mut self) {
        for reviewed in &mut self.reviewed {
            reviewed.verify_scripts();
            let Status::Changed(what) = &reviewed.status else { continue };
            let is_meant = |spec: &&mut HookSpec| spec.state == HookState::Ready && *spec.info == *reviewed.hook;
            for spec in self.hooks.iter_mut().filter(is_meant) {
                spec.state = HookState::Changed(what.clone());
            }
        }
    }
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileState {
    /// The file. A directory, if the dialect has all files of it and there is none.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// The name of the dialect that it is read in.
    pub dialect: &'static str,
    /// What came of it.
    pub status: FileStatus,
    /// How many hooks it has, those included that cannot run.
    pub hooks: usize,
    /// Whose it is and who may write it, if it is an administrator's and is there.
    pub ownership: Option<Ownership>,
    /// The SHA-256 of its text, in hexadecimal digits, if it was read.
    #[cfg(feature = "audit")]
    pub sha256: Option<String>,
    /// Tells apart what it said before from what it says now.
    hash: u64,
}

/// What came of looking at a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileStatus {
    /// It was read.
    Found,
    /// There is none.
    Missing,
    /// It is there, and nothing of it can be read.
    Unreadable,
    /// It is larger than what is read.
    TooLarge,
    /// It is where an administrator's files are, and others may write it.
    InsecurePermissions,
}

impl FileStatus {
    /// Whether it is there, and nothing of it is known.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Unreadable | Self::TooLarge | Self::InsecurePermissions)
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Found => "found",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too large",
            Self::InsecurePermissions => "insecure permissions",
        })
    }
}
