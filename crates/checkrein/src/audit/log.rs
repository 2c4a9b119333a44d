//! Writes the log.

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

use super::chain_head::{Head, Locked};
use super::entry::AuditEntry;
use super::files::{self, LogLines};
use super::follow::Follow;
use super::hash_chain;
use super::last_entry::Tail;
use super::verify::{self, Verification};
use crate::builtins::secrets::redacted_json;
use crate::{append_file, state_dir};

/// How large a file may get if nothing is said.
const MAX_SIZE: u64 = 64 * 1024 * 1024;
/// How old if nothing is said.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// A log that many processes can write to. Cheap to make: nothing is opened until something is written.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
    on_failure: FailurePolicy,
    max_size: u64,
    max_age: Duration,
    agent: Option<String>,
    project: Option<String>,
}

/// Why a line could not be written, or a log not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        error: io::Error,
    },
    /// What should be written cannot be carried as JSON.
    #[error("what happened cannot be written down: {0}")]
    Json(#[from] JsonError),
    /// The user has no home, and nobody has said where else.
    #[error("there is no place for the audit log; say `path` at `audit`, or set HOME or XDG_STATE_HOME")]
    NoPlace,
}

impl AuditLog {
    /// A log in this file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            on_failure: FailurePolicy::Open,
            max_size: MAX_SIZE,
            max_age: MAX_AGE,
            agent: None,
            project: None,
        }
    }

    /// The log of the user that this process belongs to, if nobody says otherwise: `$XDG_STATE_HOME/checkrein/audit.jsonl`,
    /// or the same in `~/.local/state`. A user without a home has none, and every write says so.
    pub fn of_user() -> Self {
        Self::at(state_dir::directory().map(|directory| directory.join("audit.jsonl")).unwrap_or_default())
    }

    /// As files say. Without a path: that of the [user](Self::of_user).
    pub fn of_settings(settings: &AuditSettings) -> Self {
        let path = settings.path.as_ref().map_or_else(|| Self::of_user().path, PathBuf::from);
        let mut log =
            Self::at(path).on_failure(if settings.closed { FailurePolicy::Closed } else { FailurePolicy::Open });
        if let Some(size) = settings.max_size {
            log = log.max_size(size);
        }
        if let Some(age) = settings.max_age {
            log = log.max_age(age);
        }
        log
    }

    /// What is done at gates if a line cannot be written. If nothing is said: they stay open, with a warning.
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = effect;
        self
    }

    /// Starts a new file before one gets larger than so many bytes.
    #[must_use]
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// Starts a new file when the first line of one is so old.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// Says in each line who sent the event, and from where.
    #[must_use]
    pub fn on_behalf_of(mut self, agent: &str, project: &Path) -> Self {
        self.agent = Some(agent.to_owned());
        self.project = Some(project.to_string_lossy().into_owned());
        self
    }

    /// The file that lines are written to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All lines there are, the oldest first.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn lines(&self) -> Result<LogLines, AuditError> {
        LogLines::of(&self.path).map_err(|error| self.error(error))
    }

    /// Lines behind this number, as they are written.
    pub fn follow(&self, after: u64) -> Follow {
        Follow::new(&self.path, after)
    }

    /// Looks whether all is as it was written. With a place in the chain that was kept elsewhere, also whether that line is
    /// still the same.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn verify(&self, expected: Option<&Head>) -> Result<Verification, AuditError> {
        verify::verify(&self.path, expected).map_err(|error| self.error(error))
    }

    fn error(&self, error: io::Error) -> AuditError {
        AuditError::File { path: self.path.clone(), error }
    }

    /// Writes a line. Gives its place in the chain.
    ///
    /// # Errors
    /// It could not be written; then nothing of it stands in the log, or the next writer notes that it was cut.
    pub fn append(&self, entry: AuditEntry) -> Result<Head, AuditError> {
        if self.path.as_os_str().is_empty() {
            return Err(AuditError::NoPlace);
        }
        let mut entry = entry;
        if entry.agent.is_none() && entry.project.is_none() {
            entry = entry.from_agent(self.agent.as_deref(), self.project.as_deref());
        }
        // As much as possible is done before others have to wait.
        entry.time = format!("{:.3}", Timestamp::now());
        let body = body(&entry)?;
        self.write(&body).map_err(|error| self.error(error))
    }

    fn write(&self, body: &str) -> io::Result<Head> {
        let mut locked = Locked::open(&self.path)?;
        let left = locked.read()?;
        let mut file = append_file::open(&self.path)?;
        let mut length = file.metadata()?.len();
        let tail = self.tail(&mut file, length)?;
        let mut text = String::new();
        let mut head = go_on(&mut text, tail, left)?;
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
            // On a full disk half a line may stand there. If it cannot be taken back, the next writer finds and notes it.
            let _ = file.set_len(length);
            return Err(error);
        }
        locked.write(&head)?;
        Ok(head)
    }

    /// How the log ends, over all its files. `None`: there is nothing yet.
    fn tail(&self, file: &mut File, length: u64) -> io::Result<Option<Tail>> {
        if length == 0 {
            return self.full_tail();
        }
        Ok(Some(match Tail::of(file, length)? {
            // The first line of a new file was cut: the chain goes on from the file before it.
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

    /// How the last file ends that was full.
    fn full_tail(&self) -> io::Result<Option<Tail>> {
        let Some(path) = files::all_full(&self.path)?.pop() else { return Ok(None) };
        let mut file = File::open(path)?;
        match file.metadata()?.len() {
            0 => Ok(Some(Tail::Odd)),
            length => Tail::of(&mut file, length).map(Some),
        }
    }

    fn is_full(&self, file: &mut File, length: u64, body: &str) -> io::Result<bool> {
        if length == 0 {
            return Ok(false);
        }
        Ok(length.saturating_add(body.len() as u64) > self.max_size || self.is_old(file)?)
    }

    /// Whether its first line is too old. A time that nobody can read is none.
    fn is_old(&self, file: &mut File) -> io::Result<bool> {
        let mut start = [0; 64];
        file.seek(SeekFrom::Start(0))?;
        let length = file.read(&mut start)?;
        let text = String::from_utf8_lossy(start.get(..length).unwrap_or_default());
        let time = text.strip_prefix("{\"time\":\"").and_then(|rest| rest.split('"').next()?.parse::<Timestamp>().ok());
        let age = time.map(|time| Timestamp::now().duration_since(time));
        Ok(age.is_some_and(|age| Duration::try_from(age).is_ok_and(|age| age > self.max_age)))
    }

    /// Writes down what came of an event if hooks ran or it was refused. Gives the verdict that counts: where gates close
    /// if nothing can be written, another one.
    pub(crate) fn take(&self, event: &Event, rules: &Rules, verdict: Verdict, record: &mut Record) -> Verdict {
        if record.hooks.is_empty() && !verdict.decision().is_block() {
            return verdict;
        }
        let Err(error) = self.append(AuditEntry::fire(record)) else { return verdict };
        let log = Arc::new(HookInfo::new("audit", Source::for_scope(Scope::Code)));
        let failure = Failure::new(FailureKind::Error, format!("nothing was written to the audit log: {error}"));
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

/// An entry as one line of JSON, without secrets.
fn body(entry: &AuditEntry) -> Result<String, JsonError> {
    let json = RawJson::from_serialize(entry)?;
    let clean = redacted_json(&json);
    Ok(clean.as_ref().unwrap_or(&json).as_str().replace(['\n', '\r'], " "))
}

/// Where the chain goes on. What is not as the last writer has left it is noted first, in the text.
fn go_on(text: &mut String, tail: Option<Tail>, left: Option<Head>) -> io::Result<Head> {
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
        Some(Tail::Odd) => (None, None),
    };
    let mut head = match (last, left) {
        // A writer that was ended between its line and the head leaves the head behind.
        (Some(last), None) => last,
        (Some(last), Some(left)) if left.seq < last.seq || left == last => last,
        (last, left) => {
            let left = left.or(last.clone()).unwrap_or_else(Head::start);
            let found = last.map_or_else(|| "something else".to_owned(), |last| format!("line {last}"));
            let why = format!("the last line was {left}, but the log ends with {found}");
            note(text, AuditEntry::broken(why), &left)?
        }
    };
    if let Some((bytes, sha256)) = cut {
        head = note(text, AuditEntry::cut(bytes, sha256), &head)?;
    }
    Ok(head)
}
