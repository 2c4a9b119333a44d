//! Calls that wait for the user's confirmation, under agents whose hooks cannot ask.
//!
//! The agent adapter issues a code for a call that hooks ask about, and the denial contains the code. The user confirms it with
//! `checkrein allow-once CODE`. Then the adapter lets the next identical call pass, once. A confirmation is bound to the call
//! ([`Call`]) and to the hooks that ask. It must never pass anything but questions of hooks: no deny and no failure.
//!
//! Each call is a small file in the user's state directory. Its name has the code, a digest of the call, and its state. Changes
//! of the state are renames, so that of two processes only one can use a confirmation.

mod code;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein::internal::line_file::make_private_directory;
use checkrein::internal::{is_private, regular_file, sha256_hex};
use checkrein_core::{Event, RawJson, Verdict};
use serde::{Deserialize, Serialize};

pub use self::code::{Code, InvalidCode};

/// Time from the denial in which a call can be confirmed and repeated.
pub const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Maximum number of calls that wait. The oldest is dropped for a new one.
const MAX_CALLS: usize = 100;

/// Maximum size of a file, in bytes. A larger input is not offered for confirmation.
const MAX_FILE: usize = 1 << 20;

/// File name suffix of a call that the user has not confirmed.
const PENDING: &str = "pending";
/// File name suffix of a confirmed call.
const GRANTED: &str = "granted";
/// File name suffix of a confirmation that is being used.
const USED: &str = "used";

/// A tool call that hooks ask about, with everything that a confirmation is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Call {
    /// Dialect name of the agent.
    pub agent: String,
    /// Session, if the agent names it.
    pub session: Option<String>,
    /// Directory of the project.
    pub project: PathBuf,
    /// Working directory of the call, if the agent names it.
    pub cwd: Option<String>,
    /// Event in the agent's spelling.
    pub event: String,
    /// Tool.
    pub tool: String,
    /// Tool input, as the agent sent it.
    pub input: RawJson,
    /// Tool input after the rewrites of hooks, if there are any.
    pub rewritten: Option<RawJson>,
    /// Hooks that ask, in config order.
    pub asks: Vec<Ask>,
}

/// Question of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Id of the hook.
    pub hook: String,
    /// File and line of the hook.
    pub source: String,
    /// Question. Empty if the hook gave none.
    pub reason: String,
}

impl Call {
    /// Returns the call of a verdict, if the user's confirmation is enough for it to pass. `None` for other decisions than ask,
    /// for questions because of failures, and for events without a tool.
    pub fn new(agent: &str, project: &Path, event_name: &str, event: &Event, verdict: &Verdict) -> Option<Self> {
        let asks: Vec<_> = verdict
            .questions()?
            .map(|reason| Ask {
                hook: reason.hook.id.clone(),
                source: reason.hook.source.to_string(),
                reason: reason.text.clone(),
            })
            .collect();
        Some(Self {
            agent: agent.to_owned(),
            session: event.envelope.session_id.clone().filter(|id| !id.is_empty()),
            project: project.to_owned(),
            cwd: event.envelope.cwd.clone(),
            event: event_name.to_owned(),
            tool: event.tool_name()?.to_owned(),
            input: without_description(event, event.tool_input()?),
            rewritten: verdict.effective_input().map(|input| without_description(event, input)),
            asks,
        })
    }

    /// Returns a digest of everything that a confirmation is bound to. The project is a part of it only without a session.
    fn digest(&self) -> String {
        let project = if self.session.is_some() { None } else { Some(self.project.to_string_lossy()) };
        let hooks: Vec<_> = self.asks.iter().map(|ask| (&ask.hook, &ask.reason)).collect();
        let parts = (&self.agent, &self.session, project, &self.cwd, &self.event, &self.tool, hooks);
        let text = serde_json::to_string(&parts).unwrap_or_default();
        let rewritten = self.rewritten.as_ref().map(canonical);
        sha256_hex(format!("{text}\n{}\n{rewritten:?}", canonical(&self.input)).as_bytes())
    }
}

