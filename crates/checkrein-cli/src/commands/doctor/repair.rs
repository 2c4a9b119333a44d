//! `checkrein doctor --fix`: writes missing and changed entries of checkrein again, with their options.
//!
//! Must never approve a hook, and never change an entry of others.

use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein_tools::doctor::Doctor;
use checkrein_tools::install::{ChangeResult, Installer, State};
use serde_json::{Value, json};

use super::super::install::check_user_dirs;

/// A fix, or the reason why it failed.
pub struct Repair {
    pub agent: &'static str,
    /// Files that were written or removed.
    files: Vec<String>,
    pub failure: Option<String>,
}

impl Repair {
    pub fn text(&self) -> String {
        match &self.failure {
            Some(why) => why.clone(),
            None => format!("wrote {}", self.files.join(", ")),
        }
    }

    pub fn as_json(&self) -> Value {
        json!({ "agent": self.agent, "files": self.files, "failure": self.failure })
    }
}

/// Repairs the entries of all agents that have some, and installs checkrein in required agents.
pub fn repair(doctor: &Doctor<'_>) -> Vec<Repair> {
    let mut repairs = Vec::new();
    for (agent, status) in doctor.agents() {
        for place in status.places.iter().filter(|place| place.state == State::Installed && place.is_outdated()) {
            let installer = doctor.installer.clone().with_options_of(agent, place);
            repairs.extend(install(&installer, agent, place.scope));
        }
        let is_required = doctor.required.iter().any(|required| required.name == agent.name);
        let is_absent = status.places.iter().all(|place| place.state == State::Absent);
        if is_required && is_absent && status.by_hand.is_none() {
            repairs.extend(install(doctor.installer, agent, Scope::User));
        }
    }
    repairs
}

fn install(installer: &Installer, agent: &'static Dialect, scope: Scope) -> Option<Repair> {
    let failed = |why: String| Some(Repair { agent: agent.name, files: Vec::new(), failure: Some(why) });
    if scope == Scope::User
        && let Err(error) = check_user_dirs()
    {
        return failed(error.to_string());
    }
    let applied = match installer.plan(agent, scope).and_then(|plan| plan.apply()) {
        Ok(applied) => applied,
        Err(error) => return failed(error.to_string()),
    };
    let changed = applied.iter().filter(|file| file.done != ChangeResult::Unchanged);
    let files: Vec<_> = changed.map(|file| file.path.to_string_lossy().into_owned()).collect();
    if files.is_empty() { None } else { Some(Repair { agent: agent.name, files, failure: None }) }
}
