//! [`Store`]: the events that the live page and the terminal view show.
//!
//! Events arrive in two ways: `checkrein hook` pushes them with their full record, and a thread follows the decision log, so that
//! events of programs and times without the process are there, too. An event that arrives both ways is one event.
//!
//! Light rows are in memory, in a ring of bounded size. Full records are on disk, in two files of bounded size. This module knows
//! nothing about HTTP. It must never block an agent: a failed write only loses the full record.

mod hooks;
mod records;
mod row;
mod sessions;
mod tail;

pub use hooks::HookStats;
pub use row::{EventId, Row, Text};
pub use sessions::{Session, SessionState};

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use checkrein::internal::{line_file, redacted_json};
use checkrein_core::{Decision, RawJson};
use checkrein_tools::decision_log::{DecisionEntry, DecisionLog, EntryKind};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use tokio::sync::broadcast;

use self::hooks::{Hooks, record_of};
use self::records::Records;
use self::row::Texts;
use self::sessions::Sessions;
use self::tail::{Tail, Wake};

/// Number of changes that a slow subscriber may be behind. Then it has to read everything again.
const CHANGE_CAPACITY: usize = 1024;

/// An event that `checkrein hook` has answered.
#[derive(Debug, Clone)]
pub struct PushedEvent {
    /// Line of the decision log, as JSON.
    pub line: String,
    /// Recorded event as JSON, in the form of [`RecordedEvent`](checkrein_tools::recording::RecordedEvent). Secrets in it are
    /// redacted before it is kept.
    pub record: Option<RawJson>,
}

/// Limits of a store.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Number of rows in memory.
    pub rows: usize,
    /// Size of all record files, in bytes.
    pub records: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 100_000, records: 64 << 20 }
    }
}

/// Reason why a store cannot be opened, or an event is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or the thread.
    #[error("cannot open the events in `{}`: {error}", directory.display())]
    Open {
        /// State directory.
        directory: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The line is no entry of the decision log.
    #[error("the pushed line is no entry of the decision log: {0}")]
    Line(serde_json::Error),
}

/// Change of the data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change {
    /// A new event.
    Event(Arc<Row>),
    /// The full record of an event arrived.
    Record(EventId),
}

/// Selection of events.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Agent.
    pub agent: Option<String>,
    /// Session.
    pub session: Option<String>,
    /// Sub-agent.
    pub subagent: Option<String>,
    /// Hook that was selected for the event.
    pub hook: Option<String>,
    /// Kind of the event.
    pub event: Option<String>,
    /// Answer that the agent got.
    pub answer: Option<Decision>,
    /// Part of the tool, the command, the reason, the project or the hook, in any case.
    pub text: Option<String>,
    /// Newest position. `None`: the newest event.
    pub until: Option<u64>,
    /// Number of matching events to skip, the newest first.
    pub skip: usize,
    /// Maximum number of events.
    pub limit: usize,
}

/// Events, the newest first.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// Position up to which events were searched. With it, the next page continues this one.
    pub until: u64,
    /// Number of all matching events in memory.
    pub total: usize,
    /// Events.
    #[serde(serialize_with = "shared_rows")]
    pub events: Vec<Arc<Row>>,
}

/// An event with its full record.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FullEvent {
    /// The event in short. `None`: it is no longer in memory.
    #[serde(serialize_with = "shared_row")]
    pub row: Option<Arc<Row>>,
    /// Recorded event. `None`: the process did not run at the time, or the record is too old or too large.
    pub record: Option<RawJson>,
}

fn shared_rows<S: Serializer>(rows: &[Arc<Row>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(|row| &**row))
}

fn shared_row<S: Serializer>(row: &Option<Arc<Row>>, serializer: S) -> Result<S::Ok, S::Error> {
    row.as_deref().serialize(serializer)
}

/// Numbers for people.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct StoreStatus {
    /// Number of events in memory.
    pub events: usize,
    /// Number of full records that could not be kept.
    pub lost_records: u64,
    /// Last reason for it.
    pub record_error: Option<String>,
    /// Reason why the decision log cannot be read.
    pub log_error: Option<String>,
}

