//! [`Records`]: what checkrein recorded about the sessions of interest, in the decision log and in the audit log.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};
use std::io;
use std::rc::Rc;

use checkrein::audit::{AuditError, AuditLog};
use checkrein_core::{Decision, EventKind, RawJson};
use jiff::Timestamp;

use super::call::Session;
use crate::decision_log::{DecisionEntry, DecisionLog, EntryKind, bounded_id, digest, gist};

/// Error of reading the records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The decision log cannot be read.
    #[error("cannot read the decision log: {0}")]
    Log(#[from] io::Error),
    /// The audit log cannot be read.
    #[error("cannot read the audit log: {0}")]
    Audit(#[from] AuditError),
}

/// Time that the logs cover.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Window {
    /// `true` if the decision log has lines.
    pub has_log: bool,
    /// `true` if the audit log has lines.
    pub has_audit: bool,
    /// Time of the oldest line of the decision log.
    pub first: Option<Timestamp>,
    /// Time of the newest line of the decision log.
    pub last: Option<Timestamp>,
    /// `true` if the decision log begins with its first line ever. Otherwise older lines were removed.
    pub has_start: bool,
    /// Lines of the decision log that are not valid.
    pub skipped: u64,
}

/// Log of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Log,
    Audit,
}

/// Record of one event.
#[derive(Debug, Clone)]
pub(super) struct Rec {
    pub(super) source: Source,
    pub(super) event: RecordedEvent,
    pub(super) call: Option<Box<str>>,
    pub(super) subagent: Option<Box<str>>,
    pub(super) tool: Option<Box<str>>,
    /// Digest of the input, and of the input that replaced it.
    pub(super) digests: [Option<Box<str>>; 2],
    /// Command with its secrets redacted, if the digest is that of the redacted input.
    pub(super) command: Option<Box<str>>,
    /// Decision that the agent got.
    pub(super) answer: Decision,
    pub(super) repeat: bool,
    /// Hooks that a variable of the user skipped.
    pub(super) skipped: Option<Box<str>>,
    pub(super) time: Option<Timestamp>,
}

/// Kind of a recorded event, as far as coverage needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordedEvent {
    Gate,
    TurnEnd,
    Other,
}

impl RecordedEvent {
    fn named(name: &str) -> Self {
        match name {
            _ if name == EventKind::PreToolUse.name() => Self::Gate,
            _ if name == EventKind::Stop.name() || name == EventKind::SessionEnd.name() => Self::TurnEnd,
            _ => Self::Other,
        }
    }
}

/// All records of the sessions of interest.
#[derive(Debug, Default)]
pub struct Records {
    /// By agent and session, in the order of the logs.
    sessions: HashMap<(String, String), Vec<Rc<Rec>>>,
    /// Agents that recorded a session, by its id.
    agents: HashMap<String, HashSet<String>>,
    /// Gate records with long ids of calls of interest, by the hash of agent and id, which takes less memory than both. Such ids are
    /// never used again.
    by_long_id: HashMap<u64, Vec<Rc<Rec>>>,
    /// Hasher of agents and ids. Its key is random.
    hasher: RandomState,
    /// Time of the first line of each agent in the decision log.
    first_of_agent: HashMap<String, Timestamp>,
    /// Time of the last line of each agent in the decision log.
    last_of_agent: HashMap<String, Timestamp>,
    pub(super) window: Window,
}

/// Sessions and calls whose records are kept.
#[derive(Debug, Default)]
pub(super) struct Interest {
    pub(super) sessions: HashSet<String>,
    /// Hashes of the [long](LONG_ID) ids of calls. The ids themselves would take more memory than the records.
    long_ids: HashSet<u64>,
}

