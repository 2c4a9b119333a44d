//! Status of an agent: is it on this machine, does it call checkrein, and do its entries differ from those that an
//! installation would write now. Reads files only; must never change one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein::hook_files::UserDirs;
use checkrein_core::{EventKind, Matcher, Scope};
use checkrein_dialects::{CommandLine, Dialect, EventRow, HandlerSpec, HostBehavior};
use checkrein_document::Format;
use checkrein_process::HookCommand;

use super::command::{self, is_program, on_path};
use super::desired_entries::{self, Choice};
use super::our_entries::{has_ours_or_edited, is_own, is_own_or_edited, own_hooks, parse_tree};
use super::version::is_older;
use super::{Installer, Program, SwitchedOff, blocked_without_program, by_hand, file, removal_by_hand, version};

/// Status of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Agent.
    pub agent: &'static str,
    /// Traces of the agent on this machine.
    pub found: Detected,
    /// Settings of the user and of the project. Only those of the user if both are the same file.
    pub places: Vec<Installed>,
    /// Instructions for the user, if checkrein cannot edit the settings.
    pub by_hand: Option<String>,
    /// Settings of the agent that keep the entries from having an effect. Empty if there are no entries.
    pub switched_off: Vec<SwitchedOff>,
    /// `true` if tools run when checkrein is killed, with a version that supports the agent's setting for failed hooks. `None`
    /// if unknown, or if there are no entries.
    pub stays_open: Option<bool>,
    /// First version that supports that setting, if older ones ignore it.
    pub switch_since: Option<&'static str>,
    /// `true` if tools are blocked when the program is missing: by the agent itself, or by its setting for failed hooks. `false`
    /// if there are no entries.
    pub blocked_without_program: bool,
    /// `true` if prompts are blocked then too.
    pub prompts_blocked_without_program: bool,
    /// Actions for which the agent calls no hooks, one phrase each.
    pub unseen: &'static [&'static str],
}

impl Status {
    /// Returns `true` if settings of the user or of the project have entries of checkrein.
    pub fn is_installed(&self) -> bool {
        self.places.iter().any(|place| place.state == State::Installed)
    }

    /// Returns `true` if all entries are up to date and no setting keeps them from having an effect, or if there are none.
    pub fn is_fine(&self) -> bool {
        self.switched_off.is_empty() && self.places.iter().all(Installed::is_fine)
    }

    /// `true` if tools run when checkrein is killed, with this version of the agent. `None` if unknown.
    pub fn stays_open_with(&self, version: Option<&str>) -> Option<bool> {
        let ignores_setting =
            self.switch_since.zip(version).is_some_and(|(since, installed)| is_older(installed, since));
        if ignores_setting { Some(true) } else { self.stays_open }
    }
}

impl Status {
    /// Note for the user if the agent calls an entry of the user's and one of the project's settings.
    pub fn called_twice(&self) -> Option<String> {
        let is_twice = self.places.iter().filter(|place| place.state == State::Installed).count() > 1;
        let calls_each = checkrein_dialects::find(self.agent).is_some_and(|agent| agent.host.calls_each_entry);
        if is_twice && calls_each { Some(super::called_twice(self.agent)) } else { None }
    }
}

/// Traces of an agent on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detected {
    /// Program of the agent on `PATH`.
    pub program: Option<PathBuf>,
    /// Version of the program, if its files tell it.
    pub version: Option<String>,
    /// `true` if the program can be started for its version.
    pub prints_version: bool,
    /// Directories of the agent that exist.
    pub directories: Vec<PathBuf>,
}

impl Detected {
    /// Returns `true` if the program or a directory was found.
    pub fn is_here(&self) -> bool {
        self.program.is_some() || !self.directories.is_empty()
    }
}