/// Tool, input and questions, in one line.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, self.input)?;
        for (index, ask) in self.asks.iter().enumerate() {
            write!(f, "{} {} asks: {}", if index == 0 { ";" } else { "," }, ask.hook, ask.reason)?;
        }
        Ok(())
    }
}

/// Returns the input of a shell tool without its description. It has no effect, and models write another one with each call.
fn without_description(event: &Event, input: &RawJson) -> RawJson {
    let is_shell = event.tool_aliases().chain(event.tool_name()).any(|name| name == "Bash");
    let Some(entries) = input.entries().filter(|_| is_shell) else { return input.clone() };
    let kept: Vec<_> = entries
        .filter(|entry| entry.key() != "description")
        .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
        .collect();
    RawJson::parse(format!("{{{}}}", kept.join(","))).unwrap_or_else(|_| input.clone())
}

/// Returns JSON without white space and with sorted keys. The text of strings and numbers does not change.
fn canonical(json: &RawJson) -> String {
    if let Some(entries) = json.entries() {
        let mut members: Vec<_> =
            entries.map(|entry| format!("{}:{}", RawJson::string(&entry.key()), canonical(&entry.to_json()))).collect();
        members.sort_unstable();
        return format!("{{{}}}", members.join(","));
    }
    match json.items() {
        Some(items) => {
            let items =
                items.map(|item| RawJson::parse(item).map_or_else(|_| item.to_owned(), |item| canonical(&item)));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        None => json.as_str().trim_ascii().to_owned(),
    }
}

/// Calls that wait for a confirmation, in a directory that only the user can write.
#[derive(Debug, Clone)]
pub struct WaitingCalls {
    dir: PathBuf,
}

/// A call that waits for a confirmation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WaitingCall {
    /// The call.
    pub call: Call,
    /// Time that is left.
    pub left: Duration,
    path: PathBuf,
}

/// Content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    /// Time of the denial, in seconds since 1970.
    issued: u64,
    call: Call,
}

/// Error: a code cannot be confirmed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowOnceError {
    /// No call has the code.
    #[error(
        "no call waits for the code {0}: it is wrong, used, or older than {minutes} minutes; let the agent try again, which \
         gives a new code",
        minutes = LIFETIME.as_secs() / 60
    )]
    Unknown(Code),
    /// The user has confirmed the call already.
    #[error("the call with the code {0} is allowed already; let the agent repeat it")]
    Granted(Code),
    /// The directory belongs to others, or others can write it.
    #[error("{0}")]
    NotPrivate(String),
    /// A file cannot be read or written.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
}

impl WaitingCalls {
    /// Uses the directory `allow-once` in the user's state directory.
    pub fn in_state_directory(state: &Path) -> Self {
        Self { dir: state.join("allow-once") }
    }

    /// Returns a code for a call. A call that waits already keeps its code.
    ///
    /// # Errors
    /// The call is too large, or it cannot be stored.
    pub fn issue(&self, call: &Call) -> Result<Code, AllowOnceError> {
        let digest = call.digest();
        let mut files = self.files()?;
        if let Some(file) = files.iter().find(|file| file.digest == digest && file.state == PENDING) {
            return Ok(file.code.clone());
        }
        files.sort_by_key(|file| file.issued);
        let surplus = (files.len() + 1).saturating_sub(MAX_CALLS);
        for file in files.iter().take(surplus) {
            let _ = fs::remove_file(&file.path);
        }
        let code = Code::random();
        let path = self.dir.join(format!("{}.{digest}.{PENDING}", code.characters()));
        let stored = Stored { issued: now(), call: call.clone() };
        let text = serde_json::to_string(&stored).map_err(|error| failed(&path, error.into()))?;
        if text.len() > MAX_FILE {
            return Err(failed(&path, io::Error::other("the tool input is too large to confirm (more than 1 MiB)")));
        }
        make_private_directory(&self.dir).map_err(|error| failed(&self.dir, error))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let write = || options.open(&path)?.write_all(text.as_bytes());
        write().map_err(|error| failed(&path, error))?;
        Ok(code)
    }

