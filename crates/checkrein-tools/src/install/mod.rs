//! Puts checkrein in front of agents: writes the entry into their settings that calls `checkrein hook`, takes it out again,
//! and tells how things stand.
//!
//! ```
//! use checkrein::dialects::agents::claude;
//! use checkrein_tools::install::{Installer, Program};
//! use checkrein::sources::Where;
//! use checkrein::Scope;
//! # let dir = tempfile::tempdir()?;
//! # let home = dir.path().join("home");
//! # let settings = home.join(".claude/settings.json");
//! # std::fs::create_dir_all(settings.parent().unwrap())?;
//!
//! std::fs::write(&settings, "{\n  \"model\": \"opus\"\n}\n")?;
//! let installer = Installer::new(dir.path(), Program::new("/usr/bin/checkrein")).place(Where::new("/").home(&home));
//! let plan = installer.plan(&claude::DIALECT, Scope::User)?;
//! assert!(plan.changes[0].after.as_ref().unwrap().contains("/usr/bin/checkrein hook claude"));
//! plan.apply()?;
//!
//! installer.plan_removal(&claude::DIALECT, Scope::User)?.apply()?;
//! assert_eq!(std::fs::read_to_string(&settings)?, "{\n  \"model\": \"opus\"\n}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! - All bytes of a file that are not ours stay as they are: comments, order, white space, other people's hooks.
//! - What was added is taken out again, and what it had to be put into, if that was not there before. A copy of the file from
//!   before lies beside it meanwhile.
//! - Files are changed as a whole or not at all, one checkrein at a time; a link stays one; a file that cannot be read is
//!   left alone.
//! - Whoever has written `checkrein hook` into a file with options of their own keeps it: only what would have been
//!   installed counts as ours.

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
pub use plan::{Applied, Change, ChangeResult, Plan};
pub use status::{Detected, Installed, State, Status};

use checkrein::hook_files::Locations;
use desired_entries::Choice;

/// Writes the settings of agents. See the [module](self).
#[derive(Debug, Clone)]
pub struct Installer {
    place: Locations,
    dir: PathBuf,
    program: Program,
    shared: Program,
    choice: Choice,
}

impl Installer {
    /// For agents that are started in this directory, and call this program.
    pub fn new(dir: impl Into<PathBuf>, program: Program) -> Self {
        let choice = Choice { fail_open: false, all_events: false };
        Self { place: Locations::default(), dir: dir.into(), program, shared: Program::by_name(), choice }
    }

    /// Calls this program from files of a project. If nothing is said: `checkrein`, wherever each of those has it who share
    /// the file.
    #[must_use]
    pub fn shared(mut self, program: Program) -> Self {
        self.shared = program;
        self
    }

    /// With other places for the user's files.
    #[must_use]
    pub fn place(mut self, place: Locations) -> Self {
        self.place = place;
        self
    }

    /// Whether things happen if checkrein itself fails.
    #[must_use]
    pub fn fail_open(mut self, open: bool) -> Self {
        self.choice.fail_open = open;
        self
    }

    /// Whether checkrein is called also at events that come for each piece of text, or that have whole conversations with
    /// them.
    #[must_use]
    pub fn all_events(mut self, all: bool) -> Self {
        self.choice.all_events = all;
        self
    }

