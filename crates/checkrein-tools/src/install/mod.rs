//! Installation: adds entries that call `checkrein hook` to the settings of agents, removes them, and reports their status.
//! The commands `install`, `uninstall` and `status` use it.
//!
//! ```
//! use checkrein::dialects::agents::claude;
//! use checkrein_tools::install::{Installer, Program};
//! use checkrein::hook_files::Locations;
//! use checkrein::Scope;
//! # let dir = tempfile::tempdir()?;
//! # let home = dir.path().join("home");
//! # let settings = home.join(".claude/settings.json");
//! # std::fs::create_dir_all(settings.parent().unwrap())?;
//!
//! std::fs::write(&settings, "{\n  \"model\": \"opus\"\n}\n")?;
//! let locations = Locations::new("/").home(&home);
//! let installer = Installer::new(dir.path(), Program::new("/usr/bin/checkrein")).place(locations);
//! let plan = installer.plan(&claude::DIALECT, Scope::User)?;
//! assert!(plan.changes[0].after.as_ref().unwrap().contains("/usr/bin/checkrein hook claude"));
//! plan.apply()?;
//!
//! installer.plan_removal(&claude::DIALECT, Scope::User)?.apply()?;
//! assert_eq!(std::fs::read_to_string(&settings)?, "{\n  \"model\": \"opus\"\n}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - All other bytes of a file stay as they are: comments, order, white space, hooks of others.
//! - A removal takes out our entries, and the objects and arrays that the installation had to create. Until then, a backup of
//!   the original is next to the file.
//! - A file is replaced as a whole or not at all, by one checkrein process at a time. Symbolic links stay. A file that cannot
//!   be parsed is never changed.
//! - A call of `checkrein hook` with other options was written by hand and is never changed: only entries that `install` would
//!   write are treated as ours.

mod command;
mod desired_entries;
mod edit;
mod error;
mod file;
mod our_entries;
mod plan;
mod status;

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::config::{FileRow, PathBase};
use checkrein_dialects::{Dialect, HostBehavior, InstallTable, SettingsPath};
use checkrein_document::Format;

pub use command::Program;
pub use error::InstallError;
pub use our_entries::is_installed;
pub use plan::{Applied, Change, ChangeResult, Plan};
pub use status::{Detected, Installed, State, Status};

use checkrein::hook_files::Locations;
use desired_entries::Choice;

/// Edits the settings of agents. See the [module](self).
#[derive(Debug, Clone)]
pub struct Installer {
    place: Locations,
    dir: PathBuf,
    program: Program,
    shared: Program,
    choice: Choice,
}

impl Installer {
    /// Installer for agents that are started in `dir` and call `program`.
    pub fn new(dir: impl Into<PathBuf>, program: Program) -> Self {
        let choice = Choice { fail_open: false, all_events: false };
        Self { place: Locations::default(), dir: dir.into(), program, shared: Program::by_name(), choice }
    }

    /// Program that entries in project files call. Default: `checkrein` by name, because each user of a shared file may have it
    /// in another directory.
    #[must_use]
    pub fn shared(mut self, program: Program) -> Self {
        self.shared = program;
        self
    }

    /// Sets the locations of the user's files.
    #[must_use]
    pub fn place(mut self, place: Locations) -> Self {
        self.place = place;
        self
    }

    /// Sets whether tools run if checkrein itself fails.
    #[must_use]
    pub fn fail_open(mut self, open: bool) -> Self {
        self.choice.fail_open = open;
        self
    }

    /// Sets whether checkrein is also called at frequent and large events: those for each piece of text, and those that carry
    /// whole conversations.
    #[must_use]
    pub fn all_events(mut self, all: bool) -> Self {
        self.choice.all_events = all;
        self
    }

