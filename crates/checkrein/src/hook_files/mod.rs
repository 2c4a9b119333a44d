//! Hook files: finds, reads, checks and merges the files of each dialect.
//!
//! Hosts pass [`Sources`] to an engine; the command-line program also loads them directly. A file never changes hooks or
//! settings of a wider scope.
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
//! // `Sources::discover` uses the locations of the current user.
//! let sources = Sources::discover_in(&native::DIALECT, &project, Locations::new(dir.path()).home(home));
//! let loaded = sources.load();
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.hooks[0].info.id, "guard");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Merging of files
//!
//! - Hooks of all files run; no file replaces another. The order is that of the files, then that within a file. Files of a
//!   dialect come in the order of its table. In checkrein's own dialect: the administrator's, the user's, the project's, and
//!   the user's for that project.
//! - Of equal hooks only one runs; the plan shows the others as duplicates. A hook of a wider
//!   [trust level](checkrein_core::TrustLevel) takes precedence over one of a repository, then the first.
//! - Settings of a file apply to files of its own dialect, and to those that they include. They never change anything of a
//!   wider scope ([`Scope::may_change`]). A setting without effect is reported.
//! - A file that is included several times is read with the widest scope.
//! - A file of the user that lies in the project belongs to the project, because a project can set the variables that locate
//!   the user's files.
//! - Hooks that a file disables stay in the list as [`Disabled`](checkrein_core::HookState::Disabled).
//! - Managed files of checkrein's own dialect come first and apply to all dialects, except with
//!   [`Sources::without_managed`]. Hooks that they forbid are [`Disabled`](checkrein_core::HookState::Disabled);
//!   [`HookSpec::disabled_by`] has the reason.
//! - Hooks of the project's files run only if they are approved: see [`trust`](crate::trust).
//! - A missing file is no error. A file that exists and cannot be read or parsed closes all gates that it could have.

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
mod overrides;
mod ownership;
mod plugin;
mod read;
mod recursion;
mod restrict;
mod self_protection;
mod symlinks;
mod user_dirs;

use std::fmt;
use std::path::PathBuf;

use checkrein_core::{Compat, EventFilter, HookState, Scope};
use checkrein_dialects::config::{AuditSettings, DecodeOptions, Diagnostic, WebhookSettings};
use checkrein_dialects::{Dialect, HookSpec};

use crate::real_path::real_path_or_same;
use crate::trust::{Review, Reviewed, Status, Trust, TrustError};

pub(crate) use approval::settings_of_user;
pub use effective_settings::Setting;
pub use env_skip::Skip;
pub use locations::Locations;
pub use locations::repository;
pub(crate) use locations::user_name;
pub use ownership::Ownership;
pub use user_dirs::{HookVars, UserDirError, UserDirs};

/// Sources of hooks. Each [load](Self::load) searches and reads the files again.
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
    /// `true` if the managed files of checkrein's own dialect come first.
    managed: bool,
    /// The agent that sent the event.
    caller: Option<&'static Dialect>,
    trust: Trust,
    /// `true` if explicit files need approval too.
    of_project: bool,
}

#[derive(Debug, Clone)]
enum Files {
    /// Files in the dialect's usual places, searched from a directory.
    Usual(PathBuf, Locations),
    /// Explicit files. Files that they include are searched from a directory.
    Named(Vec<PathBuf>, PathBuf, Locations),
    /// Files of a plugin in this directory.
    Plugin(PathBuf, Locations),
}

impl Files {
    /// Returns the directory from which files are searched, and the locations.
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
    /// All files of this dialect for an agent that was started in this directory.
    ///
    /// If the dialect has files in parent directories, they are searched up to the root of the repository. Outside a
    /// repository, only this directory is searched.
    pub fn discover(dialect: &'static Dialect, dir: impl Into<PathBuf>) -> Self {
        Self::discover_in(dialect, dir, Locations::default())
    }

    /// As [`discover`](Self::discover), with other locations of the user's and the administrator's files.
    pub fn discover_in(dialect: &'static Dialect, dir: impl Into<PathBuf>, place: Locations) -> Self {
        Self::new(dialect, Files::Usual(absolute(dir.into()), place))
    }

