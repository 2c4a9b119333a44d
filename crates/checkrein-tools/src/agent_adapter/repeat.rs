//! Calls that an agent delivers more than once: settings of the user and of the project both call checkrein, or several agents
//! read one settings file.
//!
//! The first arrival of a call runs the hooks and keeps its answer in a file. Further arrivals get that answer: no hook runs, and
//! nothing is counted. The file is locked while the hooks run, so a parallel arrival waits. In every case of doubt the hooks run
//! again: a hook that runs twice is better than a stale answer or none.
//!
//! A call is the same if the agent, the event, the tool-use id and the whole payload are the same, and the same hooks match. Events
//! without an id can be equal although they are different, such as two refused stops. For these, each answer is used for one
//! further arrival only, and only if the agent really calls checkrein twice.
//!
//! A call that passed because the user had approved it is kept as well, because the second entry of the agent delivers the same call. It
//! is used for a few seconds only. Without a random id, it is used once, and only if the agent has two entries: a grant must never
//! let a new call pass.
//!
//! An answer to a call with a long id is used for the rest of the session: such ids are random, and never name another call. Other
//! answers are used for a few seconds only, and then deleted. Some model servers use an id such as `call_0` again, and the state that
//! a hook reads can change.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use checkrein::hook_files::Loaded;
use checkrein::internal::{line_file, regular_file, sha256_hex};
use checkrein_core::payload::Field;
use checkrein_core::{Decision, Event, EventKind, RawJson, Record, ToldRecord};
use checkrein_dialects::Answer;
use checkrein_dialects::agents::native;
use serde::{Deserialize, Serialize};

use super::{AgentAdapter, AgentResponse};
use crate::decision_log::AnsweredBy;
use crate::install::Installer;

/// Time after an answer in which a further arrival with the same tool-use id gets it. All entries of an agent arrive within it.
const ID_WINDOW: Duration = Duration::from_secs(10);

/// Shortest tool-use id that is random, and so is never used for another call. Ids of Claude, OpenAI and Gemini models are longer.
const RANDOM_ID: usize = 16;

/// Time without calls after which a session has ended. A further arrival with a random id gets the answer until then.
const SESSION_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// Time in which a further arrival without an id gets the answer of the first. Agents deliver an event to all entries before they go on.
const PAIR_WINDOW: Duration = Duration::from_secs(5);

/// Age from which an unlocked file without an answer is left over from a killed process.
const ABANDONED: Duration = Duration::from_secs(1);

/// Longest wait for the first arrival.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);

/// Maximum size of a kept answer, in bytes. Larger ones are not kept.
const MAX_ANSWER: usize = 16 << 20;

/// Arrival of a call.
pub(super) enum Arrival {
    /// The hooks must run. The claim, if there is one, keeps their answer for further arrivals.
    First(Option<Claim>),
    /// The call was answered before.
    Repeat(Box<KeptAnswer>),
    /// The agent cancelled the call during the wait for the first arrival.
    Interrupted,
}

/// A kept answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptAnswer {
    stdout: String,
    stderr: String,
    exit: i32,
    restricts: bool,
    user_message_included: bool,
    notes: Vec<String>,
    /// Decision and reason that the agent got.
    answer: (Decision, Option<String>),
    decision: Decision,
    reason: Option<String>,
    told: Option<ToldRecord>,
    by: AnsweredBy,
    /// `true` if the call passed because the user had approved it.
    is_confirmed: bool,
}

impl KeptAnswer {
    fn new(response: &AgentResponse) -> Self {
        let answer = &response.answer;
        let verdict = response.record.as_ref().map(|record| &record.verdict);
        Self {
            stdout: answer.stdout.clone(),
            stderr: answer.stderr.clone(),
            exit: answer.exit,
            restricts: answer.restricts,
            user_message_included: answer.user_message_included,
            notes: answer.notes.clone(),
            answer: (answer.decision, answer.reason.clone()),
            decision: verdict.map_or(Decision::NoOpinion, |verdict| verdict.decision),
            reason: verdict.and_then(|verdict| verdict.reason.clone()),
            told: response.record.as_ref().and_then(|record| record.told.clone()),
            by: AnsweredBy::new(response),
            is_confirmed: response.is_confirmed,
        }
    }

    /// Returns the response to a repeated call.
    pub(super) fn response(self, event: &Event) -> AgentResponse {
        let mut answer = Answer::default();
        (answer.stdout, answer.stderr, answer.exit) = (self.stdout, self.stderr, self.exit);
        (answer.restricts, answer.user_message_included) = (self.restricts, self.user_message_included);
        answer.notes = self.notes;
        (answer.decision, answer.reason) = self.answer;
        let mut record = Record::for_repeat(event, native::DIALECT.name, self.decision, self.reason);
        record.told = self.told;
        AgentResponse { answer, record: Some(record), first_run: Some(self.by), ..AgentResponse::default() }
    }
}

/// The right of the first arrival to answer a call. Its file stays locked until the claim is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    file: File,
    is_kept: bool,
}

