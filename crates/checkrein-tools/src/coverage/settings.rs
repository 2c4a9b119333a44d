//! Settings of agents, as far as they explain calls without a record.
//!
//! They are those of now. If they changed after a call, the text says so.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use checkrein_core::{EventKind, Matcher, Scope};
use checkrein_dialects::{Dialect, EventRow};
use jiff::Timestamp;

use super::call::{Session, ToolCall};
use super::formats::Format;
use super::reasons::{Reason, reason};
use crate::install::{AgentTrust, Installed, Installer, State, Status};

/// The user's settings.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// `true` if the decision log is on.
    pub log_is_on: bool,
    /// Reader of the settings of agents. `None`: they are not read.
    pub installer: Option<Installer>,
}

/// Agent and project of a session.
type Key = (&'static str, Option<String>);

/// Settings that were read, by agent and project.
#[derive(Default)]
pub(super) struct KnownSettings(RefCell<HashMap<Key, Option<Rc<AgentSettings>>>>);

/// Entries of checkrein in the settings of an agent.
pub(super) struct AgentSettings {
    title: &'static str,
    status: Status,
    /// Event before a tool.
    gate: &'static EventRow,
    dialect: &'static Dialect,
    /// Time of the last change of a settings file.
    changed: Option<Timestamp>,
}

impl KnownSettings {
    /// Returns the settings that apply to a session. `None`: they are not known.
    pub(super) fn of(&self, setup: &Setup, session: &Session, title: &'static str) -> Option<Rc<AgentSettings>> {
        let installer = setup.installer.as_ref()?;
        let project = session.project.clone().filter(|dir| Path::new(dir).is_absolute() && Path::new(dir).is_dir());
        let key = (session.agent, project);
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let read = AgentSettings::read(installer, session.agent, key.1.as_deref(), title).map(Rc::new);
        self.0.borrow_mut().insert(key, read.clone());
        read
    }
}

impl AgentSettings {
    fn read(installer: &Installer, agent: &str, project: Option<&str>, title: &'static str) -> Option<Self> {
        let dialect = checkrein_dialects::find(agent).filter(|dialect| dialect.install.is_some())?;
        let gate = Installer::entry_dialect(dialect).row(&EventKind::PreToolUse)?;
        let mut status = match project {
            Some(dir) => installer.in_directory(dir).status(dialect),
            None => installer.status(dialect),
        };
        // The settings of a project that is gone are not known.
        status.places.retain(|place| project.is_some() || place.scope == Scope::User);
        let time = |place: &Installed| place.path.symlink_metadata().and_then(|found| found.modified()).ok();
        let changed = status.places.iter().filter_map(time).max();
        Some(Self { title, status, gate, dialect, changed: changed.and_then(timestamp) })
    }

    /// Returns the reason why the agent does not call checkrein before this call. `None`: its settings give none.
    pub(super) fn reason(&self, call: &ToolCall) -> Option<Reason> {
        let (code, text) = self.cause(call)?;
        Some(reason(code, format!("{text}{}", self.later_change(call))))
    }

    /// Returns the reason why the entry does not cover the tool of this call, although the agent called checkrein before other tools.
    pub(super) fn matcher_reason(&self, call: &ToolCall) -> Option<Reason> {
        self.reason(call).filter(|reason| reason.code == "matcher")
    }

    /// Returns the time of the last change, if it was after this call.
    pub(super) fn changed_after(&self, call: &ToolCall) -> Option<Timestamp> {
        self.changed.zip(call.time).filter(|(changed, time)| changed > time).map(|(changed, _)| changed)
    }

    fn later_change(&self, call: &ToolCall) -> String {
        let changed = self.changed_after(call);
        changed.map(|time| format!("; the settings changed after this call, at {time:.0}")).unwrap_or_default()
    }

    fn cause(&self, call: &ToolCall) -> Option<(&'static str, String)> {
        let (title, gate) = (self.title, self.gate.name);
        let installed: Vec<_> = self.status.places.iter().filter(|place| place.state == State::Installed).collect();
        let Some(first) = installed.first() else {
            let broken = self.status.places.iter().find_map(|place| match &place.state {
                State::Broken(why) => Some(why.lines().next().unwrap_or_default()),
                _ => None,
            });
            if let Some(why) = broken {
                return Some(("settings_unreadable", format!("the settings of {title} are not readable: {why}")));
            }
            let agent = self.status.agent;
            let text =
                format!("checkrein has no entry in the settings of {title} now; run `checkrein install {agent}`");
            return Some(("not_installed", text));
        };
        if let Some(switch) = self.status.switched_off.first() {
            return Some(("switched_off", switch.to_string()));
        }
        let fix = first.fix(self.status.agent);
        let with_gate: Vec<_> = installed.iter().filter(|place| place.covered.contains(&gate)).collect();
        if with_gate.is_empty() {
            let text = format!("the settings of {title} have no entry of checkrein for `{gate}` now; run `{fix}`");
            return Some(("entry_missing", text));
        }
        let trusted: Vec<_> = with_gate.iter().filter(|place| !place.untrusted.contains(&gate)).collect();
        if trusted.is_empty() {
            let is_folder = with_gate.iter().any(|place| place.trust == AgentTrust::UntrustedFolder);
            let what = if is_folder { "this folder, so it skips its hooks" } else { "the entry of checkrein" };
            return Some(("not_trusted", format!("{title} does not trust {what}")));
        }
        let reachable: Vec<_> = trusted.iter().filter(|place| place.unreachable.is_empty()).collect();
        if reachable.is_empty() {
            let program = trusted.iter().flat_map(|place| &place.unreachable).next()?.display();
            let text = format!("the entry calls {program}, which does not exist or is not executable");
            return Some(("program_missing", text));
        }
        if !reachable.iter().any(|place| self.matches(place, call)) {
            let text = format!("the matcher of the entry for `{gate}` does not match `{}`", call.tool);
            return Some(("matcher", text));
        }
        let drift: Vec<_> = installed.iter().flat_map(|place| &place.drift).map(String::as_str).collect();
        if drift.is_empty() {
            return None;
        }
        let text = format!("the entries of checkrein differ from those of an installation: {}", drift.join("; "));
        Some(("entry_changed", text))
    }

    /// Returns `true` if an entry matches one of the names of a tool.
    fn matches(&self, place: &Installed, call: &ToolCall) -> bool {
        let name = Format::of(self.dialect.name).map_or(&*call.tool, |format| format.hook_tool(&call.tool));
        let row = self.dialect.tool(name);
        let is_matched = |matcher: &Matcher| {
            matcher.matches(name)
                || row
                    .is_some_and(|row| row.matched_names().chain(row.common.to_vec()).any(|name| matcher.matches(name)))
        };
        place.commands.iter().any(|entry| entry.event == self.gate.name && is_matched(&entry.matcher))
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}
