//! Plans of installations and removals, and their application.
//!
//! A plan shows the changes without making them. Applying it reads each file again, so that no other change is lost.

use std::path::{Path, PathBuf};

use checkrein::internal::real_path::leads_out_of;
use checkrein::internal::repository;
use checkrein_core::Scope;
use checkrein_dialects::{Dialect, EventRow};
use checkrein_document::{Format, LineColumn};

use super::edit::{self, EditError};
use super::file::{self, Lock};
use super::our_entries::{has_ours, is_own, with_entries, without_entries};
use super::{InstallError, Installer, desired_entries};

/// Planned changes for an agent. Nothing changes until the plan is [applied](Self::apply).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// Agent.
    pub agent: &'static Dialect,
    /// Scope of the settings.
    pub scope: Scope,
    /// All files, including those that stay unchanged.
    pub changes: Vec<Change>,
    /// Events at which the agent will call checkrein, by the names in the entries. Empty for a removal.
    pub events: Vec<&'static str>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Planned change of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Change {
    /// File, by the path that the agent uses.
    pub path: PathBuf,
    /// Target of the path, with symbolic links resolved.
    pub real: PathBuf,
    /// Current text. `None` if the file does not exist.
    pub before: Option<String>,
    /// New text. `None` if the file will not exist.
    pub after: Option<String>,
    edit: Edit,
    /// Directory that the file must not leave.
    project: Option<PathBuf>,
    /// Directory of the user or of the project, which stays even if it is empty.
    base: PathBuf,
}

