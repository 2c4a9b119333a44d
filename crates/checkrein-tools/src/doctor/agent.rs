//! Checks of one agent: its entries, their trust, its switches, and a call through the installed command.

use std::ffi::OsString;
use std::time::SystemTime;

use checkrein::hook_files::{Loaded, Locations, Sources, UserDirs};
use checkrein_core::Scope;
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::Severity;

use super::{Check, Doctor, RecentActivity, Section};
use crate::install::{AgentTrust, Installed, Installer, State, Status};
use crate::lint;
use crate::self_test::{SelfTest, SelfTestCall};

/// Variables that the command of an entry gets in a self-test. Others could come from a project or from this shell.
const VARIABLES: &[&str] = &["HOME", "PATH", "USER", "LOGNAME", "LANG", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "TEMP"];

pub(super) struct Examination<'a> {
    doctor: &'a Doctor<'a>,
    agent: &'static Dialect,
    status: &'a Status,
    place: &'a Locations,
    loaded: &'a Loaded,
}

impl<'a> Examination<'a> {
    pub(super) fn new(
        doctor: &'a Doctor<'a>,
        agent: &'static Dialect,
        status: &'a Status,
        place: &'a Locations,
        loaded: &'a Loaded,
    ) -> Self {
        Self { doctor, agent, status, place, loaded }
    }

    pub(super) fn section(&self) -> Section {
        let is_installed = self.status.is_installed();
        let mut checks = vec![self.found()];
        for place in &self.status.places {
            checks.extend(self.entries(place));
        }
        if !is_installed && self.status.places.iter().all(|place| place.state == State::Absent) {
            checks.push(self.absent());
        }
        if is_installed {
            checks.push(self.switches());
            checks.extend(self.uncalled());
            for place in self.status.places.iter().filter(|place| place.state == State::Installed) {
                checks.push(self.self_test(place));
            }
            let activity = RecentActivity::find(self.agent, self.place, self.loaded);
            checks.extend(activity.iter().flat_map(|activity| activity.checks(SystemTime::now())));
            checks.extend(self.limits());
        }
        let version = self.status.found.version.clone();
        Section { title: self.agent.name, is_agent: true, is_installed, version, checks }
    }

    fn found(&self) -> Check {
        let found = &self.status.found;
        match (&found.program, found.directories.first()) {
            (Some(program), _) => {
                let version = found.version.as_deref().unwrap_or("version unknown");
                Check::ok("found", format!("{}, {version}", program.display()))
            }
            (None, Some(directory)) => {
                Check::ok("found", format!("{}; its program is not on PATH", directory.display()))
            }
            (None, None) => Check::note("found", "not found on this machine"),
        }
    }

    /// Settings without entries are a problem only if the agent must be protected.
    fn absent(&self) -> Check {
        let name = self.agent.name;
        let check = match self.doctor.required.iter().any(|agent| agent.name == name) {
            true => Check::problem("installed", "its settings do not call checkrein"),
            false => Check::warning("installed", "its settings do not call checkrein"),
        };
        match &self.status.by_hand {
            Some(by_hand) => check.fix(by_hand.as_str()),
            None => check.fix(format!("run `checkrein install {name}`")),
        }
    }

    /// Checks of one settings file with entries.
    fn entries(&self, place: &Installed) -> Vec<Check> {
        let (name, path) = (self.agent.name, place.path.display());
        match &place.state {
            State::Absent => return Vec::new(),
            State::Broken(why) => {
                let why = why.lines().next().unwrap_or_default();
                return vec![
                    Check::problem("installed", format!("{path}: {why}"))
                        .fix(format!("correct the file, then run `checkrein install {name}`")),
                ];
            }
            State::Installed => {}
        }
        let needed = if place.needed { ", only for events that hooks use" } else { "" };
        let events = place.covered.len();
        let mut checks = vec![Check::ok("installed", format!("{path}, {events} events{needed}"))];
        checks.push(match place.is_outdated() {
            false => Check::ok("entries", "unchanged since the installation"),
            true => {
                let missing = match place.missing.is_empty() {
                    true => None,
                    false => Some(format!("no entry for {}", place.missing.join(", "))),
                };
                let all: Vec<_> = missing.into_iter().chain(place.drift.iter().cloned()).collect();
                Check::problem("entries", all.join("; "))
                    .fix(format!("run `{}`, or `checkrein doctor --fix`", place.fix(name)))
            }
        });
        let first = place.unreachable.first();
        checks.push(match first {
            None => Check::ok("program", "the entries call a program that exists"),
            Some(program) => {
                Check::problem("program", format!("{} does not exist or is not executable", program.display()))
                    .fix(format!("run `{}` with the program at its new place", place.fix(name)))
            }
        });
        checks.extend(self.trust(place));
        if place.fails_open {
            checks.push(
                Check::warning("failures", "tools run if checkrein fails (--fail-open)")
                    .fix(format!("run `checkrein install {name}` to block them")),
            );
        }
        checks
    }

