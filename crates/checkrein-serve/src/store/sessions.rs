//! Sessions of agents, from their events.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use checkrein::internal::branch_name;
use checkrein_core::Decision;
use jiff::Timestamp;
use serde::Serialize;

use super::row::{Row, Text};

/// Maximum number of sessions. The one with the oldest last event is dropped.
const MAX_SESSIONS: usize = 2000;

/// Maximum number of sub-agents of a session that are counted.
const MAX_SUBAGENTS: usize = 500;

/// Time without an event after which the state of a session is unknown.
const QUIET: i64 = 10 * 60 * 1000;

/// Time for which the branch of a directory is remembered.
const BRANCH_AGE: Duration = Duration::from_secs(5);

/// State of a session, as far as its events tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A call waits for the answer of a person.
    Waiting,
    /// Events arrived in the last minutes, and the turn has not ended.
    Working,
    /// The turn has ended.
    Idle,
    /// No event for minutes within a turn: a long tool call, or the agent has gone without an event.
    Quiet,
    /// The agent reported the end of the session.
    Ended,
}

/// A session.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Session {
    /// Agent.
    pub agent: Text,
    /// Id.
    pub session: Text,
    /// Directory of the project.
    pub project: Option<Text>,
    /// Branch of the project now. `None`: detached, unreadable, or no repository.
    pub branch: Option<String>,
    /// State.
    pub state: SessionState,
    /// Number of questions that wait for an answer.
    pub pending: usize,
    /// Time of the first known event, UTC.
    pub first: Text,
    /// Time of the last event, UTC.
    pub last: Text,
    /// Kind of the last event.
    pub last_event: Text,
    /// Tool of the last event.
    pub last_tool: Option<Text>,
    /// Answer to the last event.
    pub last_verdict: Decision,
    /// Number of events.
    pub events: u64,
    /// Number of denials.
    pub denials: u64,
    /// Number of questions.
    pub asks: u64,
    /// Number of sub-agents.
    pub subagents: usize,
}

#[derive(Debug)]
struct Known {
    session: Session,
    turn_ended: bool,
    ended: bool,
    subagents: BTreeSet<Text>,
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: HashMap<(Text, Text), Known>,
    branches: HashMap<Text, (Instant, Option<String>)>,
}

impl Sessions {
    pub(super) fn add(&mut self, row: &Row) {
        let Some(id) = &row.session else { return };
        let key = (row.agent.clone(), id.clone());
        if self.known.len() >= MAX_SESSIONS && !self.known.contains_key(&key) {
            let oldest = self.known.iter().min_by(|a, b| a.1.session.last.cmp(&b.1.session.last));
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.known.remove(&oldest);
            }
        }
        let known = self.known.entry(key).or_insert_with(|| Known {
            session: Session {
                agent: row.agent.clone(),
                session: id.clone(),
                project: None,
                branch: None,
                state: SessionState::Working,
                pending: 0,
                first: row.time.clone(),
                last: row.time.clone(),
                last_event: row.event.clone(),
                last_tool: None,
                last_verdict: row.answer(),
                events: 0,
                denials: 0,
                asks: 0,
                subagents: 0,
            },
            turn_ended: false,
            ended: false,
            subagents: BTreeSet::new(),
        });
        if let Some(subagent) = &row.subagent
            && known.subagents.len() < MAX_SUBAGENTS
        {
            known.subagents.insert(subagent.clone());
        }
        let session = &mut known.session;
        session.events += 1;
        session.subagents = known.subagents.len();
        match row.answer() {
            Decision::Deny | Decision::Halt => session.denials += 1,
            Decision::Ask => session.asks += 1,
            _ => {}
        }
        if row.project.is_some() {
            session.project.clone_from(&row.project);
        }
        // Events of parallel processes can arrive in another order.
        if row.time < session.last {
            return;
        }
        session.last = row.time.clone();
        session.last_event = row.event.clone();
        session.last_tool.clone_from(&row.tool);
        session.last_verdict = row.answer();
        known.ended = row.event.as_str() == "session_end";
        known.turn_ended = match row.event.as_str() {
            // A denied stop continues the turn.
            "stop" => row.answer() != Decision::Deny,
            // A new session waits for its first prompt.
            "session_start" => true,
            "notification" => known.turn_ended,
            _ => false,
        };
    }

    /// Returns all sessions, the one with the newest event first. `pending`: number of open questions per agent and session.
    pub(super) fn all(&mut self, now: Timestamp, pending: &HashMap<(String, String), usize>) -> Vec<Session> {
        self.branches.retain(|_, (read, _)| read.elapsed() < BRANCH_AGE);
        let mut sessions = Vec::with_capacity(self.known.len());
        for known in self.known.values() {
            let mut session = known.session.clone();
            let key = (session.agent.to_string(), session.session.to_string());
            session.pending = pending.get(&key).copied().unwrap_or_default();
            let age =
                session.last.as_str().parse::<Timestamp>().map(|last| now.as_millisecond() - last.as_millisecond());
            session.state = if session.pending > 0 {
                SessionState::Waiting
            } else if known.ended {
                SessionState::Ended
            } else if known.turn_ended {
                SessionState::Idle
            } else if age.is_ok_and(|age| age <= QUIET) {
                SessionState::Working
            } else {
                SessionState::Quiet
            };
            sessions.push(session);
        }
        sessions.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.session.cmp(&b.session)));
        // Old sessions have left their branch long ago.
        for session in sessions.iter_mut().take(100).filter(|session| session.state != SessionState::Ended) {
            if let Some(project) = &session.project {
                let read = || (Instant::now(), branch_name(Path::new(project.as_str())));
                session.branch = self.branches.entry(project.clone()).or_insert_with(read).1.clone();
            }
        }
        sessions
    }
}
