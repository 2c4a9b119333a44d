//! Where the entry goes that puts checkrein in front of an agent.

use crate::config::PathBase;
use crate::table::Dialect;

/// How an agent is told to call a program as its hook, for who writes its settings.
///
/// An agent without this table is told by hand.
#[derive(Debug, Clone, Copy)]
pub struct InstallTable {
    /// What its program is called. Empty: it has none that is called by name.
    pub programs: &'static [&'static str],
    /// Directories that are there if the agent is.
    pub signs: &'static [SettingsPath],
    /// The user's file, or the directory of programs if the dialect's files are programs: the first that is there, else the
    /// last.
    pub user: &'static [SettingsPath],
    /// The project's, likewise.
    pub project: &'static [SettingsPath],
    /// The dialect that the entry speaks, if it is not this one.
    pub through: Option<&'static Dialect>,
    /// The first version that knows the switch which makes failures of hooks block, if older ones overlook it.
    pub switch_since: Option<&'static str>,
    /// What is left for the user to do, in words.
    pub then: &'static [&'static str],
}

/// A place in the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsPath {
    /// Where the path starts.
    pub base: PathBase,
    /// The path.
    pub path: &'static str,
}

impl SettingsPath {
    /// A place.
    pub const fn new(base: PathBase, path: &'static str) -> Self {
        Self { base, path }
    }
}

impl InstallTable {
    /// An agent with one file for the user, and one for a project.
    pub(crate) const fn new(
        programs: &'static [&'static str],
        signs: &'static [SettingsPath],
        user: &'static [SettingsPath],
        project: &'static [SettingsPath],
    ) -> Self {
        Self { programs, signs, user, project, through: None, switch_since: None, then: &[] }
    }

    /// What is left for the user to do.
    pub(crate) const fn then(mut self, then: &'static [&'static str]) -> Self {
        self.then = then;
        self
    }

    /// Older versions than this overlook the switch.
    pub(crate) const fn switch_since(mut self, version: &'static str) -> Self {
        self.switch_since = Some(version);
        self
    }

    /// The entry speaks this dialect.
    pub(crate) const fn through(mut self, dialect: &'static Dialect) -> Self {
        self.through = Some(dialect);
        self
    }
}