/// Events, sessions and hooks. Clones share the data.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
    _thread: Arc<Thread>,
}

#[derive(Debug)]
struct Thread(Sender<Wake>);

impl Drop for Thread {
    fn drop(&mut self) {
        let _ = self.0.send(Wake::Stop);
    }
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    tail: Tail,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug)]
struct State {
    limits: Limits,
    rows: VecDeque<Arc<Row>>,
    /// Positions of the rows in the ring.
    positions: HashMap<EventId, u64>,
    last_position: u64,
    texts: Texts,
    records: Records,
    hooks: Hooks,
    sessions: Sessions,
    status: StoreStatus,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens the events of a user's state directory, and follows its decision log.
    ///
    /// # Errors
    /// A file cannot be read, or the thread cannot start.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Self::with_limits(directory, Limits::default())
    }

    /// As [`open`](Self::open), with other limits.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn with_limits(directory: &Path, limits: Limits) -> Result<Self, StoreError> {
        let failed = |error| StoreError::Open { directory: directory.to_owned(), error };
        line_file::make_private_directory(directory).map_err(failed)?;
        let mut hooks = Hooks::default();
        let records = Records::open(directory, limits.records, |_, json| {
            if let Some((time, record)) = record_of(json) {
                hooks.add_record(&time, &record);
            }
        });
        let log = DecisionLog::in_state_directory(directory);
        let (changes, _) = broadcast::channel(CHANGE_CAPACITY);
        let state = State {
            limits,
            rows: VecDeque::new(),
            positions: HashMap::new(),
            last_position: 0,
            texts: Texts::default(),
            records: records.map_err(failed)?,
            hooks,
            sessions: Sessions::default(),
            status: StoreStatus::default(),
        };
        // The tail starts before the log is read: lines that both see are one event.
        let inner = Arc::new(Inner { state: Mutex::new(state), tail: Tail::new(&log), changes });
        match log.read() {
            Ok(entries) => entries.flatten().for_each(|entry| inner.add(&entry, None)),
            Err(error) => inner.note_log_error(Some(error)),
        }
        let (sender, _) = tail::start(&Arc::downgrade(&inner), &log).map_err(failed)?;
        Ok(Self { inner, _thread: Arc::new(Thread(sender)) })
    }

    /// Adds an event. Writes its record to disk, so it blocks for the time of a write.
    ///
    /// # Errors
    /// The line is no entry of the decision log.
    pub fn insert(&self, pushed: &PushedEvent) -> Result<(), StoreError> {
        let entry: DecisionEntry = serde_json::from_str(pushed.line.trim()).map_err(StoreError::Line)?;
        self.inner.add(&entry, pushed.record.as_ref());
        Ok(())
    }

    /// Reads new lines of the decision log now, instead of at the next notification.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read_log(&self) -> std::io::Result<()> {
        self.inner.tail.read(&self.inner)
    }

    /// Receives every change from now on. A receiver that is too slow gets
    /// [`Lagged`](broadcast::error::RecvError::Lagged), and must read everything again.
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.inner.changes.subscribe()
    }

    /// Number of receivers of changes: each open page is one.
    pub fn viewers(&self) -> usize {
        self.inner.changes.receiver_count()
    }

    /// Returns selected events, the newest first.
    pub fn page(&self, query: &Query) -> Page {
        let state = lock(&self.inner.state);
        let until = query.until.unwrap_or(state.last_position);
        let text = query.text.as_ref().map(|text| text.to_lowercase());
        let (mut total, mut events) = (0, Vec::new());
        for row in state.rows.iter().rev() {
            if row.position <= until && query.selects(row, text.as_deref()) {
                if total >= query.skip && events.len() < query.limit {
                    events.push(Arc::clone(row));
                }
                total += 1;
            }
        }
        Page { until, total, events }
    }

    /// Returns all sessions, the one with the newest event first. `pending`: number of open questions per agent and session.
    pub fn sessions(&self, pending: &HashMap<(String, String), usize>) -> Vec<Session> {
        lock(&self.inner.state).sessions.all(Timestamp::now(), pending)
    }

    /// Returns the statistics of all hooks, by id.
    pub fn hooks(&self) -> Vec<HookStats> {
        lock(&self.inner.state).hooks.all()
    }

    /// Returns an event with its full record. `None`: the event is unknown.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn record(&self, id: EventId) -> std::io::Result<Option<FullEvent>> {
        let state = lock(&self.inner.state);
        let row = state.positions.get(&id).and_then(|position| state.row(*position));
        let record = state.records.get(id)?;
        if row.is_none() && record.is_none() {
            return Ok(None);
        }
        Ok(Some(FullEvent { row, record }))
    }

    /// Numbers for people.
    pub fn status(&self) -> StoreStatus {
        let state = lock(&self.inner.state);
        StoreStatus { events: state.rows.len(), ..state.status.clone() }
    }
}