impl Claim {
    /// Keeps the answer for further arrivals, unless the next arrival must run the hooks: after a failure of checkrein itself, and
    /// after a deferral, since the agent delivers the same call again when it continues.
    pub(super) fn keep(mut self, response: &AgentResponse) {
        let has_failed = response.record.is_none() && response.answer.restricts;
        let is_deferred = response.record.as_ref().is_some_and(|record| record.verdict.decision == Decision::Defer);
        let is_final = !has_failed && !is_deferred;
        let text = if is_final { serde_json::to_vec(&KeptAnswer::new(response)).ok() } else { None };
        if let Some(text) = text.filter(|text| text.len() <= MAX_ANSWER) {
            self.is_kept = self.file.write_all(&text).is_ok();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// State of a call that arrived before.
enum State {
    /// Another process runs its hooks.
    Running,
    /// No usable answer.
    Stale,
    Answered(Box<KeptAnswer>),
}

/// A call that can arrive again.
#[derive(Debug)]
struct Call {
    path: PathBuf,
    has_id: bool,
    /// `true` if the id is random, so it never names another call.
    has_random_id: bool,
    /// Time in which its answer is used.
    window: Duration,
}

impl Call {
    /// Claims the call. `Ok(None)`: another process has claimed it.
    fn claim(&self) -> io::Result<Option<Claim>> {
        let open = || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&self.path)
        };
        let opened = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(directory) = self.path.parent() {
                    line_file::make_private_directory(directory)?;
                }
                open()
            }
            opened => opened,
        };
        match opened {
            Ok(file) => {
                let claim = Claim { path: self.path.clone(), file, is_kept: false };
                // Another arrival can hold the lock for a moment, to read the new file.
                line_file::lock(&claim.file, ABANDONED)?;
                Ok(Some(claim))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the state of a call that another process has claimed.
    fn state(&self) -> State {
        let Ok(mut file) = regular_file::open_no_link(&self.path) else { return State::Stale };
        match fs4::FileExt::try_lock_shared(&file) {
            Ok(()) => {}
            Err(fs4::TryLockError::WouldBlock) => return State::Running,
            Err(fs4::TryLockError::Error(_)) => return State::Stale,
        }
        let changed = file.metadata().and_then(|metadata| metadata.modified());
        // A time in the future is invalid: the clock has changed.
        let Some(age) = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok()) else {
            return State::Stale;
        };
        let mut text = Vec::new();
        let limit = u64::try_from(MAX_ANSWER).unwrap_or(u64::MAX);
        if io::Read::by_ref(&mut file).take(limit + 1).read_to_end(&mut text).is_err() {
            return State::Stale;
        }
        // The other process has created the file and not locked it yet, or it was killed.
        if text.is_empty() {
            return if age < ABANDONED { State::Running } else { State::Stale };
        }
        match serde_json::from_slice(&text) {
            Ok(answer) if age <= self.window_of(&answer) => State::Answered(Box::new(answer)),
            _ => State::Stale,
        }
    }

    /// Returns the time in which an answer is used.
    fn window_of(&self, answer: &KeptAnswer) -> Duration {
        match answer.is_confirmed {
            false => self.window,
            true if self.has_random_id => ID_WINDOW,
            true => PAIR_WINDOW,
        }
    }

    /// Returns the arrival of the call. `None`: its hooks run in another process.
    fn arrive(&self) -> Option<Arrival> {
        // The second attempt follows the removal of a stale file.
        for _ in 0..2 {
            match self.claim() {
                Ok(Some(claim)) => return Some(Arrival::First(Some(claim))),
                Ok(None) => {}
                Err(_) => return Some(Arrival::First(None)),
            }
            match self.state() {
                State::Running => return None,
                State::Answered(answer) => {
                    if !self.has_id || answer.is_confirmed && !self.has_random_id {
                        let _ = fs::remove_file(&self.path);
                    }
                    return Some(Arrival::Repeat(answer));
                }
                State::Stale => {
                    let _ = fs::remove_file(&self.path);
                }
            }
        }
        Some(Arrival::First(None))
    }

    async fn wait(&self, limit: Duration) -> Arrival {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        while start.elapsed() < limit {
            tokio::time::sleep(pause).await;
            if let Some(arrival) = self.arrive() {
                return arrival;
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Arrival::First(None)
    }
}

impl AgentAdapter {
    /// Determines if the call arrived before. Waits for its answer if its hooks run in another process.
    pub(super) fn arrival(&self, json: &RawJson, event: &Event, loaded: &Loaded, dir: &Path) -> Arrival {
        let Some(call) = self.call(json, event, loaded, dir) else { return Arrival::First(None) };
        if let Some(arrival) = call.arrive() {
            return arrival;
        }
        let kind = event.kind();
        let waited = loaded.hooks.iter().filter(|spec| !spec.background);
        let limit = waited.map(|spec| spec.timeout_for(&kind)).sum::<Duration>();
        // The first arrival may wait for the user's approval.
        let hold = if loaded.approvals_wait { self.agent.approval_wait(&kind) } else { None };
        let limit = limit.saturating_add(hold.unwrap_or_default()).min(MAX_WAIT);
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return Arrival::First(None);
        };
        let _inside = runtime.enter();
        let wait = std::pin::pin!(call.wait(limit));
        runtime.block_on(self.cancel.run_or_cancel(wait)).unwrap_or(Arrival::Interrupted)
    }

    /// Returns the call of a payload. `None`: each arrival is a new call.
    fn call(&self, json: &RawJson, event: &Event, loaded: &Loaded, dir: &Path) -> Option<Call> {
        let counts = matches!(event.kind(), EventKind::PromptSubmit | EventKind::SessionStart);
        if loaded.hooks.is_empty() && !counts && !loaded.uses_history {
            return None;
        }
        let id = id_length(event);
        let has_id = id > 0;
        if !has_id && !self.is_called_twice(dir) {
            return None;
        }
        let state = self.state.as_ref()?;
        let name = self.digest(json, loaded, dir, has_id)?;
        if id >= RANDOM_ID {
            let sessions = state.join("calls");
            let session = format!("{}\0{}", self.agent.name, super::session(event).unwrap_or_default());
            let directory = sessions.join(sha256_hex(session.as_bytes()));
            if !directory.exists() {
                remove_old_sessions(&sessions);
            }
            return Some(Call { path: directory.join(name), has_id, has_random_id: true, window: SESSION_WINDOW });
        }
        let directory = state.join("answers");
        // Most calls are never repeated, so their answers are removed here.
        if removes_old(&name) {
            remove_old(&directory);
        }
        let window = if has_id { ID_WINDOW } else { PAIR_WINDOW };
        Some(Call { path: directory.join(name), has_id, has_random_id: false, window })
    }

    /// Returns `true` if a further arrival of the call gets this answer.
    pub(super) fn is_kept(&self, response: &AgentResponse, event: &Event, dir: &Path) -> bool {
        !response.is_confirmed || id_length(event) >= RANDOM_ID || self.is_called_twice(dir)
    }

    /// `true` if the agent calls an entry of the user's settings and one of the project's settings.
    fn is_called_twice(&self, dir: &Path) -> bool {
        let locations = self.locations.clone().unwrap_or_default();
        self.agent.host.calls_each_entry && Installer::is_installed_twice(self.agent, dir, locations)
    }

    /// Returns the digest of everything that makes calls the same.
    fn digest(&self, json: &RawJson, loaded: &Loaded, dir: &Path, has_id: bool) -> Option<String> {
        let mut text = String::with_capacity(json.as_str().len() + 512);
        let event = self.event.as_deref().unwrap_or_default();
        let _ = write!(text, "{}\0{event}\0{}\0{:?}\0", self.agent.name, dir.display(), self.on_failure);
        for entry in json.entries()? {
            // The same call can have the time of each of its deliveries.
            if !(has_id && entry.key() == "timestamp") {
                let _ = write!(text, "{}:{}\0", entry.raw_key(), entry.value());
            }
        }
        // Entries with other options run other hooks.
        for spec in &loaded.hooks {
            let source = &spec.info.source;
            let _ = write!(text, "{}\0{source}\0{:?}\0", spec.info.id, spec.state);
            match &spec.identity {
                Some(identity) => text.push_str(identity),
                None => drop(write!(text, "{:?}", spec.handler)),
            }
            text.push('\0');
        }
        Some(sha256_hex(text.as_bytes()))
    }
}

/// Returns the length of the tool-use id in bytes. 0: there is none.
fn id_length(event: &Event) -> usize {
    match event.field("tool_use_id") {
        Some(Field::Text(id)) => id.len(),
        _ => 0,
    }
}

/// `true` for the call of one name in 16. The age of an answer is checked when it is read, so old ones can stay for a while. The
/// names are digests.
fn removes_old(name: &str) -> bool {
    name.starts_with('0')
}

/// Removes the answers of sessions that have ended. The time of a directory is that of its newest answer.
fn remove_old_sessions(sessions: &Path) {
    for path in fs::read_dir(sessions).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if age.is_some_and(|age| age > SESSION_WINDOW) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes answers that are too old to be used. Locked files belong to calls whose hooks still run.
fn remove_old(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        // The lock comes before the second look: an answer that is given in between has a new time.
        if is_old(&path) && !is_locked(&path) && is_old(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns `true` if another process holds the lock of a file.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = regular_file::open_no_link(path) else { return false };
    matches!(fs4::FileExt::try_lock_shared(&file), Err(fs4::TryLockError::WouldBlock))
}

fn is_old(path: &Path) -> bool {
    let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age > ID_WINDOW)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step of a test fails the test")]
mod tests {
    use super::*;

    #[test]
    fn only_old_and_unlocked_answers_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, age: Duration| {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
            file
        };
        make("new", Duration::ZERO);
        make("old", ID_WINDOW * 2);
        let locked = make("old and locked", ID_WINDOW * 2);
        line_file::lock(&locked, ABANDONED).unwrap();
        remove_old(dir.path());
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["new", "old and locked"]);
    }

    #[test]
    fn few_calls_remove_old_answers() {
        let calls = (0..1_000_u32).filter(|number| removes_old(&sha256_hex(&number.to_le_bytes()))).count();
        assert!((20..120).contains(&calls), "{calls} of 1,000");
    }
}
