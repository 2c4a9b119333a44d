//! [`AuditLog`]: appends entries, and opens the log for reading and verification.
//!
//! The engine appends an entry for each event. Writers of several processes take turns by a lock on the head.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checkrein_core::{
    Event, Failure, FailureKind, FailurePolicy, HookInfo, JsonError, RawJson, Record, Rules, Scope, Settlement, Source,
    Verdict,
};
use checkrein_dialects::config::AuditSettings;
use jiff::Timestamp;

use super::access;
use super::chain_head::{Head, Locked};
use super::entry::AuditEntry;
use super::files::{self, LogLines};
use super::follow::Follow;
use super::hash_chain;
use super::last_entry::Tail;
use super::verify::{self, Verification};
use crate::builtins::secrets::redacted_json;
use crate::{append_file, regular_file, state_dir};

/// Default maximum size of a file, in bytes.
const MAX_SIZE: u64 = 64 * 1024 * 1024;
/// Default maximum age of a file.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// An audit log. Several processes can write to it. No file is opened before the first write.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
    on_failure: FailurePolicy,
    max_size: u64,
    max_age: Duration,
    agent: Option<String>,
    project: Option<String>,
}

/// Error of writing or reading a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        #[source]
        error: io::Error,
    },
    /// The entry cannot be represented as JSON.
    #[error("cannot write the entry as JSON: {0}")]
    Json(#[from] JsonError),
    /// There is no path: the settings have none, and there is no home directory.
    #[error("no path for the audit log; set `audit.path` in the config, or HOME or XDG_STATE_HOME")]
    NoPlace,
}