/// Entries of checkrein in an agent's settings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Installed {
    /// Scope of the settings.
    pub scope: Scope,
    /// File, or directory of programs.
    pub path: PathBuf,
    /// State of the installation.
    pub state: State,
    /// Events at which the agent calls checkrein.
    pub covered: Vec<&'static str>,
    /// Events that an installation would add now.
    pub missing: Vec<&'static str>,
    /// Events that an installation omits by default: frequent ones (for each piece of text), large ones (with whole
    /// conversations), and those at which a hook must produce something.
    pub left_out: Vec<&'static str>,
    /// Other differences from a new installation, one sentence each.
    pub drift: Vec<String>,
    /// Trust of the agent in the entries.
    pub trust: AgentTrust,
    /// Events whose entries the agent skips until the user trusts them.
    pub untrusted: Vec<&'static str>,
    /// `true` if the entries have `--fail-open`.
    pub fails_open: bool,
    /// `true` if the entries have `--needed`: there are entries only for events that hooks use.
    pub needed: bool,
    /// Commands of the entries.
    pub commands: Vec<EntryCommand>,
    /// Programs that the entries call and that do not exist or are not executable.
    pub unreachable: Vec<PathBuf>,
    /// `true` if the entries have the agent's key that makes failures block.
    pub blocks_on_failure: bool,
    /// Instruction for the removal of the entries without checkrein.
    pub removal_by_hand: String,
    /// Directories of the user that the entries name.
    pub dirs: UserDirs,
    /// Other agents that read the same file.
    pub also_read_by: Vec<&'static str>,
}

/// Trust of an agent in the entries of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentTrust {
    /// The agent runs hooks without trust, or there are no entries.
    NotNeeded,
    /// The user has trusted all entries.
    Trusted,
    /// The agent skips entries until the user trusts them.
    Untrusted,
    /// The agent skips the file until the user trusts the folder.
    UntrustedFolder,
    /// The record of the agent does not tell.
    Unknown,
}

/// Command of an entry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EntryCommand {
    /// Event, by the name of the agent.
    pub event: &'static str,
    /// Kind of the event.
    pub kind: EventKind,
    /// Matcher of the entry, in the agent's grammar.
    pub matcher: Matcher,
    /// Command, as the agent runs it.
    pub command: HookCommand,
}

/// State of checkrein in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The settings have no entries of checkrein.
    Absent,
    /// The settings have entries of checkrein.
    Installed,
    /// The settings cannot be read. Contains the reason.
    Broken(String),
}

impl Installed {
    /// Returns `true` if the entries are up to date and trusted, or if there are none.
    pub fn is_fine(&self) -> bool {
        match self.state {
            State::Absent => true,
            State::Installed => !self.is_outdated() && self.untrusted.is_empty(),
            State::Broken(_) => false,
        }
    }

    /// Command that writes the entries again, with the options that they have now.
    pub fn fix(&self, agent: &str) -> String {
        let project = if self.scope == Scope::User { "" } else { " --project" };
        let needed = if self.needed { " --needed" } else { "" };
        let open = if self.fails_open { " --fail-open" } else { "" };
        format!("checkrein install {agent}{project}{needed}{open}")
    }

    /// Returns `true` if a new installation would change the entries.
    pub fn is_outdated(&self) -> bool {
        !self.missing.is_empty() || !self.drift.is_empty()
    }
}

/// One of our hooks in an agent's settings.
struct Entry {
    event: &'static EventRow,
    matcher: Matcher,
    command: String,
}

impl Installer {
    /// Determines the status of an agent.
    pub fn status(&self, agent: &'static Dialect) -> Status {
        let scopes: &[Scope] = if self.has_one_file(agent) { &[Scope::User] } else { &[Scope::User, Scope::Project] };
        let mut switched_off = Vec::new();
        let mut places = Vec::new();
        for mut place in scopes.iter().filter_map(|scope| self.installed(agent, *scope)) {
            if place.state == State::Installed {
                let needs_trust = agent.install.is_some_and(|table| table.trust.is_some());
                match self.trust(agent, place.scope, &place.path) {
                    Some(trust) => {
                        place.trust =
                            if trust.untrusted.is_empty() { AgentTrust::Trusted } else { AgentTrust::Untrusted };
                        place.untrusted = trust.untrusted;
                        switched_off.extend(trust.disabled);
                    }
                    None if needs_trust => place.trust = AgentTrust::Unknown,
                    None => {}
                }
                if place.scope != Scope::User && !self.is_trusted_folder(agent) {
                    place.trust = AgentTrust::UntrustedFolder;
                    place.untrusted.clone_from(&place.covered);
                }
            }
            places.push(place);
        }
        let is_installed = places.iter().any(|place| place.state == State::Installed);
        if is_installed {
            switched_off.extend(self.switched_off(agent));
        }
        let host = &agent.host;
        let blocks = places.iter().any(|place| place.blocks_on_failure);
        let stays_open = match (host.failure_switch, host.killed) {
            _ if !is_installed => None,
            (Some(_), _) => Some(!blocks),
            (None, HostBehavior::Runs) => Some(true),
            (None, HostBehavior::Blocked) => Some(false),
            (None, HostBehavior::Unknown) => None,
        };
        let is_blocked = is_installed && blocked_without_program(agent, blocks);
        Status {
            agent: agent.name,
            found: self.found(agent),
            places,
            by_hand: agent.install.is_none().then(|| by_hand(agent)),
            switched_off,
            stays_open,
            switch_since: agent.install.and_then(|table| table.switch_since).filter(|_| blocks),
            blocked_without_program: is_blocked,
            prompts_blocked_without_program: is_blocked && host.missing_program_blocks_prompts,
            unseen: host.not_observable,
        }
    }