    /// These files of this dialect. A file without a known extension is read as JSON.
    ///
    /// They are treated as the user's own ([`Scope::User`]), because the caller chose them. Their settings take precedence
    /// over those of all files except managed ones. A missing file is reported.
    ///
    /// If one of them includes all files of another dialect, those are searched from the current directory.
    pub fn of_files<P: Into<PathBuf>>(dialect: &'static Dialect, paths: impl IntoIterator<Item = P>) -> Self {
        Self::of_files_in(dialect, paths, absolute(PathBuf::from(".")), Locations::default())
    }

    /// As [`of_files`](Self::of_files), with other locations of the files that they include.
    pub fn of_files_in<P: Into<PathBuf>>(
        dialect: &'static Dialect,
        paths: impl IntoIterator<Item = P>,
        dir: impl Into<PathBuf>,
        place: Locations,
    ) -> Self {
        let paths = paths.into_iter().map(|path| absolute(path.into())).collect();
        Self::new(dialect, Files::Named(paths, absolute(dir.into()), place))
    }

    /// The hooks of a plugin of this dialect's agent in this directory.
    ///
    /// Its hooks get the directory in the variable that the agent sets: `CLAUDE_PLUGIN_ROOT` in Claude Code. A dialect
    /// without plugins has no hooks here.
    pub fn plugin(dialect: &'static Dialect, root: impl Into<PathBuf>) -> Self {
        Self::new(dialect, Files::Plugin(absolute(root.into()), Locations::default()))
    }

    fn new(dialect: &'static Dialect, files: Files) -> Self {
        Self {
            parts: vec![SourceSet {
                dialect,
                files,
                options: DecodeOptions::default(),
                managed: true,
                caller: None,
                trust: Trust::default(),
                of_project: false,
            }],
        }
    }

    /// Ignores the managed files of checkrein's own dialect and their restrictions.
    ///
    /// For tools that read files without running hooks, such as a converter. An agent that uses this disables the guards of
    /// the machine.
    #[must_use]
    pub fn without_managed(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.managed = false);
        self
    }

    /// Selects the hooks of this agent in files with hooks of several agents.
    #[must_use]
    pub fn agent(mut self, name: &str) -> Self {
        for part in &mut self.parts {
            part.options.agent = Some(name.to_owned());
        }
        self
    }

    /// Loads only hooks that can match an event. Problems of other hooks are not reported.
    #[must_use]
    pub fn only(mut self, filter: &EventFilter) -> Self {
        for part in &mut self.parts {
            part.options.only = Some(filter.clone());
        }
        self
    }

    /// Sets the agent that sent the event. The agent runs the hooks of its own files itself, so includes skip those files,
    /// unless the include has `under_own_agent`.
    #[must_use]
    pub fn called_by(mut self, agent: &'static Dialect) -> Self {
        for part in &mut self.parts {
            part.caller = Some(agent);
        }
        self
    }

    /// Adds a dialect of the host, for `include` in files. A dialect of checkrein with the same name takes precedence.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        for part in &mut self.parts {
            part.options.dialects.push(dialect);
        }
        self
    }

    /// Sets the store of approvals for project hooks. Default: [`Trust::default`].
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers pass a temporary value, and each part needs a clone")]
    pub fn trust(mut self, trust: Trust) -> Self {
        for part in &mut self.parts {
            part.trust = trust.clone();
        }
        self
    }

    /// Treats explicit files as the project's own ([`Scope::Project`]): they need approval and cannot change the user's hooks.
    ///
    /// For paths that come from a project, and for a review before approval.
    #[must_use]
    pub fn as_of_project(mut self) -> Self {
        for part in &mut self.parts {
            part.of_project = true;
        }
        self
    }

    /// Returns the hooks that need approval, with the current content of their scripts.
    pub fn review(&self) -> Review {
        let loaded = self.load();
        Review::new(loaded.reviewed, loaded.diagnostics)
    }

    /// Revokes approvals of the project's hooks by file and id, including hooks that no longer exist. Returns the revoked ones.
    ///
    /// # Errors
    /// The store of approvals cannot be written, or other users can write it.
    pub fn revoke(&self, is_meant: impl Fn(&str, &str) -> bool) -> Result<Vec<(String, String)>, TrustError> {
        let mut revoked = Vec::new();
        for part in &self.parts {
            if let Files::Usual(dir, _) | Files::Named(_, dir, _) = &part.files {
                let dir = real_path_or_same(dir);
                revoked.extend(crate::trust::revoke(&part.trust, repository(&dir).unwrap_or(&dir), &is_meant)?);
            }
        }
        Ok(revoked)
    }

    /// Adds other sources after these.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.parts.extend(others.parts);
        self
    }

    /// Reads all files.
    pub fn load(&self) -> Loaded {
        load::load(&self.parts)
    }
}

