//! Session state between events: hooks that have had their one run, refused stops, and notes that were shown.
//!
//! [`Engine`](crate::Engine) keeps this in memory. A host that starts a new process for every event sets a
//! [`FileSessionStore`] with [`EngineBuilder::session_store`](crate::engine::EngineBuilder::session_store). A store must
//! not decide anything: it only stores.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use checkrein_core::Event;

use crate::append_file::{self, make_private_directory};
use crate::builtins::text::head;
use crate::regular_file;
use crate::sync::lock;

/// Stores facts about sessions.
///
/// A store that cannot write returns the results of a new session: a hook that runs twice is better than one that never
/// runs.
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Claims something that happens once in a session. Returns `false` if it was claimed before.
    fn claim(&self, session: Option<&str>, key: &str) -> bool;

    /// Releases a claim.
    fn release(&self, session: Option<&str>, key: &str);

    /// Returns the number of refused stops of an agent. `agent` identifies an agent of the session and the kind of its stop.
    fn stops(&self, session: Option<&str>, agent: &str) -> StopCount;

    /// Replaces that count. A count of 0 is removed.
    fn set_stops(&self, session: Option<&str>, agent: &str, count: StopCount);

    /// Returns a text that [`set_text`](Self::set_text) stored. Default: none.
    fn text(&self, session: Option<&str>, key: &str) -> Option<String> {
        let _ = (session, key);
        None
    }

    /// Stores a short text, or removes it. Default: does nothing.
    fn set_text(&self, session: Option<&str>, key: &str, text: Option<&str>) {
        let _ = (session, key, text);
    }

    /// Appends a line to a log of the session. Default: does nothing.
    fn append(&self, session: Option<&str>, log: &str, line: &str) {
        let _ = (session, log, line);
    }

    /// Returns the lines of a log, oldest first. The oldest lines of a long log may be missing. Default: none.
    fn lines(&self, session: Option<&str>, log: &str) -> Vec<String> {
        let _ = (session, log);
        Vec::new()
    }

    /// Returns `false` if no stop is counted in any session. Prompts do not query the store then.
    fn counts_stops(&self) -> bool {
        true
    }
}

/// Consecutive refusals of an agent's stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StopCount {
    /// Number of refusals.
    pub refused: u32,
    /// `true` from a refusal to the next prompt, which does not reset the count. Some agents send the reason as that prompt.
    pub awaits_prompt: bool,
}

/// Returns the session of an event. An empty name means no session.
pub(crate) fn session_of(event: &Event) -> Option<&str> {
    event.envelope.session_id.as_deref().filter(|id| !id.is_empty())
}

/// Maximum number of sessions in memory. All are removed when it is exceeded.
const MAX_SESSIONS: usize = 4096;

/// Session store in memory, for the lifetime of the engine.
#[derive(Debug, Default)]
pub struct MemorySessionStore {
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    claims: HashMap<Option<String>, HashSet<String>>,
    stops: HashMap<(Option<String>, String), StopCount>,
    texts: HashMap<(Option<String>, String), String>,
    logs: HashMap<(Option<String>, String), VecDeque<String>>,
}

impl MemorySessionStore {
    fn with<R>(&self, work: impl FnOnce(&mut Sessions) -> R) -> R {
        work(&mut lock(&self.sessions))
    }
}

impl SessionStore for MemorySessionStore {
    fn claim(&self, session: Option<&str>, key: &str) -> bool {
        let session = session.map(str::to_owned);
        self.with(|sessions| {
            if sessions.claims.len() >= MAX_SESSIONS && !sessions.claims.contains_key(&session) {
                sessions.claims.clear();
            }
            sessions.claims.entry(session).or_default().insert(key.to_owned())
        })
    }

    fn release(&self, session: Option<&str>, key: &str) {
        self.with(|sessions| {
            if let Some(claims) = sessions.claims.get_mut(&session.map(str::to_owned)) {
                claims.remove(key);
            }
        });
    }

    fn stops(&self, session: Option<&str>, agent: &str) -> StopCount {
        let key = (session.map(str::to_owned), agent.to_owned());
        self.with(|sessions| sessions.stops.get(&key).copied().unwrap_or_default())
    }

    fn set_stops(&self, session: Option<&str>, agent: &str, count: StopCount) {
        let key = (session.map(str::to_owned), agent.to_owned());
        self.with(|sessions| {
            if count.refused == 0 {
                sessions.stops.remove(&key);
                return;
            }
            if sessions.stops.len() >= MAX_SESSIONS && !sessions.stops.contains_key(&key) {
                sessions.stops.clear();
            }
            sessions.stops.insert(key, count);
        });
    }

    fn text(&self, session: Option<&str>, key: &str) -> Option<String> {
        let key = (session.map(str::to_owned), key.to_owned());
        self.with(|sessions| sessions.texts.get(&key).cloned())
    }