    /// Looks for an agent on this machine.
    pub fn found(&self, agent: &'static Dialect) -> Detected {
        let Some(table) = agent.install else {
            let program = agent.host.programs.iter().find_map(|name| on_path(Path::new(name), &self.place));
            return Detected { program, ..Detected::default() };
        };
        let program = table.programs.iter().find_map(|name| on_path(Path::new(name), &self.place));
        Detected {
            version: program.as_deref().and_then(|program| version::from_files(&table, program)),
            prints_version: table.prints_version,
            program,
            directories: table
                .signs
                .iter()
                .filter_map(|sign| self.resolve(sign))
                .filter(|path| path.is_dir())
                .collect(),
        }
    }

    fn installed(&self, agent: &'static Dialect, scope: Scope) -> Option<Installed> {
        let (target, others) = self.targets(agent, scope).ok()?;
        let dialect = desired_entries::entry_dialect(agent).name;
        let has = |path: &PathBuf| file::read_text(path).is_some_and(|text| has_ours_or_edited(&text, dialect));
        let path = others.into_iter().find(|other| !has(&target) && has(other)).unwrap_or_else(|| target.clone());
        let also_read_by = self.also_read_by(agent, &path);
        let removal_by_hand = removal_by_hand(agent, &path);
        let mut installed = Installed {
            scope,
            path,
            state: State::Absent,
            covered: Vec::new(),
            missing: Vec::new(),
            left_out: Vec::new(),
            drift: Vec::new(),
            trust: AgentTrust::NotNeeded,
            untrusted: Vec::new(),
            fails_open: false,
            needed: false,
            commands: Vec::new(),
            unreachable: Vec::new(),
            blocks_on_failure: false,
            removal_by_hand,
            dirs: UserDirs::default(),
            also_read_by,
        };
        let read = if agent.config.format.is_programs() {
            self.scripts(agent, &installed.path)
        } else if agent.config.format.code().is_some() {
            Self::code(agent, &installed.path)
        } else {
            self.entries(agent, scope, &installed.path)
        };
        match read {
            Ok((entries, _)) if entries.is_empty() => {}
            Ok((entries, texts)) => self.compare(agent, &mut installed, &entries, &texts),
            Err(why) => installed.state = State::Broken(why),
        }
        if installed.state == State::Installed && installed.path != target {
            installed.drift.push(format!("the agent reads {} instead", target.display()));
        }
        Some(installed)
    }