    /// Agents whose settings checkrein can edit.
    pub fn agents() -> impl Iterator<Item = &'static Dialect> {
        checkrein_dialects::ALL.iter().copied().filter(|dialect| dialect.install.is_some())
    }

    /// `true` if both the user's and the project's settings have entries of checkrein. Agents that
    /// [call each entry](checkrein_dialects::HostTable::calls_each_entry) then call it twice for each event, and hooks run once.
    pub fn is_installed_twice(agent: &'static Dialect, dir: &Path, place: Locations) -> bool {
        let installer = Self::new(dir, Program::by_name()).place(place);
        let dialect = desired_entries::entry_dialect(agent).name;
        [Scope::User, Scope::Project].into_iter().all(|scope| {
            let Ok((target, others)) = installer.targets(agent, scope) else { return false };
            let mut paths = std::iter::once(target).chain(others);
            paths.any(|path| file::read_text(&path).is_some_and(|text| our_entries::has_ours(&text, dialect)))
        })
    }

    /// Program that entries of this scope call.
    fn program_at(&self, scope: Scope) -> &Program {
        if scope == Scope::User { &self.program } else { &self.shared }
    }

    fn table(&self, agent: &'static Dialect) -> Result<InstallTable, InstallError> {
        agent.install.ok_or_else(|| self.manual_install_error(agent))
    }

    fn manual_install_error(&self, agent: &'static Dialect) -> InstallError {
        // Users can edit files with commands. Generations of an agent are no agents of their own.
        let can_paste = !agent.config.files.is_empty() && !agent.has_all_events && !agent.name.contains('@');
        let paste = if can_paste { desired_entries::entries(agent, &self.shared, &self.choice) } else { None };
        InstallError::ByHand { agent: agent.name, by_hand: by_hand(agent), paste }
    }

    /// File or directory of programs that the agent reads, and the alternatives that it would read if that did not exist.
    fn targets(&self, agent: &'static Dialect, scope: Scope) -> Result<(PathBuf, Vec<PathBuf>), InstallError> {
        let table = self.table(agent)?;
        let candidates = if scope == Scope::User { table.user } else { table.project };
        let mut paths: Vec<_> = candidates.iter().filter_map(|candidate| self.resolve(candidate)).collect();
        let existing = paths.iter().position(|path| path.symlink_metadata().is_ok());
        let Some(index) = existing.or(paths.len().checked_sub(1)) else {
            return Err(InstallError::Nowhere { agent: agent.name, scope });
        };
        Ok((paths.remove(index), paths))
    }

    /// Settings in the agent's files that keep the installed hooks from running, one sentence each.
    fn switched_off(&self, agent: &'static Dialect, scope: Scope) -> Vec<String> {
        let dialect = desired_entries::entry_dialect(agent);
        let mut found = Vec::new();
        for row in dialect.config.files.iter().filter(|row| !row.path.contains('*') && row.extensions.is_empty()) {
            for path in self.place.bases(row.base, &self.dir).iter().map(|base| base.join(row.path)) {
                let Some(text) = file::read_text(&path) else { continue };
                let shown = path.display();
                let format = Format::from_path(&path).unwrap_or(Format::Json);
                let settings = dialect.decode(&shown.to_string(), row.scope, &text, format).settings;
                if settings.disable_all == Some(true) {
                    found.push(format!("{shown} disables all hooks"));
                }
                if settings.managed_only == Some(true) && row.scope == Scope::Managed && scope != Scope::Managed {
                    found.push(format!("{shown} allows only managed hooks"));
                }
            }
        }
        found
    }

    fn resolve(&self, settings: &SettingsPath) -> Option<PathBuf> {
        let base = self.place.bases(settings.base, &self.dir).into_iter().next()?;
        Some(if settings.path.is_empty() { base } else { base.join(settings.path) })
    }

    /// Other agents that read this file too, and therefore also call checkrein.
    fn also_read_by(&self, agent: &'static Dialect, path: &Path) -> Vec<&'static str> {
        let reads = |row: &FileRow| {
            let bases = self.place.bases(row.base, &self.dir);
            bases.iter().any(|base| match row.path.strip_suffix("/*") {
                Some(directory) => path.parent() == Some(&base.join(directory)),
                None => base.join(row.path) == path,
            })
        };
        let others = checkrein_dialects::ALL.iter().filter(|other| other.agent() != agent.agent());
        others.filter(|other| other.config.files.iter().any(reads)).map(|other| other.name).collect()
    }

    /// Notes for the user about an agent that calls checkrein.
    fn notes(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Vec<String> {
        let mut notes = self.switched_off(agent, scope);
        let program = self.program_at(scope);
        if !program.is_found(&self.place) {
            notes.push(format!("`{}` not found: the agent cannot call it", program.path().display()));
        }
        if scope != Scope::User && !self.program.dirs().is_empty() {
            notes.push(
                "these entries do not name your home directory: checkrein then uses that of the account database"
                    .to_owned(),
            );
        }
        if let Some(warning) = stays_open(agent, self.choice.fail_open) {
            notes.push(warning);
        }
        if !self.choice.fail_open
            && let Some(since) = agent.install.and_then(|table| table.switch_since)
        {
            notes.push(format!("versions before {since} run tools if checkrein is killed"));
        }
        if blocked_without_program(agent, self.choice.fail_open) {
            notes.push("tools are blocked if checkrein is missing: uninstall before you delete it".to_owned());
        }
        let others = self.also_read_by(agent, path);
        if !others.is_empty() {
            notes.push(format!("this file is also read by {}, so checkrein runs there too", joined(&others)));
        }
        notes.extend(agent.install.iter().flat_map(|table| table.then).map(|&then| then.to_owned()));
        notes
    }
}

/// Names as an enumeration: `a`, `a and b`, `a, b and c`.
fn joined(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Warning if the agent runs tools although its hook was killed. Only a setting of the agent can prevent that.
fn stays_open(agent: &'static Dialect, fail_open: bool) -> Option<String> {
    match (agent.host.failure_switch, agent.host.killed) {
        _ if fail_open => Some("tools run if checkrein fails (--fail-open)".to_owned()),
        (Some(_), _) | (None, HostBehavior::Blocked) => None,
        (None, HostBehavior::Runs) => {
            Some("tools run if checkrein is killed; the agent has no setting against that".to_owned())
        }
        (None, HostBehavior::Unknown) => Some("unknown whether tools run if checkrein is killed".to_owned()),
    }
}

/// Returns `true` if the agent blocks tools when the program is missing: by itself, or because of its setting for failed hooks.
fn blocked_without_program(agent: &'static Dialect, fail_open: bool) -> bool {
    agent.host.missing_program == HostBehavior::Blocked || (agent.host.failure_switch.is_some() && !fail_open)
}

/// Instructions for an agent whose settings checkrein cannot edit.
fn by_hand(agent: &'static Dialect) -> String {
    let name = agent.name;
    let base = Some(agent.agent()).filter(|base| *base != name);
    if let Some(base) = base.filter(|base| checkrein_dialects::find(base).is_some_and(|base| base.install.is_some())) {
        return format!("it is a variant of `{base}`; install `{base}` instead");
    }
    if agent.has_all_events {
        return "this is checkrein's own format, not an agent".to_owned();
    }
    if let (true, Some(steps)) = (agent.config.files.is_empty(), agent.config.by_hand) {
        return steps.to_owned();
    }
    if agent.config.files.is_empty() {
        return "its hooks are code inside the agent, which calls no programs".to_owned();
    }
    let prefix = |base: PathBase| match base {
        PathBase::Root => "/".to_owned(),
        PathBase::Home => "~/".to_owned(),
        PathBase::Config => "~/.config/".to_owned(),
        PathBase::Variable(_, home) | PathBase::FirstVariable(_, home) => format!("~/{home}/"),
        PathBase::Project | PathBase::Upwards { .. } | PathBase::Repository => String::new(),
    };
    let rows = || agent.config.files.iter().filter(|row| row.scope != Scope::Managed);
    let files: Vec<_> = rows().map(|row| format!("{}{}", prefix(row.base), row.path)).collect();
    let reads = |other: &&Dialect| {
        other.config.files.iter().any(|own| rows().any(|row| (own.path, own.base) == (row.path, row.base)))
    };
    let installed = checkrein_dialects::ALL.iter().filter(|other| other.name != name && other.install.is_some());
    let others: Vec<_> = installed.copied().filter(reads).map(|other| other.name).collect();
    let shared = match &others[..] {
        [] => String::new(),
        others => format!("; such files are also read by {}, which would call checkrein too", joined(others)),
    };
    let into = agent.config.by_hand.map_or_else(|| format!("one of {}", files.join(", ")), str::to_owned);
    format!("add `checkrein hook {name}` yourself as a command for each event to {into}{shared}")
}