impl AuditLog {
    /// Creates a log in this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            on_failure: FailurePolicy::Open,
            max_size: MAX_SIZE,
            max_age: MAX_AGE,
            agent: None,
            project: None,
        }
    }

    /// Creates the default log of the current user: `$XDG_STATE_HOME/checkrein/audit.jsonl`, or
    /// `~/.local/state/checkrein/audit.jsonl`. Without a home directory, every write fails with [`AuditError::NoPlace`].
    pub fn for_user() -> Self {
        Self::new(state_dir::directory().map(|directory| directory.join("audit.jsonl")).unwrap_or_default())
    }

    /// Creates a log from the settings of hook files. Without a path, the log is that of the [user](Self::for_user).
    pub fn from_settings(settings: &AuditSettings) -> Self {
        let path = settings.path.as_ref().map_or_else(|| Self::for_user().path, PathBuf::from);
        let mut log =
            Self::new(path).on_failure(if settings.closed { FailurePolicy::Closed } else { FailurePolicy::Open });
        if let Some(size) = settings.max_size {
            log = log.max_size(size);
        }
        if let Some(age) = settings.max_age {
            log = log.max_age(age);
        }
        log
    }

    /// Sets the effect on gates if an entry cannot be written. Default: [`FailurePolicy::Open`], with a warning.
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = effect;
        self
    }

    /// Sets the maximum size of a file, in bytes. An entry that would exceed it starts a new file.
    #[must_use]
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// Sets the maximum age of a file's first entry. A later entry starts a new file.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// Sets the agent and the project directory of each entry.
    #[must_use]
    pub fn on_behalf_of(mut self, agent: &str, project: &Path) -> Self {
        self.agent = Some(agent.to_owned());
        self.project = Some(project.to_string_lossy().into_owned());
        self
    }

    /// Returns the policy for entries that cannot be written.
    pub fn failure_policy(&self) -> FailurePolicy {
        self.on_failure
    }

    /// The file that receives new entries.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all entries, the oldest first.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn lines(&self) -> Result<LogLines, AuditError> {
        LogLines::open(&self.path).map_err(|error| self.error(error))
    }

    /// Follows the log: returns entries after this number as they are written.
    pub fn follow(&self, after: u64) -> Follow {
        Follow::new(&self.path, after)
    }

    /// Checks that the log is intact. With `expected`, also checks that this entry, which was stored elsewhere, is
    /// unchanged.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn verify(&self, expected: Option<&Head>) -> Result<Verification, AuditError> {
        verify::verify(&self.path, expected).map_err(|error| self.error(error))
    }

    /// Checks that this user can write the log, without writing anything.
    ///
    /// # Errors
    /// The user cannot write it. The error names the cause and a fix.
    pub fn check_writable(&self) -> Result<(), AuditError> {
        if self.path.as_os_str().is_empty() {
            return Err(AuditError::NoPlace);
        }
        access::check_writable(&self.path).map_err(|error| self.error(error))
    }

    fn error(&self, error: io::Error) -> AuditError {
        AuditError::File { path: self.path.clone(), error }
    }

    /// Appends an entry. Returns its position in the chain.
    ///
    /// # Errors
    /// Fails if the entry cannot be written. A partial line is removed. If that fails too, the next writer marks it as cut.
    pub fn append(&self, entry: AuditEntry) -> Result<Head, AuditError> {
        if self.path.as_os_str().is_empty() {
            return Err(AuditError::NoPlace);
        }
        let mut entry = entry;
        if entry.agent.is_none() && entry.project.is_none() {
            entry = entry.from_agent(self.agent.as_deref(), self.project.as_deref());
        }
        // The work before the lock does not delay other writers.
        entry.time = format!("{:.3}", Timestamp::now());
        let body = body(&entry)?;
        if body.len() as u64 + hash_chain::END as u64 > files::MAX_LINE {
            let text = format!("the entry has {} bytes; the limit is {}", body.len(), files::MAX_LINE);
            return Err(self.error(io::Error::new(io::ErrorKind::FileTooLarge, text)));
        }
        self.write(&body).map_err(|error| {
            let is_denied = error.raw_os_error().is_some() && error.kind() == io::ErrorKind::PermissionDenied;
            self.error(if is_denied { access::explain_denial(&self.path) } else { error })
        })
    }

    fn write(&self, body: &str) -> io::Result<Head> {
        let mut locked = Locked::open(&self.path)?;
        let stored = locked.read()?;
        let mut file = append_file::open(&self.path)?;
        access::check_owners(&self.path)?;
        let mut length = file.metadata()?.len();
        let tail = self.tail(&mut file, length)?;
        if tail.is_none() && stored.is_none() {
            // From now on a missing head is a removed one.
            locked.write(&Head::start())?;
        }
        let mut text = String::new();
        let mut head = continue_chain(&mut text, tail, stored)?;
        if text.is_empty() && self.is_full(&mut file, length, body)? {
            std::fs::rename(&self.path, files::full(&self.path, head.seq))?;
            file = append_file::open(&self.path)?;
            length = 0;
        }
        let (line, own) = hash_chain::seal(body, &head);
        head = own;
        text.push_str(&line);
        text.push('\n');
        if let Err(error) = file.write_all(text.as_bytes()) {
            // A full disk may leave a partial line. If it cannot be removed, the next writer marks it as cut.
            let _ = file.set_len(length);
            return Err(error);
        }
        locked.write(&head)?;
        Ok(head)
    }

    /// Returns the end of the log over all its files, or `None` if the log is empty.
    fn tail(&self, file: &mut File, length: u64) -> io::Result<Option<Tail>> {
        if length == 0 {
            return self.full_tail();
        }
        Ok(Some(match Tail::read(file, length)? {
            // The first line of a new file was cut: the chain continues from the previous file.
            Tail::Cut { bytes, sha256, before: None } => {
                let before = match self.full_tail()? {
                    Some(Tail::Whole(before)) => Some(before),
                    _ => None,
                };
                Tail::Cut { bytes, sha256, before }
            }
            tail => tail,
        }))
    }

    /// Returns the end of the last full file.
    fn full_tail(&self) -> io::Result<Option<Tail>> {
        let Some(path) = files::all_full(&self.path)?.pop() else { return Ok(None) };
        let mut file = regular_file::open(&path)?;
        match file.metadata()?.len() {
            0 => Ok(Some(Tail::Invalid)),
            length => Tail::read(&mut file, length).map(Some),
        }
    }

    fn is_full(&self, file: &mut File, length: u64, body: &str) -> io::Result<bool> {
        if length == 0 {
            return Ok(false);
        }
        Ok(length.saturating_add(body.len() as u64) > self.max_size || self.is_old(file)?)
    }

    /// `true` if the first entry of a file is too old. An invalid time is not old.
    fn is_old(&self, file: &mut File) -> io::Result<bool> {
        let mut start = [0; 64];
        file.seek(SeekFrom::Start(0))?;
        let length = file.read(&mut start)?;
        let text = String::from_utf8_lossy(start.get(..length).unwrap_or_default());
        let time = text.strip_prefix("{\"time\":\"").and_then(|rest| rest.split('"').next()?.parse::<Timestamp>().ok());
        let age = time.map(|time| Timestamp::now().duration_since(time));
        Ok(age.is_some_and(|age| Duration::try_from(age).is_ok_and(|age| age > self.max_age)))
    }

    /// Appends the record of an event that had hooks or was denied. Returns the verdict to use: if the entry cannot be
    /// written and the policy requires it, a blocking one.
    pub(crate) fn append_record(&self, event: &Event, rules: &Rules, verdict: Verdict, record: &mut Record) -> Verdict {
        if record.hooks.is_empty() && !verdict.decision().is_block() {
            return verdict;
        }
        let Err(error) = self.append(AuditEntry::fire(record)) else { return verdict };
        let log = Arc::new(HookInfo::new("audit", Source::for_scope(Scope::Code)));
        let failure = Failure::new(FailureKind::Error, format!("cannot write to the audit log: {error}"));
        let is_gate = event.kind().contract().is_gate();
        let verdict = if is_gate && !verdict.decision().is_block() && self.on_failure != FailurePolicy::Open {
            let mut settlement = Settlement::new(rules, event);
            let _ = settlement.push_failure(0, &log, &failure.with_effect(self.on_failure));
            settlement.finish()
        } else {
            verdict.with_observer_failure(log, failure)
        };
        let hooks = std::mem::take(&mut record.hooks);
        *record = Record::new(event, record.dialect.as_str(), &verdict, Vec::new());
        record.hooks = hooks;
        verdict
    }
}