    fn set_text(&self, session: Option<&str>, key: &str, text: Option<&str>) {
        let key = (session.map(str::to_owned), key.to_owned());
        self.with(|sessions| {
            if sessions.texts.len() >= MAX_SESSIONS {
                sessions.texts.clear();
            }
            match text {
                Some(text) => sessions.texts.insert(key, text.to_owned()),
                None => sessions.texts.remove(&key),
            };
        });
    }

    fn append(&self, session: Option<&str>, log: &str, line: &str) {
        let key = (session.map(str::to_owned), log.to_owned());
        self.with(|sessions| {
            if sessions.logs.len() >= MAX_SESSIONS && !sessions.logs.contains_key(&key) {
                sessions.logs.clear();
            }
            let lines = sessions.logs.entry(key).or_default();
            if lines.len() >= MAX_LINES {
                lines.pop_front();
            }
            lines.push_back(line.to_owned());
        });
    }

    fn lines(&self, session: Option<&str>, log: &str) -> Vec<String> {
        let key = (session.map(str::to_owned), log.to_owned());
        self.with(|sessions| sessions.logs.get(&key).map(|lines| lines.iter().cloned().collect()).unwrap_or_default())
    }

    fn counts_stops(&self) -> bool {
        self.with(|sessions| !sessions.stops.is_empty())
    }
}

/// Maximum number of lines of a log in memory.
const MAX_LINES: usize = 10_000;

/// Size at which a log continues in a new file, in bytes. The one before it is kept.
const MAX_LOG_FILE: u64 = 512 * 1024;

/// Maximum size of a file with a count, in bytes.
const MAX_STOP_FILE: u64 = 64;

/// Maximum size of a file with a text, in bytes. A longer text is cut.
const MAX_TEXT_FILE: usize = 4096;

/// Maximum age of files since their last change. Sessions end without notice, so old files are removed.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Session store in a directory, for hosts that start a process for every event. Each fact is a separate small file, so
/// processes never wait for one another.
///
/// Events without a session differ: hooks that run once run each time, and refused stops are counted together under the
/// name given to [`unnamed`](Self::unnamed). So a stop may be accepted too early, but is always accepted at some point.
#[derive(Debug, Clone)]
pub struct FileSessionStore {
    dir: PathBuf,
    unnamed: String,
}

impl FileSessionStore {
    /// Stores files in this directory, which is created when needed.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), unnamed: String::new() }
    }

    /// Sets the name under which stops without a session are counted, such as the agent and its directory.
    #[must_use]
    pub fn unnamed(mut self, name: impl Into<String>) -> Self {
        self.unnamed = name.into();
        self
    }

    fn claim_file(&self, session: &str, key: &str) -> PathBuf {
        self.dir.join(format!("{:016x}-once-{:016x}", hash(&session), hash(&key)))
    }

    fn stop_file(&self, session: Option<&str>, agent: &str) -> PathBuf {
        self.dir.join(format!("{:016x}-stop-{:016x}", self.session_hash(session), hash(&agent)))
    }

    fn text_file(&self, session: Option<&str>, key: &str) -> PathBuf {
        self.dir.join(format!("{:016x}-text-{:016x}", self.session_hash(session), hash(&key)))
    }

    /// Files of a log: the current one, and the one before it.
    fn log_files(&self, session: Option<&str>, log: &str) -> (PathBuf, PathBuf) {
        let name = format!("{:016x}-log-{:016x}", self.session_hash(session), hash(&log));
        (self.dir.join(&name), self.dir.join(name + "-old"))
    }

    fn session_hash(&self, session: Option<&str>) -> u64 {
        match session {
            Some(session) => hash(&session),
            None => hash(&("no session", &self.unnamed)),
        }
    }

    /// Creates a new file that only this user can read.
    fn create(&self, path: &Path) -> io::Result<fs::File> {
        let open = || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path)
        };
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_private_directory(&self.dir)?;
                open()
            }
            opened => {
                self.remove_old();
                opened
            }
        }
    }

    fn remove_old(&self) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            if age.is_some_and(|age| age > MAX_AGE) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl SessionStore for FileSessionStore {
    fn claim(&self, session: Option<&str>, key: &str) -> bool {
        let Some(session) = session else { return true };
        match self.create(&self.claim_file(session, key)) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
        }
    }

    fn release(&self, session: Option<&str>, key: &str) {
        if let Some(session) = session {
            let _ = fs::remove_file(self.claim_file(session, key));
        }
    }

    fn stops(&self, session: Option<&str>, agent: &str) -> StopCount {
        let text = regular_file::read_text(&self.stop_file(session, agent), MAX_STOP_FILE).unwrap_or_default();
        let mut words = text.split_whitespace();
        let refused = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        StopCount { refused, awaits_prompt: words.next() == Some("now") }
    }

    fn text(&self, session: Option<&str>, key: &str) -> Option<String> {
        regular_file::read_text(&self.text_file(session, key), MAX_TEXT_FILE as u64).ok()
    }

    fn set_text(&self, session: Option<&str>, key: &str, text: Option<&str>) {
        let path = self.text_file(session, key);
        let _ = fs::remove_file(&path);
        if let Some(text) = text
            && let Ok(mut file) = self.create(&path)
        {
            let _ = io::Write::write_all(&mut file, head(text, MAX_TEXT_FILE).as_bytes());
        }
    }

    fn append(&self, session: Option<&str>, log: &str, line: &str) {
        let (path, old) = self.log_files(session, log);
        if fs::metadata(&path).is_ok_and(|found| found.len() > MAX_LOG_FILE) {
            let _ = fs::rename(&path, &old);
        }
        let _ = append_file::append(&path, line);
    }

    fn lines(&self, session: Option<&str>, log: &str) -> Vec<String> {
        let (path, old) = self.log_files(session, log);
        let read = |path: &Path| regular_file::read_text(path, 2 * MAX_LOG_FILE).unwrap_or_default();
        [read(&old), read(&path)].iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
    }

    fn set_stops(&self, session: Option<&str>, agent: &str, count: StopCount) {
        let path = self.stop_file(session, agent);
        let _ = fs::remove_file(&path);
        if count.refused > 0
            && let Ok(mut file) = self.create(&path)
        {
            let suffix = if count.awaits_prompt { " now" } else { "" };
            let _ = io::Write::write_all(&mut file, format!("{}{suffix}\n", count.refused).as_bytes());
        }
    }
}

