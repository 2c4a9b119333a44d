//! Shows the changes to agents' settings, asks, and writes them.
//!
//! Standard output gets the changes, standard error everything else.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein_tools::install::{Applied, Change, ChangeResult, InstallError, Installed, Installer, Plan, State};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::commands::ask::confirm;
use crate::commands::{display_path, pluralize, print_failure, print_note, visible};
use crate::exit::{self, Exit};

/// Kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Install,
    Uninstall,
}

/// Applies an action to agents.
pub struct Applier<'a> {
    pub installer: &'a Installer,
    pub scope: Scope,
    pub act: Action,
    pub dry_run: bool,
    pub diff: bool,
    pub asks: bool,
    pub json: bool,
}

/// Result for one agent.
enum Outcome {
    Done(Vec<Applied>),
    /// The settings are up to date.
    Same,
    DryRun,
    Declined,
    Failed(InstallError),
}

impl Applier<'_> {
    pub fn run(&self, agents: &[&'static Dialect]) -> Result<Exit> {
        let mut reports = Vec::new();
        let mut fine = true;
        for agent in agents {
            let planned = match self.act {
                Action::Install => self.installer.plan(agent, self.scope),
                Action::Uninstall => self.installer.plan_removal(agent, self.scope),
            };
            let (plan, outcome) = match planned {
                Ok(plan) => {
                    let outcome = self.apply(&plan)?;
                    (Some(plan), outcome)
                }
                Err(error) => (None, Outcome::Failed(error)),
            };
            fine &= !matches!(outcome, Outcome::Failed(_) | Outcome::Declined);
            self.report(agent, plan.as_ref(), &outcome);
            if self.act == Action::Uninstall {
                self.warn_if_needed(agent);
            }
            reports.push(self.as_json(agent, plan.as_ref(), &outcome));
        }
        if self.json {
            writeln!(anstream::stdout(), "{:#}", json!({ "agents": reports }))?;
        }
        Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
    }

    fn apply(&self, plan: &Plan) -> Result<Outcome> {
        if !plan.is_needed() {
            return Ok(Outcome::Same);
        }
        if !self.json {
            show(plan, self.diff)?;
        }
        if self.dry_run {
            return Ok(Outcome::DryRun);
        }
        if self.asks && !self.ask(plan)? {
            return Ok(Outcome::Declined);
        }
        Ok(plan.apply().map_or_else(Outcome::Failed, Outcome::Done))
    }

    fn ask(&self, plan: &Plan) -> Result<bool> {
        let question = match self.act {
            Action::Install => "install checkrein in",
            Action::Uninstall => "remove checkrein from",
        };
        confirm(&format!("{question} {}", plan.agent.name))
    }

    fn report(&self, agent: &Dialect, plan: Option<&Plan>, outcome: &Outcome) {
        let name = agent.name;
        let installs = self.act == Action::Install;
        match outcome {
            Outcome::Failed(error) => {
                print_failure(&format!("{name}: {error}"));
                if let Some(paste) = paste(error)
                    && installs
                    && !self.json
                {
                    print_failure(&format!("{name}: nothing was written; add this yourself:"));
                    let _ = anstream::stdout().write_all(format!("{}\n", paste.trim_end()).as_bytes());
                }
                return;
            }
            Outcome::Same if installs => print_note(&format!("{name}: already installed, nothing to do")),
            Outcome::Same => return print_note(&format!("{name}: not installed, nothing to do")),
            Outcome::DryRun => print_note(&format!("{name}: dry run, nothing was changed")),
            Outcome::Declined => return print_failure(&format!("{name}: nothing was changed")),
            Outcome::Done(files) => {
                let changed: Vec<_> = files.iter().filter(|file| file.done != ChangeResult::Unchanged).collect();
                let verb = |file: &Applied| if file.done == ChangeResult::Removed { "removed" } else { "wrote" };
                if let [first, .., last] = changed.as_slice()
                    && first.path.parent() == last.path.parent()
                {
                    let directory = display_path(first.path.parent().unwrap_or(&first.path));
                    print_note(&format!("{name}: {} {} files in {directory}", verb(first), changed.len()));
                } else {
                    for file in changed {
                        let backup = match &file.backup {
                            Some(copy) if installs => format!(" (backup: {})", display_path(copy)),
                            Some(copy) => format!(" (its text before the installation is in {})", display_path(copy)),
                            None => String::new(),
                        };
                        print_note(&format!("{name}: {} {}{backup}", verb(file), display_path(&file.path)));
                    }
                }
            }
        }
        for note in plan.iter().flat_map(|plan| &plan.notes) {
            print_note(&format!("{name}: {note}"));
        }
    }

    /// Warns if settings of another scope still call checkrein, and the agent blocks tools without the program.
    fn warn_if_needed(&self, agent: &'static Dialect) {
        let status = self.installer.status(agent);
        let calls = |place: &&Installed| status.blocked_without_program && place.state != State::Absent;
        for place in status.places.iter().filter(calls) {
            print_note(&format!(
                "{}: {} still calls checkrein, and tools are blocked if checkrein is missing: do not remove it yet",
                agent.name,
                display_path(&place.path)
            ));
        }
    }

    fn as_json(&self, agent: &Dialect, plan: Option<&Plan>, outcome: &Outcome) -> Value {
        let label = match (outcome, self.act) {
            (Outcome::Done(_), Action::Install) => "installed",
            (Outcome::Done(_), Action::Uninstall) => "uninstalled",
            (Outcome::Same, _) => "same",
            (Outcome::DryRun, _) => "dry-run",
            (Outcome::Declined, _) => "declined",
            (Outcome::Failed(_), _) => "failed",
        };
        let applied = |change: &Change| match outcome {
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
        let failed = if let Outcome::Failed(error) = outcome { Some(error) } else { None };
        let why = failed.map(ToString::to_string);
        json!({
            "agent": agent.name,
            "scope": self.scope,
            "outcome": label,
            "why": why,
            "paste": failed.and_then(paste),
            "files": files,
            "events": plan.map(|plan| plan.events.clone()).unwrap_or_default(),
            "notes": plan.map(|plan| plan.notes.clone()).unwrap_or_default(),
        })
    }
}

/// Text that a user has to add to the settings by hand.
fn paste(error: &InstallError) -> Option<&str> {
    match error {
        InstallError::ByHand { paste, .. } => paste.as_deref(),
        _ => None,
    }
}

/// `true` if a user can be asked.
pub fn is_watched() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Prints a summary of the changes, and the changed lines if they are wanted.
fn show(plan: &Plan, diffs: bool) -> Result<()> {
    let mut out = anstream::stdout().lock();
    let changes: Vec<_> = plan.changes.iter().filter(|change| change.is_needed()).collect();
    for line in summary(plan, &changes) {
        writeln!(out, "{line}{}", if diffs { "" } else { " (--diff shows them)" })?;
    }
    for change in changes.iter().filter(|_| diffs) {
        // Settings are foreign text: control characters must not reach the terminal.
        out.write_all(visible::visible(&diff(change).replace("\r\n", "\n"), visible::LINES).as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

/// One line for each kind of change and directory: the file, the number of events, and the number of lines.
fn summary(plan: &Plan, changes: &[&Change]) -> Vec<String> {
    let mut groups: Vec<(&str, Option<&Path>, Vec<&Change>)> = Vec::new();
    for change in changes {
        let verb = match (&change.before, &change.after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        let directory = change.path.parent();
        match groups.iter_mut().find(|(own, of, _)| (*own, *of) == (verb, directory)) {
            Some((_, _, changes)) => changes.push(change),
            None => groups.push((verb, directory, vec![change])),
        }
    }
    let events = match plan.events.len() {
        0 => String::new(),
        events => format!("calls checkrein at {}, ", pluralize(events, "event")),
    };
    let line = |(verb, directory, changes): &(&str, Option<&Path>, Vec<&Change>)| {
        let (added, removed) = changes.iter().map(|change| lines(change)).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        let files = match (changes.as_slice(), directory) {
            ([change], _) => display_path(&change.path),
            (several, directory) => {
                format!("{} files in {}", several.len(), display_path(directory.unwrap_or(Path::new("."))))
            }
        };
        format!("{verb} {files}: {events}+{added} -{removed} lines")
    };
    groups.iter().map(line).collect()
}

/// Numbers of added and removed lines.
fn lines(change: &Change) -> (usize, usize) {
    let (before, after) = (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let diff = TextDiff::from_lines(before, after);
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|line| line.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

fn diff(change: &Change) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (text(&change.before), text(&change.after));
    let path = change.path.display().to_string();
    let name = |exists: bool| if exists { path.clone() } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    diff.unified_diff().header(&name(change.before.is_some()), &name(change.after.is_some())).to_string()
}
