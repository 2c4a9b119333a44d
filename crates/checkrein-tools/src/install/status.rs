//! How things stand with an agent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein_core::{HookState, Scope};
use checkrein_dialects::{CommandLine, Dialect, EventRow, HandlerSpec, HostBehavior};
use checkrein_document::Format;

use super::command::{self, is_program, on_path};
use super::desired_entries::{self, Choice};
use super::our_entries::{has_ours, is_own, own_hooks, tree};
use super::{Installer, Program, blocked_without_program, by_hand, file};

/// How things stand with an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The agent.
    pub agent: &'static str,
    /// Whether it is on this machine.
    pub found: Detected,
    /// Its settings, the user's and the project's.
    pub places: Vec<Installed>,
    /// What to do if its settings are not written by checkrein.
    pub by_hand: Option<String>,
    /// Whether a tool runs if checkrein is killed, with a version that knows the agent's switch against it. `None`: nobody
    /// knows.
    pub stays_open: Option<bool>,
    /// The first version that knows that switch, if older ones overlook it.
    pub switch_since: Option<&'static str>,
    /// Whether tools are blocked if the program is gone: by the agent itself, or by its switch against hooks that fail.
    pub blocked_without_program: bool,
    /// What no hook ever hears of, in words.
    pub unseen: &'static [&'static str],
}

impl Status {
    /// Whether a tool runs if checkrein is killed, with this version of the agent.
    pub fn stays_open_with(&self, version: Option<&str>) -> Option<bool> {
        let numbers = |version: &str| -> Vec<u64> {
            let digits = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
            version.split('.').map_while(digits).collect()
        };
        let overlooks = self.switch_since.zip(version).is_some_and(|(since, seen)| numbers(seen) < numbers(since));
        if overlooks { Some(true) } else { self.stays_open }
    }
}

/// What of an agent is on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detected {
    /// Its program.
    pub program: Option<PathBuf>,
    /// Its directories.
    pub directories: Vec<PathBuf>,
}

impl Detected {
    /// Whether anything is.
    pub fn is_here(&self) -> bool {
        self.program.is_some() || !self.directories.is_empty()
    }
}

/// What the settings of an agent have of checkrein.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Installed {
    /// Whose settings.
    pub scope: Scope,
    /// The file, or the directory of programs.
    pub path: PathBuf,
    /// Whether checkrein is in them.
    pub state: State,
    /// The events at which it is called.
    pub covered: Vec<&'static str>,
    /// The events at which it would be called if it were installed now, and is not.
    pub missing: Vec<&'static str>,
    /// Events of the agent at which it is not called on purpose: they come for each piece of text, or have whole
    /// conversations with them, or a hook has to make something there.
    pub left_out: Vec<&'static str>,
    /// What is otherwise not as it would be written now, in words.
    pub drift: Vec<String>,
    /// Whether its user has asked for things to happen if checkrein fails.
    pub fails_open: bool,
    /// Other agents that read the same file.
    pub also_read_by: Vec<&'static str>,
}

/// Whether checkrein is in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is not.
    Absent,
    /// It is.
    Installed,
    /// Nobody can tell, and why.
    Broken(String),
}

impl Installed {
    /// Whether all is as it would be written now, or nothing is there.
    pub fn is_fine(&self) -> bool {
        match self.state {
            State::Absent => true,
            State::Installed => self.missing.is_empty() && self.drift.is_empty(),
            State::Broken(_) => false,
        }
    }
}

/// A hook of ours that is there.
struct Entry {
    event: &'static EventRow,
    command: String,
}

impl Installer {
    /// How things stand with an agent.
    pub fn status(&self, agent: &'static Dialect) -> Status {
        let scopes = [Scope::User, Scope::Project];
        let places: Vec<_> = scopes.into_iter().filter_map(|scope| self.installed(agent, scope)).collect();
        let host = &agent.host;
        let opened = places.iter().any(|place| place.fails_open);
        let stays_open = match (host.failure_switch, host.killed) {
            (Some(_), _) => Some(opened),
            (None, HostBehavior::Runs) => Some(true),
            (None, HostBehavior::Blocked) => Some(false),
            (None, HostBehavior::Unknown) => None,
        };
        Status {
            agent: agent.name,
            found: self.found(agent),
            places,
            by_hand: agent.install.is_none().then(|| by_hand(agent)),
            stays_open,
            switch_since: agent.install.and_then(|table| table.switch_since),
            blocked_without_program: blocked_without_program(agent, opened),
            unseen: host.not_observable,
        }
    }

    /// What of an agent is on this machine.
    pub fn found(&self, agent: &'static Dialect) -> Detected {
        let Some(table) = agent.install else { return Detected::default() };
        Detected {
            program: table.programs.iter().find_map(|name| on_path(Path::new(name), &self.place)),
            directories: table.signs.iter().filter_map(|sign| self.at(sign)).filter(|sign| sign.is_dir()).collect(),
        }
    }

