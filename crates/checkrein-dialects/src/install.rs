//! Locations of the settings entry that makes an agent call checkrein. `checkrein install` uses them.

use crate::config::PathBase;
use crate::table::Dialect;

/// Settings of an agent that make it call a hook program.
///
/// Users of an agent without this table add the entry by hand.
#[derive(Debug, Clone, Copy)]
pub struct InstallTable {
    /// Names of its program. Empty: it has no program with a known name.
    pub programs: &'static [&'static str],
    /// Directories that exist if the agent is installed.
    pub signs: &'static [SettingsPath],
    /// File of the user, or the directory of programs if the dialect's files are programs. The first existing one is used, or
    /// else the last.
    pub user: &'static [SettingsPath],
    /// File of a project, likewise.
    pub project: &'static [SettingsPath],
    /// Dialect of the entry. `None`: this one.
    pub through: Option<&'static Dialect>,
    /// First version with the key that makes failures of hooks block, if older versions ignore it.
    pub switch_since: Option<&'static str>,
    /// Further steps for the user.
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