    /// The agents whose settings can be written.
    pub fn agents() -> impl Iterator<Item = &'static Dialect> {
        checkrein_dialects::ALL.iter().copied().filter(|dialect| dialect.install.is_some())
    }

    /// The program that entries of this scope call.
    fn program_at(&self, scope: Scope) -> &Program {
        if scope == Scope::User { &self.program } else { &self.shared }
    }

    fn table(&self, agent: &'static Dialect) -> Result<InstallTable, InstallError> {
        agent.install.ok_or_else(|| self.told_by_hand(agent))
    }

    fn told_by_hand(&self, agent: &'static Dialect) -> InstallError {
        // Files with commands can be written by somebody. Generations of an agent are not what people have.
        let can = !agent.config.files.is_empty() && !agent.has_all_events && !agent.name.contains('@');
        let paste = can.then(|| desired_entries::entries(agent, &self.shared, &self.choice)).flatten();
        InstallError::ByHand { agent: agent.name, by_hand: by_hand(agent), paste }
    }

    /// The file, or the directory of programs, that an agent reads; and others that it would read if that were not there.
    fn targets(&self, agent: &'static Dialect, scope: Scope) -> Result<(PathBuf, Vec<PathBuf>), InstallError> {
        let table = self.table(agent)?;
        let spots = if scope == Scope::User { table.user } else { table.project };
        let mut paths: Vec<_> = spots.iter().filter_map(|spot| self.at(spot)).collect();
        let there = paths.iter().position(|path| path.symlink_metadata().is_ok());
        let Some(at) = there.or(paths.len().checked_sub(1)) else {
            return Err(InstallError::Nowhere { agent: agent.name, scope });
        };
        Ok((paths.remove(at), paths))
    }

    /// What keeps hooks of these settings from running, in words: a switch in one of the agent's files.
    fn switched_off(&self, agent: &'static Dialect, scope: Scope) -> Vec<String> {
        let dialect = desired_entries::spoken(agent);
        let mut found = Vec::new();
        for row in dialect.config.files.iter().filter(|row| !row.path.contains('*') && row.extensions.is_empty()) {
            for path in self.place.bases(row.base, &self.dir).iter().map(|base| base.join(row.path)) {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                let shown = path.display();
                let format = Format::of_path(&path).unwrap_or(Format::Json);
                let settings = dialect.decode(&shown.to_string(), row.scope, &text, format).settings;
                if settings.disable_all == Some(true) {
                    found.push(format!("all hooks are switched off in {shown}"));
                }
                if settings.managed_only == Some(true) && row.scope == Scope::Managed && scope != Scope::Managed {
                    found.push(format!("only the administrator's hooks run, says {shown}"));
                }
            }
        }
        found
    }

    fn at(&self, spot: &SettingsPath) -> Option<PathBuf> {
        let base = self.place.bases(spot.base, &self.dir).into_iter().next()?;
        Some(if spot.path.is_empty() { base } else { base.join(spot.path) })
    }

    /// Other agents that read this file as well, and so call checkrein too.
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

    /// What the user should know of an agent that calls checkrein.
    fn notes(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Vec<String> {
        let mut notes = self.switched_off(agent, scope);
        let program = self.program_at(scope);
        if !program.is_there(&self.place) {
            notes.push(format!("{} is not there, so the agent will not find it", program.path().display()));
        }
        if let Some(warning) = stays_open(agent, self.choice.fail_open) {
            notes.push(warning);
        }
        if let Some(since) = agent.install.and_then(|table| table.switch_since).filter(|_| !self.choice.fail_open) {
            notes.push(format!("versions before {since} let tools run if checkrein is killed"));
        }
        if blocked_without_program(agent, self.choice.fail_open) {
            notes.push("tools are blocked if the program is gone: uninstall before you remove checkrein".to_owned());
        }
        let others = self.also_read_by(agent, path);
        if !others.is_empty() {
            notes.push(format!("read by {} as well, which will call checkrein too", others.join(" and ")));
        }
        notes.extend(agent.install.iter().flat_map(|table| table.then).map(|&then| then.to_owned()));
        notes
    }
}

/// Whether an agent lets a tool run if the hook is killed, in words. No hook can do anything about that but the agent's own
/// switch.
fn stays_open(agent: &'static Dialect, fail_open: bool) -> Option<String> {
    match (agent.host.failure_switch, agent.host.killed) {
        _ if fail_open => Some("tools run if checkrein fails, as you asked for".to_owned()),
        (Some(_), _) | (None, HostBehavior::Blocked) => None,
        (None, HostBehavior::Runs) => {
            Some("tools run if checkrein is killed, and the agent has no switch against that".to_owned())
        }
        (None, HostBehavior::Unknown) => Some("what happens if checkrein is killed is not known".to_owned()),
    }
}

/// Whether an agent blocks tools if the program is gone: by itself, or because its switch says that hooks which fail block.
fn blocked_without_program(agent: &'static Dialect, fail_open: bool) -> bool {
    agent.host.missing_program == HostBehavior::Blocked || (agent.host.failure_switch.is_some() && !fail_open)
}

/// What to do for an agent whose settings are not written.
fn by_hand(agent: &'static Dialect) -> String {
    let name = agent.name;
    let base = Some(agent.agent()).filter(|base| *base != name);
    if let Some(base) = base.filter(|base| checkrein_dialects::find(base).is_some_and(|base| base.install.is_some())) {
        return format!("it is a form of `{base}`, which can be installed");
    }
    if agent.has_all_events {
        return "that is checkrein's own language, and no agent's".to_owned();
    }
    if agent.config.files.is_empty() {
        return "its hooks are code that runs in the agent itself, and it calls no programs".to_owned();
    }
    let at = |base: PathBase| match base {
        PathBase::Root => "/".to_owned(),
        PathBase::Home => "~/".to_owned(),
        PathBase::Config => "~/.config/".to_owned(),
        PathBase::Variable(_, home) | PathBase::FirstVariable(_, home) => format!("~/{home}/"),
        PathBase::Project | PathBase::Upwards { .. } | PathBase::Repository => String::new(),
    };
    let rows = || agent.config.files.iter().filter(|row| row.scope != Scope::Managed);
    let files: Vec<_> = rows().map(|row| format!("{}{}", at(row.base), row.path)).collect();
    let reads = |other: &&Dialect| {
        other.config.files.iter().any(|own| rows().any(|row| (own.path, own.base) == (row.path, row.base)))
    };
    let installed = checkrein_dialects::ALL.iter().filter(|other| other.name != name && other.install.is_some());
    let others: Vec<_> = installed.copied().filter(reads).map(|other| other.name).collect();
    let shared = match &others[..] {
        [] => String::new(),
        others => format!("; such files are read by {} as well, which would call it, too", others.join(", ")),
    };
    let into = agent.config.by_hand.map_or_else(|| format!("one of {}", files.join(", ")), str::to_owned);
    format!("add `checkrein hook {name}` yourself, as a command for each event, to {into}{shared}")
}