    /// Fills `installed` with the differences between the entries and those of a new installation.
    fn compare(&self, agent: &'static Dialect, installed: &mut Installed, entries: &[Entry], texts: &Texts) {
        installed.state = State::Installed;
        let is_covered = |row: &EventRow| entries.iter().any(|entry| entry.event.name == row.name);
        let rows = desired_entries::entry_dialect(agent).events;
        installed.covered = rows.iter().filter(|row| is_covered(row)).map(|row| row.name).collect();
        let calls: Vec<_> = entries.iter().filter_map(|entry| command::read(&entry.command)).collect();
        installed.needed = !calls.is_empty() && calls.iter().all(|(_, call)| call.needed);
        // Entries of an agent whose hooks are programs are the programs.
        let is_programs = agent.config.format.is_programs();
        installed.commands = entries
            .iter()
            .map(|entry| EntryCommand {
                event: entry.event.name,
                kind: entry.event.kind.clone(),
                matcher: entry.matcher.clone(),
                command: match is_programs {
                    true => HookCommand::argv([installed.path.join(entry.event.name)]),
                    false => HookCommand::shell(&entry.command),
                },
            })
            .collect();
        let needed = if installed.needed { Some(self.needed_by_hooks(agent)) } else { None };
        let wanted = Choice { needed, ..Choice::default() };
        installed.missing =
            desired_entries::events(agent, &wanted).filter(|row| !is_covered(row)).map(|row| row.name).collect();
        let is_left_out = |row: &&EventRow| !is_covered(row) && !installed.missing.contains(&row.name);
        installed.left_out = rows.iter().filter(is_left_out).map(|row| row.name).collect();

        let programs: BTreeSet<_> = calls.iter().map(|(program, _)| program.clone()).collect();
        let expected = self.program_at(installed.scope);
        for program in &programs {
            let shown = program.path().display();
            if !program.is_found(&self.place) {
                installed.drift.push(format!("program `{shown}` not found"));
                installed.unreachable.push(program.path().to_owned());
            } else if !program.is_same(expected) {
                installed.drift.push(format!("calls `{shown}` instead of `{}`", expected.path().display()));
            }
            if program.dirs() != expected.dirs() {
                let (named, wanted) = (directories(program), directories(expected));
                installed.drift.push(format!("calls checkrein with {named} instead of {wanted}"));
            }
        }
        // The options of the existing entries.
        let fail_open = !calls.is_empty() && calls.iter().all(|(_, call)| call.fail_open);
        let switch = agent.host.failure_switch.map(|(key, _)| format!("\"{key}\":"));
        installed.blocks_on_failure =
            switch.is_some_and(|switch| texts.hooks.iter().any(|(_, text)| text.contains(&switch)));
        // Entries of the user always have the key, unless they fail open.
        let blocks_on_failure = match installed.scope {
            Scope::User => !fail_open,
            _ => installed.blocks_on_failure,
        };
        let is_marked = installed.needed;
        let choice = Choice { fail_open, blocks_on_failure, all_events: true, needed: None, is_marked };
        installed.fails_open = choice.fail_open;
        installed.dirs = programs.first().map(|program| program.dirs().clone()).unwrap_or_default();
        let program = programs.first().unwrap_or(expected);
        installed.drift.extend(edited(entries, desired_entries::entry_dialect(agent).name));
        installed.drift.extend(texts.changed(agent, program, &choice));
    }

