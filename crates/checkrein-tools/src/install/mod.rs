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
mod needed;
mod our_entries;
mod plan;
mod status;
mod switches;
mod version;

use std::path::{Path, PathBuf};

use checkrein_core::{EventKind, Scope};
use checkrein_dialects::config::{FileRow, PathBase};
use checkrein_dialects::{Dialect, HostBehavior, InstallTable, SettingsPath};

pub use command::Program;
pub use error::InstallError;
pub use needed::UncalledHook;
pub(crate) use our_entries::is_own as is_own_command;
pub use plan::{Applied, Change, ChangeResult, Plan};
pub use status::{AgentTrust, Detected, EntryCommand, Installed, State, Status};
pub use switches::SwitchedOff;
pub(crate) use version::is_older;

use checkrein::hook_files::Locations;
use checkrein::internal::repository;
use desired_entries::Choice;

/// Edits the settings of agents. See the [module](self).
#[derive(Debug, Clone)]
pub struct Installer {
    place: Locations,
    dir: PathBuf,
    program: Program,
    shared: Program,
    fail_open: bool,
    fail_closed: bool,
    all_events: bool,
    is_needed_only: bool,
    /// Directory whose hooks are in force. `None`: `dir`.
    hooks_dir: Option<PathBuf>,
}

impl Installer {
    /// Installer for agents that are started in `dir` and call `program`.
    pub fn new(dir: impl Into<PathBuf>, program: Program) -> Self {
        Self {
            place: Locations::default(),
            dir: dir.into(),
            program,
            shared: Program::by_name(),
            fail_open: false,
            fail_closed: false,
            all_events: false,
            is_needed_only: false,
            hooks_dir: None,
        }
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
        self.fail_open = open;
        self
    }

    /// Sets whether entries in project files block tools if checkrein is missing or killed, where the agent has a key for that.
    /// Entries of the user always do, unless [`fail_open`](Self::fail_open) is set. Other users of a project may not have
    /// checkrein.
    #[must_use]
    pub fn fail_closed(mut self, closed: bool) -> Self {
        self.fail_closed = closed;
        self
    }

    /// Sets whether checkrein is also called at frequent and large events: those for each piece of text, and those that carry
    /// whole conversations.
    #[must_use]
    pub fn all_events(mut self, all: bool) -> Self {
        self.all_events = all;
        self
    }

    /// Sets whether entries are written only for the events that the hooks in force use, for the start of a session and for the
    /// tool gate.
    #[must_use]
    pub fn only_needed(mut self, only: bool) -> Self {
        self.is_needed_only = only;
        self
    }

    /// Sets the directory whose hooks are in force. Default: that of [`new`](Self::new).
    #[must_use]
    pub fn hooks_from(mut self, dir: impl Into<PathBuf>) -> Self {
        self.hooks_dir = Some(dir.into());
        self
    }

    /// Installer for agents that are started in another directory, with the same program.
    pub(crate) fn in_directory(&self, dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        let root = repository(&dir).unwrap_or(&dir).to_owned();
        Self { dir: root, hooks_dir: Some(dir), ..self.clone() }
    }

    /// Options of entries of this scope.
    fn choice(&self, agent: &'static Dialect, scope: Scope) -> Choice {
        let blocks_on_failure = !self.fail_open && (scope == Scope::User || self.fail_closed);
        let needed = if self.is_needed_only { Some(self.needed_by_hooks(agent)) } else { None };
        let (fail_open, all_events) = (self.fail_open, self.all_events);
        Choice { fail_open, blocks_on_failure, all_events, needed, is_marked: self.is_needed_only }
    }

