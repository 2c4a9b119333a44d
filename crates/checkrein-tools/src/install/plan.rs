//! What would change, and the change.

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::Dialect;
use checkrein_document::Format;

use super::edit::EditError;
use super::file::{self, Lock};
use super::our_entries::{has_ours, is_own, with_entries, without_entries};
use super::{InstallError, Installer, desired_entries};

/// What would change for an agent. Nothing has until it is [applied](Self::apply).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The agent.
    pub agent: &'static Dialect,
    /// Whose settings.
    pub scope: Scope,
    /// The files, also those in which nothing would change.
    pub changes: Vec<Change>,
    /// The events at which checkrein will be called, by the names that the entries have. Empty if it is taken out.
    pub events: Vec<&'static str>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What would change in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Change {
    /// The file, as the agent finds it.
    pub path: PathBuf,
    /// Where it really is, if a link leads there.
    pub real: PathBuf,
    /// What it says now. `None`: it is not there.
    pub before: Option<String>,
    /// What it will say. `None`: it will not be there.
    pub after: Option<String>,
    edit: Edit,
}

/// What is done to a file, whatever it says.
#[derive(Debug, Clone)]
enum Edit {
    /// Hooks of this agent are in it, and all of this.
    Add { agent: &'static str, entries: String },
    /// No hooks of this agent are; the entries are as they would be now.
    Strip { agent: &'static str, entries: String },
    /// It is this program.
    WriteFile { agent: &'static str, text: String },
    /// It is not there, if it is a program of ours.
    RemoveFile { agent: &'static str },
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The file, as the agent finds it.
    pub path: PathBuf,
    /// What came of it.
    pub done: ChangeResult,
    /// Where a copy of what it said before is.
    pub backup: Option<PathBuf>,
}

/// What came of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeResult {
    /// It says something else now.
    Written,
    /// It is not there any more.
    Removed,
    /// Nothing had to be done.
    Unchanged,
}

impl ChangeResult {
    /// In a word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Installer {
    /// What would be written for an agent: in the user's settings or, with [`Scope::Project`], in those of the directory.
    ///
    /// # Errors
    /// The agent's settings are not known, or what is there cannot be read or changed.
    pub fn plan(&self, agent: &'static Dialect, scope: Scope) -> Result<Plan, InstallError> {
        let (target, others) = self.targets(agent, scope)?;
        let program = self.program_at(scope);
        let rows = || desired_entries::events(agent, self.choice.all_events);
        let speaks = desired_entries::spoken(agent).name;
        let mut changes = Vec::new();
        if agent.config.format.is_programs() {
            for row in rows() {
                let text = desired_entries::script(agent, row, program, &self.choice);
                changes.push(Change::of(target.join(row.name), Edit::WriteFile { agent: speaks, text })?);
            }
        } else {
            let entries =
                desired_entries::entries(agent, program, &self.choice).ok_or_else(|| self.told_by_hand(agent))?;
            for other in others {
                let change = Change::of(other, Edit::Strip { agent: speaks, entries: entries.clone() })?;
                changes.extend(change.is_needed().then_some(change));
            }
            changes.push(Change::of(target.clone(), Edit::Add { agent: speaks, entries })?);
        }
        let mut notes = self.notes(agent, scope, &target);
        for change in &changes {
            notes.extend(unread(agent, scope, change));
            notes.extend(linked(change));
        }
        Ok(Plan { agent, scope, changes, events: rows().map(|row| row.name).collect(), notes })
    }

    /// What would be taken out for an agent. Nothing changes where nothing of ours is.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_removal(&self, agent: &'static Dialect, scope: Scope) -> Result<Plan, InstallError> {
        let (target, others) = self.targets(agent, scope)?;
        let speaks = desired_entries::spoken(agent).name;
        let mut changes = Vec::new();
        if agent.config.format.is_programs() {
            for row in agent.events {
                let change = Change::of(target.join(row.name), Edit::RemoveFile { agent: speaks })?;
                changes.extend(change.is_needed().then_some(change));
            }
        } else {
            let program = self.program_at(scope);
            let entries =
                desired_entries::entries(agent, program, &self.choice).ok_or_else(|| self.told_by_hand(agent))?;
            for path in others.into_iter().chain([target]) {
                changes.push(Change::of(path, Edit::Strip { agent: speaks, entries: entries.clone() })?);
            }
        }
        let notes = changes.iter().filter_map(linked).collect();
        Ok(Plan { agent, scope, changes, events: Vec::new(), notes })
    }
}

/// Says if the agent will not be able to read the file: its faults are not mended, but nobody should rely on it.
fn unread(agent: &'static Dialect, scope: Scope, change: &Change) -> Option<String> {
    let text = change.after.as_deref().filter(|_| !agent.config.format.is_programs())?;
    let path = change.path.display().to_string();
    let decoded = desired_entries::spoken(agent).decode(&path, scope, text, Format::Json);
    let why = decoded.diagnostics.first().filter(|_| decoded.unreadable)?;
    Some(format!("{} may not be able to read {path}: {}", agent.name, why.message))
}

/// Says what really changes.
fn linked(change: &Change) -> Option<String> {
    let is_link = change.path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let linked = || format!("{} is a link; what changes is {}", change.path.display(), change.real.display());
    (is_link && change.is_needed()).then(linked)
}

impl Plan {
    /// Whether anything would change.
    pub fn is_needed(&self) -> bool {
        self.changes.iter().any(Change::is_needed)
    }

    /// Changes the files. What they say by then is read again, so that nothing is lost that others have written meanwhile.
    ///
    /// # Errors
    /// A file cannot be read or changed. It is as it was then; files before it in the list have been changed.
    pub fn apply(&self) -> Result<Vec<Applied>, InstallError> {
        self.changes.iter().map(Change::apply).collect()
    }
}

impl Change {
    fn of(path: PathBuf, edit: Edit) -> Result<Self, InstallError> {
        let read = file::read(&path)?;
        let after = edit.text(&path, read.text.as_deref(), kept(&read.real).as_deref())?;
        if after != read.text && read.real.metadata().is_ok_and(|there| there.permissions().readonly()) {
            return Err(InstallError::ReadOnly { path });
        }
        Ok(Self { path, real: read.real, before: read.text, after, edit })
    }

    /// Whether anything would change.
    pub fn is_needed(&self) -> bool {
        self.before != self.after
    }

    fn apply(&self) -> Result<Applied, InstallError> {
        let unchanged = || Applied { path: self.path.clone(), done: ChangeResult::Unchanged, backup: None };
        let directory = file::directory_of(&self.real);
        if self.after.is_some() {
            std::fs::create_dir_all(directory).map_err(InstallError::io("make", directory))?;
        } else if !directory.is_dir() {
            return Ok(unchanged());
        }
        let _lock = Lock::of(directory)?;
        let read = file::read(&self.path)?;
        let was = kept(&read.real);
        let after = self.edit.text(&self.path, read.text.as_deref(), was.as_deref())?;
        if after == read.text {
            return Ok(unchanged());
        }
        let mut backup = None;
        if let (Edit::Add { agent, .. }, Some(before)) = (&self.edit, &read.text)
            && !has_ours(before, agent)
        {
            backup = Some(file::keep(&read.real, before)?);
        }
        let done = match &after {
            Some(after) => {
                file::replace(&read.real, after, matches!(self.edit, Edit::WriteFile { .. }))?;
                ChangeResult::Written
            }
            None => {
                file::remove(&read.real)?;
                remove_own_directories(&read.real);
                ChangeResult::Removed
            }
        };
        if let Edit::Strip { .. } = self.edit {
            backup = file::newest_kept(&read.real);
            // All that it was kept for is in the file again.
            if let Some(copy) = backup.take_if(|_| after.is_some() && after == was) {
                file::remove(&copy)?;
            }
        }
        Ok(Applied { path: self.path.clone(), done, backup })
    }
}

/// What a file said before ours were put in, if that was kept.
fn kept(real: &Path) -> Option<String> {
    std::fs::read_to_string(file::newest_kept(real)?).ok()
}

/// Directories that only we can have made.
fn remove_own_directories(path: &Path) {
    let own = path.ancestors().skip(1).position(|above| above.file_name().is_some_and(|name| name == "checkrein"));
    for directory in path.ancestors().skip(1).take(own.map_or(0, |own| own + 1)) {
        if std::fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

impl Edit {
    /// What a file will say.
    fn text(&self, path: &Path, text: Option<&str>, was: Option<&str>) -> Result<Option<String>, InstallError> {
        let broken = |trouble: EditError| InstallError::Broken {
            path: path.to_owned(),
            place: trouble.place,
            message: trouble.message,
        };
        match self {
            Self::Add { agent, entries } => with_entries(text, was, agent, entries).map(Some).map_err(broken),
            Self::Strip { agent, entries } => match text {
                Some(text) => without_entries(text, was, agent, entries).map_err(broken),
                None => Ok(None),
            },
            Self::WriteFile { agent, text: wanted } => match text {
                Some(text) if text != wanted && !is_script(text, agent) => {
                    let command = desired_entries::script_command(wanted).unwrap_or_default().to_owned();
                    Err(InstallError::Taken { path: path.to_owned(), command })
                }
                _ => Ok(Some(wanted.clone())),
            },
            Self::RemoveFile { agent } => Ok(text.filter(|text| !is_script(text, agent)).map(str::to_owned)),
        }
    }
}

fn is_script(text: &str, agent: &str) -> bool {
    desired_entries::script_command(text).is_some_and(|command| is_own(command, agent))
}