/// Edit of a file, independent of its current text.
#[derive(Debug, Clone)]
enum Edit {
    /// Replaces our entries for this agent with these.
    Add { agent: &'static Dialect, entries: String },
    /// Removes our entries for this agent. `entries` are those that an installation would write now.
    Strip { agent: &'static str, entries: String },
    /// Writes a program.
    WriteFile { agent: &'static str, text: String, is_program: bool },
    /// Removes a program, if it is ours.
    RemoveFile { agent: &'static str },
}

/// Applied change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// File, by the path that the agent uses.
    pub path: PathBuf,
    /// Result.
    pub done: ChangeResult,
    /// Backup of the original text.
    pub backup: Option<PathBuf>,
}

/// Result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeResult {
    /// The file has a new text.
    Written,
    /// The file was removed.
    Removed,
    /// The file is unchanged.
    Unchanged,
}

impl ChangeResult {
    /// Name of the result, for output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Installer {
    /// Root of the repository, or the directory itself. Links of a project must not lead out of it.
    fn project_root(&self) -> &Path {
        repository(&self.dir).unwrap_or(&self.dir)
    }

    /// Base directory of a settings file.
    fn base_of(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> PathBuf {
        let candidates = agent.install.map(|table| if scope == Scope::User { table.user } else { table.project });
        let bases = candidates.into_iter().flatten().flat_map(|settings| self.place.bases(settings.base, &self.dir));
        // The agent's own directory stays too.
        let signs = agent.install.into_iter().flat_map(|table| table.signs).filter_map(|sign| self.resolve(sign));
        let mut found: Vec<_> = bases.chain(signs).filter(|base| path.starts_with(base)).collect();
        found.sort_by_key(|base| base.components().count());
        found.pop().unwrap_or_else(|| file::directory_of(path).to_owned())
    }

    /// `true` if the settings of a project are the user's own file. A link to the user's file has an error of its own.
    fn is_own_file(&self, agent: &'static Dialect, project: Option<&Path>, target: &Path) -> bool {
        project.is_some_and(|root| leads_out_of(root, target).is_none()) && self.has_one_file(agent)
    }

    /// Plans an installation for an agent: in the user's settings or, with [`Scope::Project`], in those of the directory.
    ///
    /// # Errors
    /// The agent's settings are unknown, or a file cannot be read or changed.
    pub fn plan(&self, agent: &'static Dialect, scope: Scope) -> Result<Plan, InstallError> {
        let (target, others) = self.targets(agent, scope)?;
        let root = self.project_root();
        let project = if scope == Scope::User { None } else { Some(root) };
        if self.is_own_file(agent, project, &target) {
            return Err(InstallError::OwnFile { command: "install", agent: agent.name, path: target });
        }
        let base = self.base_of(agent, scope, &target);
        let (program, mut choice) = (self.program_at(scope), self.choice(agent, scope));
        let mut notes = Vec::new();
        if agent.config.format.code().is_some() && choice.needed.take().is_some() {
            notes.push(format!(
                "the plugin calls checkrein at every event of {}; `--needed` has no effect",
                agent.title()
            ));
        }
        let rows = || desired_entries::events(agent, &choice);
        let dialect = desired_entries::entry_dialect(agent).name;
        let mut changes = Vec::new();
        if agent.config.format.is_programs() {
            for row in rows() {
                let text = desired_entries::script(agent, row, program, &choice);
                changes.push(Change::new(
                    target.join(row.name),
                    Edit::WriteFile { agent: dialect, text, is_program: true },
                    project,
                    &base,
                )?);
            }
            let is_wanted = |row: &EventRow| rows().any(|wanted| wanted.name == row.name);
            for row in agent.events.iter().filter(|row| !is_wanted(row)) {
                let change = Change::new(target.join(row.name), Edit::RemoveFile { agent: dialect }, project, &base)?;
                changes.extend(change.is_needed().then_some(change));
            }
        } else if let Some(text) = desired_entries::code(agent, program, &choice) {
            let edit = Edit::WriteFile { agent: dialect, text, is_program: false };
            changes.push(Change::new(target.clone(), edit, project, &base)?);
        } else {
            let entries =
                desired_entries::entries(agent, program, &choice).ok_or_else(|| self.manual_install_error(agent))?;
            for other in others {
                let change =
                    Change::new(other, Edit::Strip { agent: dialect, entries: entries.clone() }, project, &base)?;
                changes.extend(change.is_needed().then_some(change));
            }
            changes.push(Change::new(target.clone(), Edit::Add { agent, entries }, project, &base)?);
        }
        notes.extend(self.notes(agent, scope, &target));
        for change in &changes {
            notes.extend(link_note(change));
        }
        Ok(Plan { agent, scope, changes, events: rows().map(|row| row.name).collect(), notes })
    }

    /// Plans a removal for an agent. Files without our entries stay unchanged.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_removal(&self, agent: &'static Dialect, scope: Scope) -> Result<Plan, InstallError> {
        let (target, others) = self.targets(agent, scope)?;
        let root = self.project_root();
        let project = if scope == Scope::User { None } else { Some(root) };
        if self.is_own_file(agent, project, &target) && self.has_entries(agent, scope) {
            return Err(InstallError::OwnFile { command: "uninstall", agent: agent.name, path: target });
        }
        let base = self.base_of(agent, scope, &target);
        let dialect = desired_entries::entry_dialect(agent).name;
        let mut changes = Vec::new();
        if agent.config.format.is_programs() {
            for row in agent.events {
                let change = Change::new(target.join(row.name), Edit::RemoveFile { agent: dialect }, project, &base)?;
                changes.extend(change.is_needed().then_some(change));
            }
        } else if agent.config.format.code().is_some() {
            changes.push(Change::new(target, Edit::RemoveFile { agent: dialect }, project, &base)?);
        } else {
            let program = self.program_at(scope);
            let entries = desired_entries::entries(agent, program, &self.choice(agent, scope))
                .ok_or_else(|| self.manual_install_error(agent))?;
            for path in others.into_iter().chain([target]) {
                changes.push(Change::new(
                    path,
                    Edit::Strip { agent: dialect, entries: entries.clone() },
                    project,
                    &base,
                )?);
            }
        }
        let notes = changes.iter().filter_map(link_note).collect();
        Ok(Plan { agent, scope, changes, events: Vec::new(), notes })
    }
}

/// Note that the path is a symbolic link, with the file that changes.
fn link_note(change: &Change) -> Option<String> {
    let is_link = change.path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_link || !change.is_needed() {
        return None;
    }
    Some(format!("{} is a symbolic link to {}, which is changed", change.path.display(), change.real.display()))
}

impl Plan {
    /// Returns `true` if a file would change.
    pub fn is_needed(&self) -> bool {
        self.changes.iter().any(Change::is_needed)
    }

    /// Changes the files. Reads each file again first, so that changes since the plan are kept.
    ///
    /// # Errors
    /// A file cannot be read or changed. That file is unchanged; files before it in the list are changed.
    pub fn apply(&self) -> Result<Vec<Applied>, InstallError> {
        self.changes.iter().map(Change::apply).collect()
    }
}

impl Change {
    fn new(path: PathBuf, edit: Edit, project: Option<&Path>, base: &Path) -> Result<Self, InstallError> {
        let read = file::read(&path, project)?;
        let after = edit.text(&path, read.text.as_deref(), read_backup(&read.real).as_deref())?;
        if after != read.text {
            file::check_replaceable(&read.real)?;
        }
        Ok(Self {
            path,
            real: read.real,
            before: read.text,
            after,
            edit,
            project: project.map(Path::to_owned),
            base: base.to_owned(),
        })
    }

    /// Returns `true` if the file would change.
    pub fn is_needed(&self) -> bool {
        self.before != self.after
    }

    fn apply(&self) -> Result<Applied, InstallError> {
        let unchanged = || Applied { path: self.path.clone(), done: ChangeResult::Unchanged, backup: None };
        let directory = file::directory_of(&self.real);
        let _lock = if self.after.is_some() {
            Lock::acquire_new(directory)?
        } else if directory.is_dir() {
            Lock::acquire(directory)?
        } else {
            return Ok(unchanged());
        };
        let read = file::read(&self.path, self.project.as_deref())?;
        let original = read_backup(&read.real);
        let after = self.edit.text(&self.path, read.text.as_deref(), original.as_deref())?;
        if after == read.text {
            return Ok(unchanged());
        }
        let mut backup = None;
        if let (Edit::Add { agent, .. }, Some(before)) = (&self.edit, &read.text)
            && !has_ours(before, desired_entries::entry_dialect(agent).name)
        {
            backup = Some(file::back_up(&read.real, before)?);
        }
        let done = match &after {
            Some(after) => {
                file::replace(&read.real, after, matches!(self.edit, Edit::WriteFile { is_program: true, .. }))?;
                ChangeResult::Written
            }
            None => {
                file::remove(&read.real)?;
                remove_empty_directories(&self.path, &self.base);
                ChangeResult::Removed
            }
        };
        if let Edit::Strip { .. } = self.edit {
            backup = file::newest_backup(&read.real);
            // The file has its original text again, so the backup is not needed.
            if let Some(copy) = backup.take_if(|_| after.is_some() && after == original) {
                file::remove(&copy)?;
            }
        }
        Ok(Applied { path: self.path.clone(), done, backup })
    }
}

/// Original text of a file, from its backup.
fn read_backup(real: &Path) -> Option<String> {
    file::read_text(&file::newest_backup(real)?)
}

/// Removes empty directories above a removed file, up to the base directory. An installation creates them again.
fn remove_empty_directories(path: &Path, base: &Path) {
    for directory in path.ancestors().skip(1).take_while(|above| *above != base && above.starts_with(base)) {
        if std::fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

impl Edit {
    /// New text of a file. `None` if the file must not exist.
    fn text(&self, path: &Path, text: Option<&str>, original: Option<&str>) -> Result<Option<String>, InstallError> {
        let broken = |error: EditError| InstallError::Broken {
            path: path.to_owned(),
            place: error.place,
            message: error.message,
        };
        match self {
            Self::Add { agent, entries } => {
                let dialect = desired_entries::entry_dialect(agent);
                let after = with_entries(text, original, dialect.name, entries).map_err(broken)?;
                check_readable(dialect, path, text)?;
                Ok(Some(after))
            }
            Self::Strip { agent, entries } => match text {
                Some(text) => without_entries(text, original, agent, entries).map_err(broken),
                None => Ok(None),
            },
            Self::WriteFile { agent, text: wanted, .. } => match text {
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

/// Refuses a file that the agent cannot parse: it would not read the entries either.
fn check_readable(dialect: &'static Dialect, path: &Path, text: Option<&str>) -> Result<(), InstallError> {
    let Some(text) = text.filter(|text| !edit::is_blank(text)) else { return Ok(()) };
    let decoded = dialect.decode(&path.display().to_string(), Scope::User, text, Format::Json);
    if !decoded.unreadable {
        return Ok(());
    }
    let found = decoded.diagnostics.first();
    let place = found.and_then(|found| found.at.as_ref()).map_or(LineColumn { line: 1, column: 1 }, |at| at.place);
    let why = found.map(|found| found.message.as_str()).unwrap_or_default();
    let message = format!("{} cannot read this file: {why}", dialect.agent());
    Err(InstallError::Broken { path: path.to_owned(), place, message })
}

fn is_script(text: &str, agent: &str) -> bool {
    desired_entries::script_command(text).is_some_and(|command| is_own(command, agent))
}