    /// Agents whose settings checkrein can edit.
    pub fn agents() -> impl Iterator<Item = &'static Dialect> {
        checkrein_dialects::ALL.iter().copied().filter(|dialect| dialect.install.is_some())
    }

    /// `true` if two settings files that the agent reads have entries of checkrein: the user's, the project's, and those of other
    /// agents. Agents that [call each entry](checkrein_dialects::HostTable::calls_each_entry) then call it twice for each event,
    /// and hooks run once.
    pub fn is_installed_twice(agent: &'static Dialect, dir: &Path, place: Locations) -> bool {
        let installer = Self::new(dir, Program::by_name()).place(place);
        let borrowed = agent.borrows.map(|files| files.agents).unwrap_or_default();
        let others = borrowed.iter().filter_map(|name| checkrein_dialects::find(name));
        let mut count = 0;
        for agent in std::iter::once(agent).chain(others) {
            let scopes = [Scope::User, Scope::Project].into_iter().filter(|scope| installer.has_entries(agent, *scope));
            count += if installer.has_one_file(agent) { scopes.count().min(1) } else { scopes.count() };
        }
        count > 1
    }

    /// `true` if the settings of the project are the user's own file, as in the home directory.
    fn has_one_file(&self, agent: &'static Dialect) -> bool {
        let real = |scope: Scope| {
            let (target, _) = self.targets(agent, scope).ok()?;
            // The file and its directory may not exist yet.
            let (existing, rest) = target
                .ancestors()
                .find_map(|above| Some((above.canonicalize().ok()?, target.strip_prefix(above).ok()?)))?;
            Some(existing.join(rest))
        };
        let user = real(Scope::User);
        user.is_some() && user == real(Scope::Project)
    }

    /// Dialect of the entries in the settings of an agent.
    pub fn entry_dialect(agent: &'static Dialect) -> &'static Dialect {
        desired_entries::entry_dialect(agent)
    }

    /// Installer that writes entries with the options that these entries have.
    #[must_use]
    pub fn with_options_of(self, agent: &'static Dialect, place: &Installed) -> Self {
        let rows =
            desired_entries::entry_dialect(agent).events.iter().filter(|row| desired_entries::is_on_request(row));
        let has_all = rows.map(|row| row.name).any(|name| place.covered.contains(&name));
        let installer = self.fail_open(place.fails_open).only_needed(place.needed);
        installer.fail_closed(place.blocks_on_failure).all_events(has_all && !place.needed)
    }

    /// `true` if the settings of this scope have entries of checkrein.
    fn has_entries(&self, agent: &'static Dialect, scope: Scope) -> bool {
        let Ok((target, others)) = self.targets(agent, scope) else { return false };
        let dialect = desired_entries::entry_dialect(agent).name;
        let mut paths = std::iter::once(target).chain(others);
        let has_ours = |text: String| match desired_entries::script_command(&text) {
            Some(command) => our_entries::is_own(command, dialect),
            None => our_entries::has_ours_or_edited(&text, dialect),
        };
        paths.any(|path| file::read_text(&path).is_some_and(has_ours))
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
        let paste = if can_paste {
            desired_entries::entries(agent, &self.shared, &self.choice(agent, Scope::Project))
        } else {
            None
        };
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
        let borrows = |other: &Dialect| other.borrows.is_some_and(|files| files.agents.contains(&agent.agent()));
        others.filter(|other| borrows(other) || other.config.files.iter().any(reads)).map(|other| other.name).collect()
    }

    /// Notes for the user about an agent that calls checkrein.
    fn notes(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Vec<String> {
        let off = self.switched_off(agent);
        let mut notes: Vec<_> = off.iter().map(ToString::to_string).collect();
        let (program, choice) = (self.program_at(scope), self.choice(agent, scope));
        if !program.is_found(&self.place) {
            notes.push(format!("`{}` not found: the agent cannot call it", program.path().display()));
        }
        if scope != Scope::User && !self.program.dirs().is_empty() {
            notes.push(
                "these entries do not name your home directory: checkrein then uses that of the account database"
                    .to_owned(),
            );
        }
        if let Some(warning) = stays_open(agent, &choice) {
            notes.push(warning);
        }
        if choice.blocks_on_failure
            && let Some(since) = agent.install.and_then(|table| table.switch_since)
        {
            notes.push(format!("versions before {since} run tools if checkrein is killed"));
        }
        let blocks = blocked_without_program(agent, choice.blocks_on_failure);
        if scope != Scope::User {
            notes.push(for_other_users(agent, &choice));
        } else if blocks {
            let blocked = blocked_actions(agent);
            notes.push(format!("{blocked} are blocked if checkrein is missing: uninstall before you delete it"));
            notes.push(format!("to uninstall without checkrein, {}", removal_by_hand(agent, path)));
        }
        let other_scope = if scope == Scope::User { Scope::Project } else { Scope::User };
        if agent.host.calls_each_entry && self.has_entries(agent, other_scope) && !self.has_one_file(agent) {
            notes.push(called_twice(agent.name));
        }
        if choice.is_marked {
            let retry = "run `checkrein install --needed` again after you add hooks for other events";
            notes.push(format!("entries only for events that hooks use now: {retry}"));
            if desired_entries::entry_dialect(agent).row(&EventKind::SessionStart).is_none() {
                notes.push(
                    "the agent has no event at the start of a session: only `check`, `list` and `doctor` report hooks \
                     without an entry"
                        .to_owned(),
                );
            }
        }
        let others = self.also_read_by(agent, path);
        if !others.is_empty() {
            notes.push(format!("this file is also read by {}, so checkrein runs there too", joined(&others)));
        }
        notes.extend(agent.install.iter().flat_map(|table| table.then).map(|&then| then.to_owned()));
        notes
    }
}

/// Note for the user about an agent that calls an entry of the user's and one of the project's settings.
fn called_twice(agent: &str) -> String {
    format!("installed for the user and in this project: {agent} calls both, and each hook runs once")
}

/// Names as an enumeration: `a`, `a and b`, `a, b and c`.
fn joined(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Warning if the agent runs tools although its hook was killed. Only a setting of the agent can prevent that.
fn stays_open(agent: &'static Dialect, choice: &Choice) -> Option<String> {
    match (agent.host.failure_switch, agent.host.killed) {
        _ if choice.fail_open => Some("tools run if checkrein fails (--fail-open)".to_owned()),
        (Some(_), _) if !choice.blocks_on_failure => Some("tools run if checkrein is killed".to_owned()),
        (Some(_), _) | (None, HostBehavior::Blocked) => None,
        (None, HostBehavior::Runs) => {
            Some("tools run if checkrein is killed; the agent has no setting against that".to_owned())
        }
        (None, HostBehavior::Unknown) => Some("unknown whether tools run if checkrein is killed".to_owned()),
    }
}

/// Returns `true` if the agent blocks tools when the program is missing: by itself, or because its entries have the key for that.
fn blocked_without_program(agent: &'static Dialect, blocks_on_failure: bool) -> bool {
    agent.host.missing_program == HostBehavior::Blocked || (agent.host.failure_switch.is_some() && blocks_on_failure)
}

/// Actions that the agent blocks when the program is missing.
fn blocked_actions(agent: &'static Dialect) -> &'static str {
    if agent.host.missing_program_blocks_prompts { "tools and prompts" } else { "tools" }
}

/// Effect of a project's entries on users who do not have checkrein.
fn for_other_users(agent: &'static Dialect, choice: &Choice) -> String {
    let users = "for users of this project without `checkrein` on their PATH, CI included,";
    if blocked_without_program(agent, choice.blocks_on_failure) {
        return format!("{users} the agent blocks {}", blocked_actions(agent));
    }
    let behavior = match (agent.host.failure_switch, agent.host.missing_program) {
        (Some(_), _) => "tools run unchecked, and the agent may report a failed hook; --fail-closed blocks tools there",
        (None, HostBehavior::Unknown) => "it is unknown whether tools run",
        (None, _) => "tools run unchecked, and the agent may report a failed hook",
    };
    format!("{users} {behavior}")
}

/// Instruction for the removal of entries without checkrein.
fn removal_by_hand(agent: &'static Dialect, path: &Path) -> String {
    let shown = path.display();
    let is_own_file = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("checkrein"));
    if agent.config.format.is_programs() {
        format!("delete the files in {shown} that call it")
    } else if is_own_file {
        format!("delete {shown}")
    } else {
        let dialect = desired_entries::entry_dialect(agent).name;
        format!("delete the hooks with the command `checkrein hook {dialect}` from {shown}")
    }
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