    fn installed(&self, agent: &'static Dialect, scope: Scope) -> Option<Installed> {
        let (target, others) = self.targets(agent, scope).ok()?;
        let speaks = desired_entries::spoken(agent).name;
        let has = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| has_ours(&text, speaks));
        let path = others.into_iter().find(|other| !has(&target) && has(other)).unwrap_or_else(|| target.clone());
        let also_read_by = self.also_read_by(agent, &path);
        let mut installed = Installed {
            scope,
            path,
            state: State::Absent,
            covered: Vec::new(),
            missing: Vec::new(),
            left_out: Vec::new(),
            drift: Vec::new(),
            fails_open: false,
            also_read_by,
        };
        let read = if agent.config.format.is_programs() {
            self.scripts(agent, &installed.path)
        } else {
            self.entries(agent, scope, &installed.path)
        };
        match read {
            Ok((entries, _)) if entries.is_empty() => {}
            Ok((entries, texts)) => self.judge(agent, &mut installed, &entries, &texts),
            Err(why) => installed.state = State::Broken(why),
        }
        if installed.state == State::Installed {
            if installed.path != target {
                installed.drift.push(format!("the agent reads {} instead", target.display()));
            }
            installed.drift.extend(self.switched_off(agent, scope));
        }
        Some(installed)
    }

    fn judge(&self, agent: &'static Dialect, installed: &mut Installed, entries: &[Entry], texts: &Texts) {
        installed.state = State::Installed;
        let is_covered = |row: &EventRow| entries.iter().any(|entry| entry.event.name == row.name);
        let rows = desired_entries::spoken(agent).events;
        installed.covered = rows.iter().filter(|row| is_covered(row)).map(|row| row.name).collect();
        installed.missing =
            desired_entries::events(agent, false).filter(|row| !is_covered(row)).map(|row| row.name).collect();
        let is_left_out = |row: &&EventRow| !is_covered(row) && !installed.missing.contains(&row.name);
        installed.left_out = rows.iter().filter(is_left_out).map(|row| row.name).collect();

        let calls: Vec<_> = entries.iter().filter_map(|entry| command::read(&entry.command)).collect();
        let programs: BTreeSet<_> = calls.iter().map(|(program, _)| program.clone()).collect();
        let expected = self.program_at(installed.scope);
        for program in &programs {
            let shown = program.path().display();
            if !program.is_there(&self.place) {
                installed.drift.push(format!("the program {shown} is not there"));
            } else if !program.is(expected) {
                installed.drift.push(format!("calls {shown}, and not {}", expected.path().display()));
            }
        }
        let choice = Choice {
            // As its user has chosen it.
            fail_open: !calls.is_empty() && calls.iter().all(|(_, call)| call.fail_open),
            all_events: true,
        };
        installed.fails_open = choice.fail_open;
        let program = programs.first().unwrap_or(expected);
        installed.drift.extend(texts.changed(agent, program, &choice));
    }

    /// Hooks of ours in a file.
    fn entries(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Result<(Vec<Entry>, Texts), String> {
        let speaks = desired_entries::spoken(agent);
        let Some(text) = file::read(path).map_err(|error| error.to_string())?.text else {
            return Ok((Vec::new(), Texts::default()));
        };
        let decoded = speaks.decode(&path.display().to_string(), scope, &text, Format::Json);
        if decoded.unreadable {
            let why = decoded.diagnostics.first().map_or_else(String::new, ToString::to_string);
            return Err(format!("{} cannot read it: {why}", agent.name));
        }
        let mut entries = Vec::new();
        let mut off = Vec::new();
        for spec in &decoded.hooks {
            let HandlerSpec::Command(command) = &spec.handler else { continue };
            let CommandLine::Shell { text, .. } = &command.run else { continue };
            let rows = speaks.events.iter().filter(|row| spec.kinds.contains(&row.kind));
            if is_own(text, speaks.name) {
                off.extend(rows.clone().filter(|_| spec.state == HookState::Disabled).map(|row| row.name));
                entries.extend(rows.map(|event| Entry { event, command: text.clone() }));
            }
        }
        let hooks = tree(&text).map(|root| own_hooks(&root, speaks.name)).unwrap_or_default();
        Ok((entries, Texts { hooks, off, scripts: Vec::new() }))
    }

    /// Programs of ours in a directory.
    fn scripts(&self, agent: &'static Dialect, directory: &Path) -> Result<(Vec<Entry>, Texts), String> {
        let mut entries = Vec::new();
        let mut scripts = Vec::new();
        for event in agent.events {
            let path = directory.join(event.name);
            let Some(text) = file::read(&path).map_err(|error| error.to_string())?.text else { continue };
            let Some(command) = desired_entries::script_command(&text).filter(|command| is_own(command, agent.name))
            else {
                continue;
            };
            entries.push(Entry { event, command: command.to_owned() });
            scripts.push(Script { event, runs: is_program(&path), text });
        }
        Ok((entries, Texts { scripts, ..Texts::default() }))
    }
}

/// What the hooks of ours say.
#[derive(Default)]
struct Texts {
    hooks: Vec<(String, String)>,
    /// Events whose entries are switched off.
    off: Vec<&'static str>,
    scripts: Vec<Script>,
}

struct Script {
    event: &'static EventRow,
    text: String,
    runs: bool,
}

impl Texts {
    /// What is not as it would be written now.
    fn changed(&self, agent: &'static Dialect, program: &Program, choice: &Choice) -> Vec<String> {
        let off = self.off.iter().map(|event| format!("the entry for {event} is switched off"));
        let mut changed: Vec<_> = off.collect();
        for script in &self.scripts {
            if script.text != desired_entries::script(agent, script.event, program, choice) {
                changed.push(format!("the program for {} is not as it would be written now", script.event.name));
            } else if !script.runs {
                changed.push(format!("the program for {} is not executable", script.event.name));
            }
        }
        let entries = desired_entries::entries(agent, program, choice).unwrap_or_default();
        let wanted =
            tree(&entries).map(|root| own_hooks(&root, desired_entries::spoken(agent).name)).unwrap_or_default();
        let mut seen = BTreeSet::new();
        for hook @ (at, _) in &self.hooks {
            let event = at.rsplit('.').next().unwrap_or(at);
            if !wanted.contains(hook) {
                changed.push(format!("the entry for {event} is not as it would be written now"));
            } else if !seen.insert(hook) {
                changed.push(format!("the entry for {event} is there twice"));
            }
        }
        changed
    }
}
