//! Checks of the whole setup, for `checkrein doctor`: the program and its directories, hooks, and each agent on this machine.
//!
//! A [`Report`] has one [`Check`] per question, with a fix for each problem. A check that cannot run is a problem, never ok.
//! `status`, `check` and `trust check` use the same functions for their part. Examining changes nothing, except for a token
//! of the [self-test](crate::self_test), which is removed again.

mod activity;
mod agent;
mod hooks;
mod setup;

use std::path::Path;

use checkrein::hook_files::{Locations, Sources};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::Diagnostic;

pub use activity::RecentActivity;

use crate::install::{Installer, State, Status};

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// As it should be.
    Ok,
    /// A fact that needs no action.
    Note,
    /// Something may be wrong.
    Warning,
    /// Something is wrong, or the check could not run.
    Problem,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Note, Self::Warning, Self::Problem];

    /// Word for the level, for output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// Stable name of the question.
    pub name: &'static str,
    /// Result.
    pub level: Level,
    /// Answer, in one line.
    pub text: String,
    /// Action for the user.
    pub fix: Option<String>,
}

impl Check {
    /// Check with this result, without a fix.
    pub fn new(level: Level, name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level, text: text.into(), fix: None }
    }

    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Level::Ok, name, text)
    }

    fn note(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Level::Note, name, text)
    }

    fn warning(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Level::Warning, name, text)
    }

    fn problem(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(Level::Problem, name, text)
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Checks of one part of the setup.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Name of the part.
    pub title: &'static str,
    /// `true` if the part is an agent.
    pub is_agent: bool,
    /// `true` if the settings of the agent call checkrein.
    pub is_installed: bool,
    /// Version of the agent, if its files tell it.
    pub version: Option<String>,
    /// Checks, in the order of the report.
    pub checks: Vec<Check>,
}

impl Section {
    /// Number of checks with this result.
    pub fn count(&self, level: Level) -> usize {
        self.checks.iter().filter(|check| check.level == level).count()
    }
}

/// Answer to the question whether the user is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Parts: the setup, the hooks, and each agent.
    pub sections: Vec<Section>,
    /// Agents that must be protected. Empty: the report is about all agents.
    pub required: Vec<&'static str>,
}

impl Report {
    /// Number of checks with this result.
    pub fn count(&self, level: Level) -> usize {
        self.sections.iter().map(|section| section.count(level)).sum()
    }

    /// Agents in the report.
    fn agents(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.is_agent)
    }

    /// Number of problems that are not of one agent. They affect all agents.
    fn shared_problems(&self) -> usize {
        self.sections.iter().filter(|section| !section.is_agent).map(|section| section.count(Level::Problem)).sum()
    }

    /// Agents that call checkrein, without problems.
    pub fn protected(&self) -> Vec<&'static str> {
        let is_protected = |agent: &&Section| agent.is_installed && agent.count(Level::Problem) == 0;
        if self.shared_problems() > 0 {
            return Vec::new();
        }
        self.agents().filter(is_protected).map(|agent| agent.title).collect()
    }

    /// All other agents, each with the reason.
    pub fn not_protected(&self) -> Vec<(&'static str, String)> {
        let protected = self.protected();
        let others = self.agents().filter(|agent| !protected.contains(&agent.title));
        let why = |agent: &Section| match (agent.is_installed, agent.count(Level::Problem)) {
            (false, 0) => "not installed".to_owned(),
            (true, 0) => format!("{} above", problems(self.shared_problems())),
            (_, own) => problems(own),
        };
        others.map(|agent| (agent.title, why(agent))).collect()
    }

    /// Returns `true` if all required agents are protected; without required agents, if one agent is, and there is no problem.
    pub fn is_fine(&self) -> bool {
        let protected = self.protected();
        match self.required.is_empty() {
            true => !protected.is_empty() && self.count(Level::Problem) == 0,
            false => self.required.iter().all(|agent| protected.contains(agent)),
        }
    }
}

fn problems(count: usize) -> String {
    if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") }
}

/// Examines the setup of agents that are started in a directory.
#[derive(Debug)]
pub struct Doctor<'a> {
    /// Installer for the directory. Its program is the expected one.
    pub installer: &'a Installer,
    /// Start directory of the agents.
    pub dir: &'a Path,
    /// Agents that must be protected.
    pub required: Vec<&'static Dialect>,
    /// Findings in files of agents' own hooks, each with the name of the agent.
    pub findings_of_agents: Vec<(&'static str, Diagnostic)>,
}

impl Doctor<'_> {
    /// Runs all checks.
    pub fn examine(&self) -> Report {
        let place = Locations::default();
        let mut loaded = Sources::discover(&native::DIALECT, self.dir).load();
        loaded.verify_scripts();
        let mut sections = vec![setup::section(&loaded, &place), hooks::section(self, &loaded)];
        for (agent, status) in self.agents() {
            sections.push(agent::Examination::new(self, agent, &status, &place, &loaded).section());
        }
        Report { sections, required: self.required.iter().map(|agent| agent.name).collect() }
    }

    /// Agents on this machine, agents with entries, and required agents.
    pub fn agents(&self) -> Vec<(&'static Dialect, Status)> {
        let is_required = |agent: &Dialect| self.required.iter().any(|other| other.name == agent.name);
        // Generations of an agent are no agents of their own.
        let agents = checkrein_dialects::ALL.iter().copied().filter(|agent| {
            agent.install.is_some() || is_required(agent) || (agent.agent() == agent.name && !agent.has_all_events)
        });
        let statuses = agents.map(|agent| (agent, self.installer.status(agent)));
        statuses.filter(|(agent, status)| is_required(agent) || is_here(status)).collect()
    }
}

fn is_here(status: &Status) -> bool {
    status.found.is_here() || status.places.iter().any(|place| place.state != State::Absent)
}
