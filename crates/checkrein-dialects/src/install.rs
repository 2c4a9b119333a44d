//! [`InstallTable`]: the settings file of an agent, and facts for the entry that makes the agent call checkrein.
//!
//! The tables of agents contain it; `checkrein install`, `uninstall` and `status` use it. This module has only data: the
//! code that edits settings is in `checkrein-tools`.

use crate::config::PathBase;
use crate::table::Dialect;

/// Settings of an agent that make it call a hook program.
///
/// Users of an agent without this table add the entry by hand.
#[derive(Debug, Clone, Copy)]
pub struct InstallTable {
    /// Names of the agent's program. Empty: it has no program with a known name.
    pub programs: &'static [&'static str],
    /// Directories that exist if the agent is installed.
    pub signs: &'static [SettingsPath],
    /// Candidates for the user's settings file: the first that exists is used, or else the last. If hooks of the dialect are
    /// program files, their directory.
    pub user: &'static [SettingsPath],
    /// Candidates for the settings file of a project, chosen in the same way.
    pub project: &'static [SettingsPath],
    /// Other dialect that the entry is written in. `None`: the agent's own.
    pub through: Option<&'static Dialect>,
    /// First version of the agent that supports the key for blocking on failures, if older versions ignore that key.
    pub switch_since: Option<&'static str>,
    /// Steps that the user must do after the installation.
    pub then: &'static [&'static str],
}

/// A path of a settings file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsPath {
    /// Start of the path.
    pub base: PathBase,
    /// Path after the start.
    pub path: &'static str,
}

impl SettingsPath {
    /// Creates a path.
    pub const fn new(base: PathBase, path: &'static str) -> Self {
        Self { base, path }
    }
}

impl InstallTable {
    /// An agent with files for the user and for projects.
    pub(crate) const fn new(
        programs: &'static [&'static str],
        signs: &'static [SettingsPath],
        user: &'static [SettingsPath],
        project: &'static [SettingsPath],
    ) -> Self {
        Self { programs, signs, user, project, through: None, switch_since: None, then: &[] }
    }

    /// Adds further steps for the user.
    pub(crate) const fn then(mut self, then: &'static [&'static str]) -> Self {
        self.then = then;
        self
    }

    /// Sets the first version with the key that makes failures block.
    pub(crate) const fn switch_since(mut self, version: &'static str) -> Self {
        self.switch_since = Some(version);
        self
    }

    /// Sets the dialect of the entry.
    pub(crate) const fn through(mut self, dialect: &'static Dialect) -> Self {
        self.through = Some(dialect);
        self
    }
}