    fn trust(&self, place: &Installed) -> Option<Check> {
        let (name, count) = (self.agent.name, place.untrusted.len());
        Some(match place.trust {
            AgentTrust::NotNeeded => return None,
            AgentTrust::Trusted => Check::ok("trust", format!("{name} trusts the entries")),
            AgentTrust::Untrusted => Check::problem(
                "trust",
                format!("{name} skips the entries for {count} events: they are not trusted, or changed after you trusted them"),
            )
            .fix(format!("start {name} and trust the hooks")),
            AgentTrust::UntrustedFolder => {
                Check::problem("trust", format!("{name} does not trust this folder, so it skips its hooks"))
                    .fix(format!("start {name} here and trust the folder"))
            }
            AgentTrust::Unknown => {
                Check::problem("trust", format!("cannot tell whether {name} trusts the entries of this work tree"))
                    .fix("run `checkrein doctor` in the main work tree")
            }
        })
    }

    fn switches(&self) -> Check {
        match self.status.switched_off.first() {
            None => Check::ok("switches", "no setting keeps hooks from running"),
            Some(switch) => Check::problem("switches", switch.to_string()).fix(match switch.scope {
                Scope::Managed => "ask the administrator to change it",
                _ => "remove the setting; `checkrein install` does not change it",
            }),
        }
    }

    /// Hooks that no entry serves.
    fn uncalled(&self) -> Vec<Check> {
        let found = lint::missing_entries_of(self.doctor.installer, self.agent);
        let check = |found: &checkrein_dialects::config::Diagnostic| {
            let check = match found.severity {
                Severity::Error => Check::problem("events", found.message.as_str()),
                Severity::Warning => Check::warning("events", found.message.as_str()),
            };
            check.fix(found.help.clone().unwrap_or_default())
        };
        if found.is_empty() {
            return vec![Check::ok("events", "each hook has an entry at its events")];
        }
        found.iter().map(check).collect()
    }

    /// Sends a call to the command of the entry, in an environment with few variables, and expects a denial.
    fn self_test(&self, place: &Installed) -> Check {
        const NAME: &str = "self-test";
        let reinstall = format!("run `{}`", place.fix(self.agent.name));
        let dialect = Installer::entry_dialect(self.agent);
        let dir = self.doctor.dir;
        let Some(state) = self.place.state_dir() else {
            return Check::problem(NAME, "could not run: the state directory is unknown").fix("set HOME");
        };
        let dirs = UserDirs::differing(self.place);
        if place.dirs == UserDirs::default() && dirs != place.dirs {
            // The call would be an ordinary event in the log of the other home.
            let home = self.place.home.as_deref().unwrap_or(dir).display();
            return Check::problem(
                NAME,
                format!("could not run: the entry names no home, so it uses that of the account, not {home}"),
            )
            .fix(format!("set HOME to the home of the account, or run `checkrein install {}`", self.agent.name));
        }
        let call = match SelfTestCall::new(dialect, dir, &state) {
            Ok(call) => call,
            Err(why) => {
                return Check::problem(NAME, format!("could not run: {why}"))
                    .fix(format!("make {} writable for you only", state.display()));
            }
        };
        let Some(entry) = place.commands.iter().find(|entry| entry.kind == call.kind()) else {
            return Check::problem(NAME, "could not run: there is no entry for the event before a tool").fix(reinstall);
        };
        let variables: Vec<(String, OsString)> =
            VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?))).collect();
        let hooks = Sources::discover_in(&native::DIALECT, dir, self.place.clone()).called_by(dialect).load().hooks;
        match call.run(&entry.command, dir, &variables, &hooks) {
            SelfTest::Passed { duration } => {
                Check::ok(NAME, format!("{} denied a test call in {} ms", entry.event, duration.as_millis()))
            }
            SelfTest::OtherHooks { seen, expected } => Check::problem(
                NAME,
                format!(
                    "the entry denied a test call, but it sees {seen} {}, and this shell sees {expected}",
                    if seen == 1 { "hook" } else { "hooks" }
                ),
            )
            .fix(format!("compare HOME and the XDG variables of this shell; then {reinstall}")),
            SelfTest::Failed(why) => Check::problem(NAME, format!("a test call was not denied: {why}")).fix(reinstall),
            SelfTest::Impossible(why) => Check::problem(NAME, format!("could not run: {why}")).fix("try again"),
        }
    }

    /// Limits of the agent that no setting of checkrein changes.
    fn limits(&self) -> Option<Check> {
        match self.status.unseen {
            [] => None,
            unseen => Some(Check::note("limits", format!("hooks are not called for: {}", unseen.join("; ")))),
        }
    }
}