/// Formats an entry as one line of JSON with secrets redacted.
fn body(entry: &AuditEntry) -> Result<String, JsonError> {
    let json = RawJson::from_serialize(entry)?;
    let clean = redacted_json(&json);
    Ok(clean.as_ref().unwrap_or(&json).as_str().replace(['\n', '\r'], " "))
}

/// Returns the position from which the chain continues. If the log does not end as the stored head says, adds entries that
/// report the difference to `text`.
fn continue_chain(text: &mut String, tail: Option<Tail>, stored: Option<Head>) -> io::Result<Head> {
    let note = |text: &mut String, mut entry: AuditEntry, before: &Head| {
        entry.time = format!("{:.3}", Timestamp::now());
        let (line, head) = hash_chain::seal(&body(&entry).map_err(io::Error::other)?, before);
        text.push_str(&line);
        text.push('\n');
        io::Result::Ok(head)
    };
    let (last, cut) = match tail {
        None => (Some(Head::start()), None),
        Some(Tail::Whole(last)) => (Some(last), None),
        Some(Tail::Unended(last)) => {
            text.push('\n');
            (Some(last), None)
        }
        Some(Tail::Cut { bytes, sha256, before }) => {
            text.push('\n');
            (Some(before.unwrap_or_else(Head::start)), Some((bytes, sha256)))
        }
        Some(Tail::Invalid) => (None, None),
    };
    let mut head = match (last, stored) {
        // A writer that was killed between the entry and the head leaves an older head.
        (Some(last), None) if last.seq == 0 => last,
        (Some(last), None) => {
            let why = format!("the head file is missing, and the log ends with entry {last}");
            note(text, AuditEntry::broken(why), &last)?
        }
        (Some(last), Some(stored)) if stored.seq < last.seq || stored == last => last,
        (last, stored) => {
            let stored = stored.or(last.clone()).unwrap_or_else(Head::start);
            let found = last.map_or_else(|| "an invalid line".to_owned(), |last| format!("entry {last}"));
            let why = format!("the last entry was {stored}, but the log ended with {found}");
            note(text, AuditEntry::broken(why), &stored)?
        }
    };
    if let Some((bytes, sha256)) = cut {
        head = note(text, AuditEntry::cut(bytes, sha256), &head)?;
    }
    Ok(head)
}
