//! Shows what changes, asks, and does it.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::Result;
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein_tools::install::{Applied, Change, InstallError, Installed, Installer, Plan, State};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::commands::print_note;
use crate::exit::{self, Exit};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Install,
    Uninstall,
}

/// Does it to agents.
pub struct Applier<'a> {
    pub installer: &'a Installer,
    pub scope: Scope,
    pub act: Action,
    pub dry_run: bool,
    pub asks: bool,
    pub json: bool,
}

/// What came of it, for one agent.
enum Outcome {
    Done(Vec<Applied>),
    /// All is so already.
    Same,
    DryRun,
    Declined,
    Failed(InstallError),
}

impl Applier<'_> {
    pub fn run(&self, agents: &[&'static Dialect]) -> Result<Exit> {
        let mut told = Vec::new();
        let mut fine = true;
        for agent in agents {
            let planned = match self.act {
                Action::Install => self.installer.plan(agent, self.scope),
                Action::Uninstall => self.installer.plan_removal(agent, self.scope),
            };
            let (plan, came) = match planned {
                Ok(plan) => {
                    let came = self.settle(&plan)?;
                    (Some(plan), came)
                }
                Err(error) => (None, Outcome::Failed(error)),
            };
            fine &= !matches!(came, Outcome::Failed(_) | Outcome::Declined);
            self.tell(agent, plan.as_ref(), &came);
            if self.act == Action::Uninstall {
                self.warn_if_needed(agent);
            }
            told.push(self.as_json(agent, plan.as_ref(), &came));
        }
        if self.json {
            writeln!(anstream::stdout(), "{:#}", json!({ "agents": told }))?;
        }
        Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
    }

    fn settle(&self, plan: &Plan) -> Result<Outcome> {
        if !plan.is_needed() {
            return Ok(Outcome::Same);
        }
        if !self.json {
            show(plan)?;
        }
        if self.dry_run {
            return Ok(Outcome::DryRun);
        }
        if self.asks && !self.asked(plan)? {
            return Ok(Outcome::Declined);
        }
        Ok(plan.apply().map_or_else(Outcome::Failed, Outcome::Done))
    }

    fn asked(&self, plan: &Plan) -> Result<bool> {
        let what = match self.act {
            Action::Install => "put checkrein in front of",
            Action::Uninstall => "take checkrein out of the settings of",
        };
        write!(anstream::stderr(), "checkrein: {what} {}? [y/N] ", plan.agent.name)?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
    }

    fn tell(&self, agent: &Dialect, plan: Option<&Plan>, came: &Outcome) {
        let name = agent.name;
        let is_in = self.act == Action::Install;
        match came {
            Outcome::Failed(error) => {
                print_note(&format!("{name}: {error}"));
                if let Some(paste) = paste(error).filter(|_| is_in && !self.json) {
                    print_note(&format!("{name}: this is what to add; nothing was written"));
                    // Only that goes to standard output.
                    let _ = anstream::stdout().write_all(format!("{}\n", paste.trim_end()).as_bytes());
                }
                return;
            }
            Outcome::Same if is_in => print_note(&format!("{name}: installed already, nothing to do")),
            Outcome::Same => return print_note(&format!("{name}: not installed, nothing to do")),
            Outcome::DryRun => print_note(&format!("{name}: this is what would change")),
            Outcome::Declined => return print_note(&format!("{name}: nothing was changed, you said no")),
            Outcome::Done(files) => {
                for file in files.iter().filter(|file| file.done != checkrein_tools::install::ChangeResult::Unchanged) {
                    let copy = file.backup.as_ref();
                    let copy = copy.map(|copy| format!(", what it said before is in {}", copy.display()));
                    let done = file.done.label();
                    print_note(&format!("{name}: {done}: {}{}", file.path.display(), copy.unwrap_or_default()));
                }
            }
        }
        for known in plan.iter().flat_map(|plan| &plan.notes) {
            print_note(&format!("{name}: {known}"));
        }
    }

    /// Some agents stop working if the program goes and they are not told.
    fn warn_if_needed(&self, agent: &'static Dialect) {
        let status = self.installer.status(agent);
        let calls = |place: &&Installed| status.blocked_without_program && place.state != State::Absent;
        for place in status.places.iter().filter(calls) {
            print_note(&format!(
                "{}: {} still calls checkrein, and tools are blocked if the program is gone: do not remove it yet",
                agent.name,
                place.path.display()
            ));
        }
    }

    fn as_json(&self, agent: &Dialect, plan: Option<&Plan>, came: &Outcome) -> Value {
        let outcome = match (came, self.act) {
            (Outcome::Done(_), Action::Install) => "installed",
            (Outcome::Done(_), Action::Uninstall) => "uninstalled",
            (Outcome::Same, _) => "same",
            (Outcome::DryRun, _) => "dry-run",
            (Outcome::Declined, _) => "declined",
            (Outcome::Failed(_), _) => "failed",
        };
        let applied = |change: &Change| match came {
            Outcome::Done(files) => files.iter().find(|file| file.path == change.path),
            _ => None,
        };
        let files: Vec<_> = plan
            .iter()
            .flat_map(|plan| &plan.changes)
            .map(|change| {
                let applied = applied(change);
                json!({
                    "path": change.path.to_string_lossy(),
                    "done": applied.map_or("unchanged", |file| file.done.label()),
                    "backup": applied.and_then(|file| file.backup.as_ref()).map(|copy| copy.to_string_lossy()),
                    "diff": diff(change),
                })
            })
            .collect();
        let failed = if let Outcome::Failed(error) = came { Some(error) } else { None };
        let why = failed.map(ToString::to_string);
        json!({
            "agent": agent.name,
            "scope": self.scope,
            "outcome": outcome,
            "why": why,
            "paste": failed.and_then(paste),
            "files": files,
            "events": plan.map(|plan| plan.events.clone()).unwrap_or_default(),
            "notes": plan.map(|plan| plan.notes.clone()).unwrap_or_default(),
        })
    }
}

/// What a user has to add himself.
fn paste(error: &InstallError) -> Option<&str> {
    match error {
        InstallError::ByHand { paste, .. } => paste.as_deref(),
        _ => None,
    }
}

/// Whether somebody is there to be asked.
pub fn is_watched() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// What changes. Only that goes to standard output.
fn show(plan: &Plan) -> Result<()> {
    let mut out = anstream::stdout().lock();
    for change in plan.changes.iter().filter(|change| change.is_needed()) {
        // What is there may be anybody's: it must not steer the terminal.
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        out.write_all(diff(change).replace("\r\n", "\n").replace(steers, " ").as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

fn diff(change: &Change) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (text(&change.before), text(&change.after));
    let path = change.path.display().to_string();
    let name = |there: bool| if there { path.clone() } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    diff.unified_diff().header(&name(change.before.is_some()), &name(change.after.is_some())).to_string()
}