/// Makes a path absolute, because the process can change its working directory later.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Result of loading all files.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The hooks, in order.
    pub hooks: Vec<HookSpec>,
    /// Problems in the files, and their effects.
    pub diagnostics: Vec<Diagnostic>,
    /// Handling of unsafe agent rules, if a file of the user or the administrator sets it.
    pub compat: Option<Compat>,
    /// `true` if environment variables may skip hooks under an agent.
    pub allow_skip: bool,
    /// `true` if agents may start sub-agents whose tools run without any hook.
    pub unguarded_subagents: bool,
    /// `true` if a rule may use the history of its session, also one for other events.
    pub uses_history: bool,
    /// `true` if a denied command may become one that prints the reason and fails, under agents that show no reasons.
    pub deny_by_command: bool,
    /// `true` if a call that hooks ask about waits for the user's approval, under agents that cannot ask.
    pub approvals_wait: bool,
    /// `true` if the decision log is on.
    pub log: bool,
    /// `true` if `checkrein hook` starts the resident process when it does not run.
    pub resident: bool,
    /// Endpoint that gets notifications about questions that wait for the user.
    pub approval_webhook: Option<WebhookSettings>,
    /// Settings of the audit log, if a file of the user or the administrator has some. Paths are resolved.
    pub audit: Option<AuditSettings>,
    /// Settings for all hooks that are in force: the administrator's in the order of files, then others.
    pub settings: Vec<Setting>,
    /// All files that were searched or read, in order.
    pub files: Vec<FileState>,
    /// Files whose hooks the calling agent runs itself. See [`Sources::called_by`].
    pub run_by_caller: Vec<PathBuf>,
    /// Paths to watch. A last component `*` means every file of the directory.
    pub followed: Vec<PathBuf>,
    /// Hooks that need approval, approved or not.
    pub(crate) reviewed: Vec<Reviewed>,
}

impl Loaded {
    /// Compares scripts with their approvals, and marks hooks with changed scripts as
    /// [`Changed`](checkrein_core::HookState::Changed). For output only: every run verifies its scripts anyway.
    pub fn verify_scripts(&mut self) {
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

/// State of a hook file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileState {
    /// Path of the file. For a directory whose files are all read, but that has none, the path of the directory.
    pub path: PathBuf,
    /// Scope of the file.
    pub scope: Scope,
    /// Name of the file's dialect.
    pub dialect: &'static str,
    /// Result of reading the file.
    pub status: FileStatus,
    /// Number of hooks, including those that cannot run.
    pub hooks: usize,
    /// Owner and permissions of a managed file that exists.
    pub ownership: Option<Ownership>,
    /// SHA-256 of the text in hexadecimal digits, if it was read.
    #[cfg(feature = "audit")]
    pub sha256: Option<String>,
    /// Hash that detects changes.
    hash: u64,
}

/// Result of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileStatus {
    /// The file was read.
    Found,
    /// The file does not exist.
    Missing,
    /// The file exists and cannot be read or parsed.
    Unreadable,
    /// The file is larger than the limit.
    TooLarge,
    /// The file is in a place for managed files, and other users can write it.
    InsecurePermissions,
}

impl FileStatus {
    /// Returns `true` if the file exists and its content is unknown.
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