    /// Our hooks in a file.
    fn entries(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Result<(Vec<Entry>, Texts), String> {
        let dialect = desired_entries::entry_dialect(agent);
        let Some(text) = file::read(path, None).map_err(|error| error.to_string())?.text else {
            return Ok((Vec::new(), Texts::default()));
        };
        let decoded = dialect.decode(&path.display().to_string(), scope, &text, Format::Json);
        if decoded.unreadable {
            let why = decoded.diagnostics.first().map_or_else(String::new, ToString::to_string);
            return Err(format!("{} cannot read this file: {why}", agent.name));
        }
        let mut entries = Vec::new();
        for spec in &decoded.hooks {
            let HandlerSpec::Command(command) = &spec.handler else { continue };
            let CommandLine::Shell { text, .. } = &command.run else { continue };
            let rows = dialect.events.iter().filter(|row| spec.kinds.contains(&row.kind));
            if is_own_or_edited(text, dialect.name) {
                let entry = |event| Entry { event, matcher: spec.matcher.clone(), command: text.clone() };
                entries.extend(rows.map(entry));
            }
        }
        let hooks = parse_tree(&text).map(|root| own_hooks(&root, dialect.name)).unwrap_or_default();
        Ok((entries, Texts { hooks, ..Texts::default() }))
    }

    /// Our file with code, which calls checkrein at all events.
    fn code(agent: &'static Dialect, path: &Path) -> Result<(Vec<Entry>, Texts), String> {
        let Some(text) = file::read(path, None).map_err(|error| error.to_string())?.text else {
            return Ok((Vec::new(), Texts::default()));
        };
        let Some(command) = desired_entries::script_command(&text).filter(|command| is_own(command, agent.name)) else {
            return Ok((Vec::new(), Texts::default()));
        };
        let entry = |event| Entry { event, matcher: Matcher::everything(), command: command.to_owned() };
        let entries = desired_entries::events(agent, &Choice::default()).map(entry).collect();
        Ok((entries, Texts { code: Some(text), ..Texts::default() }))
    }

    /// Our programs in a directory.
    fn scripts(&self, agent: &'static Dialect, directory: &Path) -> Result<(Vec<Entry>, Texts), String> {
        let mut entries = Vec::new();
        let mut scripts = Vec::new();
        for event in agent.events {
            let path = directory.join(event.name);
            let Some(text) = file::read(&path, None).map_err(|error| error.to_string())?.text else { continue };
            let Some(command) = desired_entries::script_command(&text).filter(|command| is_own(command, agent.name))
            else {
                continue;
            };
            entries.push(Entry { event, matcher: Matcher::everything(), command: command.to_owned() });
            scripts.push(Script { event, is_executable: is_program(&path), text });
        }
        Ok((entries, Texts { scripts, ..Texts::default() }))
    }
}

/// Maximum number of changed entries that are named.
const MAX_NAMED: usize = 3;

/// Maximum number of characters of a command in a message.
const MAX_COMMAND: usize = 160;

/// Entries whose command is not one that an installation writes, in one sentence.
fn edited(entries: &[Entry], agent: &str) -> Option<String> {
    let edited: Vec<_> = entries.iter().filter(|entry| !is_own(&entry.command, agent)).collect();
    let first = edited.first()?;
    let command: String = first.command.chars().take(MAX_COMMAND).collect();
    let others = match edited.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Some(format!("entry is edited: `{command}` for {}{others}", first.event.name))
}

/// Directories that calls of a program name, for messages.
fn directories(program: &Program) -> String {
    let options = program.dirs().options().map(|(option, dir)| format!("`{option} {}`", dir.display()));
    let options = options.collect::<Vec<_>>().join(", ");
    if options.is_empty() { "no directories".to_owned() } else { options }
}

/// Texts of our hooks.
#[derive(Default)]
struct Texts {
    /// Path of keys and canonical text of each entry.
    hooks: Vec<(String, String)>,
    scripts: Vec<Script>,
    /// A file with code.
    code: Option<String>,
}

struct Script {
    event: &'static EventRow,
    text: String,
    is_executable: bool,
}

impl Texts {
    /// Differences from the texts of a new installation, one sentence each.
    fn changed(&self, agent: &'static Dialect, program: &Program, choice: &Choice) -> Vec<String> {
        let mut changed = Vec::new();
        if self.code.is_some() && self.code != desired_entries::code(agent, program, choice) {
            changed.push("the plugin is modified or outdated".to_owned());
        }
        for script in &self.scripts {
            if script.text != desired_entries::script(agent, script.event, program, choice) {
                changed.push(format!("the program for {} is modified or outdated", script.event.name));
            } else if !script.is_executable {
                changed.push(format!("the program for {} is not executable", script.event.name));
            }
        }
        let entries = desired_entries::entries(agent, program, choice).unwrap_or_default();
        let wanted = parse_tree(&entries)
            .map(|root| own_hooks(&root, desired_entries::entry_dialect(agent).name))
            .unwrap_or_default();
        let mut seen = BTreeSet::new();
        let (mut modified, mut duplicated) = (Vec::new(), Vec::new());
        for hook @ (path, _) in &self.hooks {
            let event = path.rsplit('.').next().unwrap_or(path);
            if !wanted.contains(hook) {
                modified.push(event);
            } else if !seen.insert(hook) {
                duplicated.push(event);
            }
        }
        changed.extend(entries_of(&modified, "modified or outdated"));
        changed.extend(entries_of(&duplicated, "duplicated"));
        changed
    }
}

/// States something about the entries for these events, in one sentence. `None`: there are none.
fn entries_of(events: &[&str], what: &str) -> Option<String> {
    match events {
        [] => None,
        [event] => Some(format!("the entry for {event} is {what}")),
        some if some.len() <= MAX_NAMED => Some(format!("the entries for {} are {what}", some.join(", "))),
        many => Some(format!("{} entries are {what}", many.len())),
    }
}