/// Hash for file names. A collision only makes two sessions share a count.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(store: &dyn SessionStore) {
        assert!(store.claim(Some("a"), "k"));
        assert!(!store.claim(Some("a"), "k"));
        assert!(store.claim(Some("b"), "k") && store.claim(Some("a"), "l"));
        store.release(Some("a"), "k");
        assert!(store.claim(Some("a"), "k"));

        store.set_text(Some("a"), "k", Some("refused"));
        assert_eq!(store.text(Some("a"), "k").as_deref(), Some("refused"));
        assert_eq!((store.text(Some("b"), "k"), store.text(Some("a"), "l")), (None, None));
        store.set_text(Some("a"), "k", None);
        assert_eq!(store.text(Some("a"), "k"), None);

        for line in ["one", "two"] {
            store.append(Some("a"), "calls", line);
        }
        assert_eq!(store.lines(Some("a"), "calls"), ["one", "two"]);
        assert!(store.lines(Some("b"), "calls").is_empty() && store.lines(Some("a"), "other").is_empty());

        let count = StopCount { refused: 3, awaits_prompt: true };
        for session in [Some("a"), None] {
            assert_eq!(store.stops(session, "main"), StopCount::default());
            store.set_stops(session, "main", count);
            assert_eq!(store.stops(session, "main"), count);
            assert_eq!(store.stops(session, "other"), StopCount::default());
            assert!(store.counts_stops());
            store.set_stops(session, "main", StopCount::default());
            assert_eq!(store.stops(session, "main"), StopCount::default());
        }
    }

    #[test]
    fn memory_store_keeps_claims_and_stops() {
        let store = MemorySessionStore::default();
        check(&store);
        assert!(!store.counts_stops());
        assert!(store.claim(None, "k") && !store.claim(None, "k"));
    }

    #[test]
    fn file_store_keeps_claims_and_stops_across_instances() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/sessions");
        check(&FileSessionStore::new(&path));
        assert!(!FileSessionStore::new(&path).claim(Some("a"), "k"), "another process sees the claim");
        assert!(FileSessionStore::new(&path).claim(None, "k") && FileSessionStore::new(&path).claim(None, "k"));
        let count = StopCount { refused: 1, awaits_prompt: false };
        FileSessionStore::new(&path).unnamed("x").set_stops(None, "main", count);
        assert_eq!(FileSessionStore::new(&path).unnamed("x").stops(None, "main"), count);
        assert_eq!(FileSessionStore::new(&path).unnamed("y").stops(None, "main"), StopCount::default());
    }

    #[test]
    fn store_that_cannot_write_grants_every_claim() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let store = FileSessionStore::new(dir.path().join("file/below"));
        assert!(store.claim(Some("a"), "k") && store.claim(Some("a"), "k"));
        store.set_stops(Some("a"), "main", StopCount { refused: 1, awaits_prompt: true });
        assert_eq!(store.stops(Some("a"), "main"), StopCount::default());
    }

    #[test]
    fn old_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = FileSessionStore::new(dir.path());
        assert!(store.claim(Some("old"), "k"));
        let path = store.claim_file("old", "k");
        let old = SystemTime::now() - MAX_AGE - Duration::from_secs(60);
        OpenOptions::new().write(true).open(&path).unwrap().set_modified(old).unwrap();
        assert!(store.claim(Some("new"), "k"));
        assert!(!path.exists());
    }
}
