//! [`InstallTable`]: the settings file of an agent, and facts for the entry that makes the agent call checkrein.
//!
//! The tables of agents contain it; `checkrein install`, `uninstall` and `status` use it. This module has only data: the
//! code that edits settings is in `checkrein-tools`.

use std::time::Duration;

use checkrein_core::{EventKind, Scope, TimeClass};

use crate::config::{Attribute, FileFormat, PathBase};
use crate::table::{Dialect, EventRow};

/// Timeout of most entries. Longer than hooks run: checkrein enforces their timeouts itself.
const LONG: Duration = Duration::from_secs(600);
/// Timeout at events of an agent that exits while its user waits.
const SHORT: Duration = Duration::from_secs(30);

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
    /// Further keys of each entry, with their values as JSON.
    pub entry_keys: &'static [(&'static str, &'static str)],
    /// Settings that keep installed hooks from running. Of rows with the same flag, the first whose file has it decides.
    pub switches: &'static [SwitchRow],
    /// Record of the hooks that the user has trusted. `None`: hooks run without trust.
    pub trust: Option<TrustTable>,
    /// Record of the folders that the user trusts. In others, entries of the project do not run. `None`: they always run.
    pub folders: Option<FolderTrust>,
    /// Name of the npm package of the program, whose `package.json` has the version. `None`: not a package, or not known.
    pub package: Option<&'static str>,
    /// `true` if the program prints its version and was observed to change no files then.
    pub prints_version: bool,
}

/// A setting that keeps installed hooks from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchRow {
    /// Scope of the file.
    pub scope: Scope,
    /// File, or directory of JSON files if the path ends with `/*`.
    pub file: SettingsPath,
    /// Names of the keys, joined by dots.
    pub key: &'static str,
    /// Value that keeps hooks from running.
    pub off: OffValue,
    /// `true` if the agent was observed to ignore the setting, although it is documented.
    pub is_ignored: bool,
    /// Record of projects that the agent trusts. In other projects, the file is not read. `None`: it is always read.
    pub trusted_projects: Option<ProjectTrust>,
}

/// Value of a setting that keeps hooks from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffValue {
    /// This value of a flag.
    Flag(bool),
    /// A list that contains this name.
    Listed(&'static str),
}

/// File with the hooks that the user has trusted. Each has a key `FILE:EVENT:GROUP:HOOK`, with the event in snake case and two
/// positions from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustTable {
    /// The file.
    pub file: SettingsPath,
    /// Names of the keys that lead to the table, joined by dots.
    pub table: &'static str,
    /// Key of a trusted hook. Its value is a hash of the hook: a changed hook is not trusted.
    pub trusted: &'static str,
    /// Flag of a hook that can be `false`, so that the hook does not run.
    pub enabled: &'static str,
}

/// File with a list of the folders that the agent trusts. Their subfolders are trusted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderTrust {
    /// The file.
    pub file: SettingsPath,
    /// Key of the list.
    pub key: &'static str,
}

/// File with the projects that the agent trusts, by their paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectTrust {
    /// The file.
    pub file: SettingsPath,
    /// Key of the table.
    pub table: &'static str,
    /// Key in the entry of a project.
    pub key: &'static str,
    /// Value of the key in a trusted project.
    pub value: &'static str,
}

impl SwitchRow {
    /// A flag that keeps hooks from running with this value.
    pub(crate) const fn flag(scope: Scope, file: SettingsPath, key: &'static str, value: bool) -> Self {
        Self { scope, file, key, off: OffValue::Flag(value), is_ignored: false, trusted_projects: None }
    }

    /// A list of hooks that do not run. `name` is that of installed hooks.
    pub(crate) const fn list(scope: Scope, file: SettingsPath, key: &'static str, name: &'static str) -> Self {
        Self { scope, file, key, off: OffValue::Listed(name), is_ignored: false, trusted_projects: None }
    }

    /// The agent ignores the setting.
    pub(crate) const fn ignored(mut self) -> Self {
        self.is_ignored = true;
        self
    }

    /// The file is read only in projects that the agent trusts.
    pub(crate) const fn if_trusted(mut self, projects: ProjectTrust) -> Self {
        self.trusted_projects = Some(projects);
        self
    }
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
        Self {
            programs,
            signs,
            user,
            project,
            through: None,
            switch_since: None,
            then: &[],
            entry_keys: &[],
            switches: &[],
            trust: None,
            folders: None,
            package: None,
            prints_version: false,
        }
    }

    /// Adds keys to each entry.
    pub(crate) const fn entry_keys(mut self, keys: &'static [(&'static str, &'static str)]) -> Self {
        self.entry_keys = keys;
        self
    }

    /// Sets the settings that keep hooks from running.
    pub(crate) const fn switches(mut self, switches: &'static [SwitchRow]) -> Self {
        self.switches = switches;
        self
    }

    /// Sets the record of trusted hooks.
    pub(crate) const fn trust(mut self, trust: TrustTable) -> Self {
        self.trust = Some(trust);
        self
    }

    /// Sets the record of trusted folders.
    pub(crate) const fn folders(mut self, folders: FolderTrust) -> Self {
        self.folders = Some(folders);
        self
    }

    /// Sets the npm package of the program.
    pub(crate) const fn package(mut self, name: &'static str) -> Self {
        self.package = Some(name);
        self
    }

    /// The program can be started for its version.
    pub(crate) const fn prints_version(mut self) -> Self {
        self.prints_version = true;
        self
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

impl Dialect {
    /// Returns the timeout of an installed entry for an event, which the agent enforces.
    pub fn entry_timeout(&self, row: &EventRow) -> Duration {
        let class = if row.kind.contract().time == TimeClass::Closing { SHORT } else { LONG };
        [row.timeout_cap, self.time.cap].into_iter().flatten().fold(class, Duration::min)
    }

    /// Returns the time that a call may wait for an approval at events of this kind. `None`: it does not wait.
    pub fn approval_wait(&self, kind: &EventKind) -> Option<Duration> {
        let table = &self.host.approvals;
        if !self.is_gate(kind) || (*kind == EventKind::PermissionRequest && !table.holds_requests) {
            return None;
        }
        let written = self.install.and_then(|table| table.through).unwrap_or(self);
        let sets_timeout = match written.config.format {
            FileFormat::Layout(layout) => layout.keys.iter().any(|key| matches!(key.says, Attribute::Timeout(_))),
            _ => false,
        };
        let mut enforced = written.entry_timeout(written.row(kind)?);
        if !sets_timeout {
            // The agent has a timeout of its own.
            enforced = enforced.min(written.timeout(kind, "command"));
        }
        enforced.checked_sub(table.margin)
    }
}