impl Interest {
    pub(super) fn in_sessions(sessions: &[Session]) -> Self {
        let mut found = Self::default();
        for session in sessions {
            found.sessions.insert(session.id.clone());
            for call in &session.calls {
                if let Some(id) = call.subagent.as_ref().and_then(|subagent| subagent.id.as_ref())
                    && !found.sessions.contains(id)
                {
                    found.sessions.insert(id.clone());
                }
                found.long_ids.extend(call.id.as_deref().filter(|id| id.len() >= LONG_ID).map(hash));
            }
        }
        found
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Length from which an id is treated as unique over all sessions.
pub(super) const LONG_ID: usize = 20;

impl Records {
    /// Reads the records of these sessions and calls.
    ///
    /// # Errors
    /// A log exists and cannot be read.
    pub(super) fn read(log: &DecisionLog, audit: &AuditLog, interest: &Interest) -> Result<Self, RecordsError> {
        let mut records = Self::default();
        let mut lines = log.read()?;
        for entry in lines.by_ref() {
            records.add_entry(entry?, interest);
        }
        records.window.skipped = lines.skipped;
        if !audit.path().as_os_str().is_empty() {
            records.read_audit(audit, &interest.sessions)?;
        }
        Ok(records)
    }

    /// Adds a line of the decision log.
    pub(super) fn add_entry(&mut self, entry: DecisionEntry, interest: &Interest) {
        let time: Option<Timestamp> = entry.time.parse().ok();
        let window = &mut self.window;
        if !window.has_log {
            window.has_start = entry.kind == EntryKind::Start;
            window.first = time;
        }
        window.has_log = true;
        window.last = time.or(window.last);
        let agent = base(&entry.agent).to_owned();
        if let (Some(time), EntryKind::Event) = (time, entry.kind) {
            let first = self.first_of_agent.entry(agent.clone()).or_insert(time);
            *first = time.min(*first);
            let last = self.last_of_agent.entry(agent.clone()).or_insert(time);
            *last = time.max(*last);
        }
        let event = RecordedEvent::named(&entry.event);
        let (Some(session), EntryKind::Event) = (&entry.session, entry.kind) else { return };
        let is_of_session = interest.sessions.contains(session);
        let long_id = entry
            .call
            .as_ref()
            .filter(|id| event == RecordedEvent::Gate && id.len() >= LONG_ID && interest.long_ids.contains(&hash(id)));
        if !is_of_session && long_id.is_none() {
            return;
        }
        let answer = entry.answer();
        let boxed = |text: Option<String>| text.map(String::into_boxed_str);
        let (session, long_id) = (session.clone(), long_id.cloned());
        let skipped = if entry.skipped.is_empty() { None } else { Some(entry.skipped.join(", ").into_boxed_str()) };
        let record = Rec {
            source: Source::Log,
            event,
            call: boxed(entry.call),
            subagent: boxed(entry.subagent),
            tool: boxed(entry.tool),
            digests: [boxed(entry.digest), boxed(entry.rewritten)],
            command: None,
            answer,
            repeat: entry.repeat,
            skipped,
            time,
        };
        let record = Rc::new(record);
        if let Some(id) = long_id {
            let key = self.hasher.hash_one((agent.as_str(), id.as_str()));
            self.by_long_id.entry(key).or_insert_with(|| Vec::with_capacity(1)).push(Rc::clone(&record));
        }
        if is_of_session {
            self.add(agent, session, record);
        }
    }

    fn read_audit(&mut self, audit: &AuditLog, sessions: &HashSet<String>) -> Result<(), RecordsError> {
        for line in audit.lines()? {
            let entry = line.map_err(RecordsError::Log)?.entry;
            self.window.has_audit = true;
            let (Some(record), Some(agent)) = (entry.record, &entry.agent) else { continue };
            let Some(session) = record.session_id.as_deref().and_then(bounded_id) else { continue };
            if !sessions.contains(&session) {
                continue;
            }
            let verdict = &record.verdict;
            let original = verdict.original_input.as_ref().map(RawJson::as_str);
            let effective = verdict.effective_input.as_ref().map(RawJson::as_str);
            let boxed = |text: Option<String>| text.map(String::into_boxed_str);
            let rec = Rec {
                source: Source::Audit,
                event: RecordedEvent::named(&record.event),
                call: None,
                subagent: None,
                tool: boxed(record.subject.clone()),
                digests: [
                    boxed(original.map(digest)),
                    boxed(effective.filter(|text| Some(*text) != original).map(digest)),
                ],
                command: boxed(original.and_then(gist)),
                answer: record.told.as_ref().map_or(verdict.decision, |told| told.decision),
                repeat: record.repeat,
                skipped: None,
                time: entry.time.parse().ok(),
            };
            self.add(base(agent).to_owned(), session, Rc::new(rec));
        }
        Ok(())
    }

    fn add(&mut self, agent: String, session: String, record: Rc<Rec>) {
        self.agents.entry(session.clone()).or_default().insert(agent.clone());
        self.sessions.entry((agent, session)).or_default().push(record);
    }

    /// Returns the records of a session.
    pub(super) fn of_session(&self, agent: &str, session: &str) -> &[Rc<Rec>] {
        self.sessions.get(&(agent.to_owned(), session.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Returns the gate records with a long id, whatever their session.
    pub(super) fn with_long_id(&self, agent: &str, id: &str) -> &[Rc<Rec>] {
        self.by_long_id.get(&self.hasher.hash_one((agent, id))).map_or(&[], Vec::as_slice)
    }

    /// Returns the time of the first line of an agent in the decision log.
    pub(super) fn first_of_agent(&self, agent: &str) -> Option<Timestamp> {
        self.first_of_agent.get(agent).copied()
    }

    /// Returns the agents that have lines at this time or later in the decision log, sorted.
    pub(super) fn agents_since(&self, since: Option<Timestamp>) -> Vec<&str> {
        let recent = self.last_of_agent.iter().filter(|(_, last)| since.is_none_or(|since| **last >= since));
        let mut found: Vec<_> = recent.map(|(agent, _)| agent.as_str()).collect();
        found.sort_unstable();
        found
    }

    /// Returns another agent that recorded this session.
    pub(super) fn other_agent(&self, agent: &str, session: &str) -> Option<&str> {
        self.agents.get(session)?.iter().map(String::as_str).filter(|other| *other != agent).min()
    }
}

/// Returns the agent of a dialect variant, such as `copilot` for `copilot@pascal`.
pub(super) fn base(agent: &str) -> &str {
    agent.split('@').next().unwrap_or(agent)
}