impl Query {
    /// Returns `true` if an event is selected. `text` is in lower case.
    fn selects(&self, row: &Row, text: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&Text>| {
            wanted.as_deref().is_none_or(|wanted| found.is_some_and(|found| found.as_str() == wanted))
        };
        is(&self.agent, Some(&row.agent))
            && is(&self.session, row.session.as_ref())
            && is(&self.subagent, row.subagent.as_ref())
            && is(&self.event, Some(&row.event))
            && self.answer.is_none_or(|answer| row.answer() == answer)
            && self.hook.as_deref().is_none_or(|hook| row.hooks.iter().any(|found| found.as_str() == hook))
            && text.is_none_or(|text| {
                let texts = [row.tool.as_ref(), row.project.as_ref(), row.by.as_ref(), row.session.as_ref()];
                let has = |found: &str| found.to_lowercase().contains(text);
                texts.into_iter().flatten().any(|found| has(found.as_str()))
                    || [&row.command, &row.reason].into_iter().flatten().any(|found| has(found))
            })
    }
}

impl Inner {
    /// Adds an event, or the record of a known event.
    fn add(&self, entry: &DecisionEntry, record: Option<&RawJson>) {
        if entry.kind != EntryKind::Event {
            return;
        }
        let id = EventId::of(entry);
        let clean = record.map(|record| redacted_json(record).unwrap_or_else(|| record.clone()));
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let known = state.positions.get(&id).and_then(|position| state.row(*position));
        let is_new = known.is_none();
        let row = known.unwrap_or_else(|| state.add_row(id, entry));
        let had_record = state.records.contains(id);
        let mut has_new_record = false;
        if let Some(json) = clean.filter(|_| !had_record) {
            match state.records.add(id, &json) {
                Ok(()) => has_new_record = true,
                Err(error) => {
                    state.status.lost_records += 1;
                    state.status.record_error = Some(error.to_string());
                }
            }
            if let Some((_, record)) = record_of(&json) {
                if !is_new {
                    state.hooks.add_line(&row, -1);
                }
                state.hooks.add_record(&entry.time, &record);
            } else if is_new {
                state.hooks.add_line(&row, 1);
            }
        } else if is_new && !had_record {
            state.hooks.add_line(&row, 1);
        }
        // Sent under the lock, so that a page and the changes after it have no gap.
        if is_new {
            let _ = self.changes.send(Change::Event(row));
        } else if has_new_record {
            let _ = self.changes.send(Change::Record(id));
        }
    }

    fn note_log_error(&self, error: Option<std::io::Error>) {
        lock(&self.state).status.log_error = error.map(|error| error.to_string());
    }
}

impl State {
    fn add_row(&mut self, id: EventId, entry: &DecisionEntry) -> Arc<Row> {
        self.last_position += 1;
        let row = Arc::new(Row::new(self.last_position, id, entry, &mut self.texts));
        self.sessions.add(&row);
        self.positions.insert(id, row.position);
        self.rows.push_back(Arc::clone(&row));
        if self.rows.len() > self.limits.rows
            && let Some(oldest) = self.rows.pop_front()
        {
            self.positions.remove(&oldest.id);
        }
        row
    }

    fn row(&self, position: u64) -> Option<Arc<Row>> {
        let first = self.rows.front()?.position;
        self.rows.get(usize::try_from(position.checked_sub(first)?).ok()?).cloned()
    }
}

#[cfg(test)]
mod tests;