    /// Returns the call with this code.
    ///
    /// # Errors
    /// No call has the code, the call is confirmed already, or it cannot be read.
    pub fn find(&self, code: &Code) -> Result<WaitingCall, AllowOnceError> {
        let file = self.files()?.into_iter().find(|file| file.code == *code);
        let file = file.ok_or_else(|| AllowOnceError::Unknown(code.clone()))?;
        if file.state == GRANTED {
            return Err(AllowOnceError::Granted(code.clone()));
        }
        let left = LIFETIME.saturating_sub(Duration::from_secs(now().saturating_sub(file.issued)));
        Ok(WaitingCall { call: file.call, left, path: file.path })
    }

    /// Confirms a call: the next identical call passes the questions of its hooks.
    ///
    /// # Errors
    /// The code has expired in the meantime, or the file cannot be renamed.
    pub fn grant(&self, code: &Code, waiting: &WaitingCall) -> Result<(), AllowOnceError> {
        self.find(code)?;
        let granted = waiting.path.with_extension(GRANTED);
        fs::rename(&waiting.path, &granted).map_err(|error| failed(&waiting.path, error))
    }

    /// Uses the confirmation of a call. Returns its code, or `None` if the user has not confirmed the call. Of several processes
    /// that try, one succeeds.
    pub fn take(&self, call: &Call) -> Option<Code> {
        let digest = call.digest();
        let files = self.files().ok()?;
        let file = files.into_iter().find(|file| file.digest == digest && file.state == GRANTED)?;
        let used = file.path.with_extension(USED);
        fs::rename(&file.path, &used).ok()?;
        let _ = fs::remove_file(&used);
        Some(file.code)
    }

    /// Returns the code in this text, if a call with that code waits or is confirmed.
    pub fn code_in(&self, text: &str) -> Option<Code> {
        let files = self.files().ok().filter(|files| !files.is_empty())?;
        let text = text.to_ascii_uppercase();
        let is_in = |code: &Code| text.contains(&code.to_string()) || text.contains(code.characters());
        files.into_iter().map(|file| file.code).find(is_in)
    }

    /// Reads all files that are still valid. Removes the others.
    fn files(&self) -> Result<Vec<CallFile>, AllowOnceError> {
        if !is_private(&self.dir).map_err(AllowOnceError::NotPrivate)? {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(|error| failed(&self.dir, error))? {
            let path = entry.map_err(|error| failed(&self.dir, error))?.path();
            match CallFile::read(&path) {
                Some(file) => files.push(file),
                None if is_old(&path) => drop(fs::remove_file(&path)),
                None => {}
            }
        }
        Ok(files)
    }
}

/// A file of the directory.
struct CallFile {
    path: PathBuf,
    code: Code,
    digest: String,
    state: String,
    issued: u64,
    call: Call,
}

impl CallFile {
    /// Reads a file. `None` if it is not a valid call: it has expired, or its name and content differ.
    fn read(path: &Path) -> Option<Self> {
        let mut parts = path.file_name()?.to_str()?.split('.');
        let (code, digest, state) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !matches!(state, PENDING | GRANTED) {
            return None;
        }
        let text = regular_file::read_text(path, MAX_FILE as u64).ok()?;
        let Stored { issued, call } = serde_json::from_str(&text).ok()?;
        // A time in the future is as invalid as an old one.
        let age = now().checked_sub(issued)?;
        if age > LIFETIME.as_secs() || call.digest() != digest {
            return None;
        }
        Some(Self { path: path.to_owned(), code, digest: digest.to_owned(), state: state.to_owned(), issued, call })
    }
}

/// `true` if a file was written before the lifetime of calls. Younger ones may be incomplete, because another process writes them.
fn is_old(path: &Path) -> bool {
    let age = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok().map(|time| time.elapsed());
    age.is_some_and(|age| age.is_ok_and(|age| age > LIFETIME))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn failed(path: &Path, error: io::Error) -> AllowOnceError {
    AllowOnceError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests;
