//! [`Builder`]: collects the calls of one session file, with bounded memory.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use jiff::Timestamp;

use super::call::{Outcome, Session, Subagent, ToolCall};
use super::formats::Format;
use crate::decision_log::{bounded_id, digest, gist};

/// Maximum number of calls of one file. Further ones are counted only.
const MAX_CALLS: usize = 50_000;

/// Maximum number of names of unknown kinds.
const MAX_KINDS: usize = 8;

/// Maximum number of characters of a name that is kept.
const MAX_NAME: usize = 120;

/// Marks a line of an unknown kind. With the fields of calls or results, it may be one.
pub(super) fn unknown_line(kind: &str, has_call: bool) -> Odd {
    if has_call { Odd::UnknownBlock(format!("line {kind}")) } else { Odd::Unknown(kind.to_owned()) }
}

/// Marks a line that the format does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Odd {
    /// A kind that is not known.
    Unknown(String),
    /// A content block of a kind that is not known. It may be a call.
    UnknownBlock(String),
    /// A known kind with an unknown shape, or no JSON.
    Broken,
}

impl From<serde_json::Error> for Odd {
    fn from(_: serde_json::Error) -> Self {
        Self::Broken
    }
}

/// A call as a reader finds it.
#[derive(Debug, Default)]
pub(super) struct NewCall<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) tool: &'a str,
    /// Input in JSON.
    pub(super) input: &'a str,
    pub(super) time: Option<Timestamp>,
    pub(super) subagent: Option<Subagent>,
}

/// Collects one session.
#[derive(Debug)]
pub(super) struct Builder {
    format: &'static Format,
    pub(super) session: Session,
    /// Position of the last call with an id, by sub-agent and id.
    positions: HashMap<u64, usize>,
    /// Hasher of sub-agents and ids, which take less memory than both. Its key is random.
    hasher: RandomState,
    /// Types of sub-agents, by id.
    subagent_kinds: HashMap<String, String>,
    /// Names of tools.
    tools: HashSet<Arc<str>>,
    /// Positions of calls that are removed at the end.
    removed: HashSet<usize>,
    has_version: bool,
    /// `true` while the lines are of an unknown version.
    is_unreadable: bool,
}

impl Builder {
    pub(super) fn new(format: &'static Format) -> Self {
        Self {
            format,
            session: Session { agent: format.agent, ..Session::default() },
            positions: HashMap::new(),
            hasher: RandomState::new(),
            subagent_kinds: HashMap::new(),
            tools: HashSet::new(),
            removed: HashSet::new(),
            has_version: false,
            is_unreadable: false,
        }
    }

    /// Sets the id of the session. The first one counts.
    pub(super) fn id(&mut self, id: &str) {
        if self.session.id.is_empty() {
            self.session.id = bounded_id(id).unwrap_or_default();
        }
    }

    /// Sets the working directory. The first one counts.
    pub(super) fn project(&mut self, dir: &str) {
        if self.session.project.is_none() && !dir.is_empty() {
            self.session.project = Some(dir.chars().take(1000).collect());
        }
    }

    /// Sets the program of the agent. The first one counts.
    pub(super) fn surface(&mut self, surface: &str) {
        if self.session.surface.is_none() && !surface.is_empty() {
            self.session.surface = Some(name(surface));
        }
    }

    /// Checks the version of the agent or its format. Calls of an unknown version are not readable.
    pub(super) fn version(&mut self, version: &str) {
        if self.session.version.as_deref() == Some(version) {
            return;
        }
        let version = name(version);
        self.is_unreadable = !self.format.versions.iter().any(|known| version.starts_with(known));
        if !self.is_unreadable {
            self.has_version = true;
        } else {
            let text = format!("version `{version}` of its session files is not known to this version of checkrein");
            self.session.problem.get_or_insert(text);
        }
        self.session.version = Some(version);
    }

    /// Adds a call.
    pub(super) fn call(&mut self, new: NewCall<'_>) {
        if self.session.calls.len() >= MAX_CALLS {
            self.session.dropped_calls += 1;
            return;
        }
        let id = new.id.and_then(bounded_id);
        if let Some(id) = &id {
            let subagent = new.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
            let key = self.hasher.hash_one((subagent, id.as_str()));
            self.positions.insert(key, self.session.calls.len());
        }
        let tool = self.tool(new.tool);
        self.session.calls.push(ToolCall {
            id,
            tool,
            digest: digest(new.input),
            command: gist(new.input),
            time: new.time,
            subagent: new.subagent.map(Box::new),
            outcome: Outcome::Pending,
            asked: None,
            hook_failure: None,
            unclear: None,
            is_unreadable: self.is_unreadable,
        });
    }

    /// Returns the name of a tool, which all its calls share.
    fn tool(&mut self, tool: &str) -> Arc<str> {
        let tool = name(tool);
        if let Some(known) = self.tools.get(tool.as_str()) {
            return Arc::clone(known);
        }
        let tool: Arc<str> = tool.into();
        self.tools.insert(Arc::clone(&tool));
        tool
    }

    /// Returns the last call with an id.
    pub(super) fn find(&mut self, subagent: Option<&str>, id: &str) -> Option<&mut ToolCall> {
        let key = self.hasher.hash_one((subagent, bounded_id(id)?.as_str()));
        let position = *self.positions.get(&key)?;
        let call = self.session.calls.get_mut(position)?;
        call.is_unreadable |= self.is_unreadable;
        Some(call)
    }

    /// Removes the last call with an id at the end.
    pub(super) fn remove(&mut self, subagent: Option<&str>, id: &str) {
        let Some(id) = bounded_id(id) else { return };
        let key = self.hasher.hash_one((subagent, id.as_str()));
        self.removed.extend(self.positions.remove(&key));
    }

    /// Learns the type of a sub-agent.
    pub(super) fn subagent_kind(&mut self, id: Option<&str>, kind: &str) {
        if let Some(id) = id.and_then(bounded_id)
            && self.subagent_kinds.len() < MAX_CALLS
        {
            self.subagent_kinds.entry(id).or_insert_with(|| name(kind));
        }
    }

    /// Returns the type of a sub-agent.
    pub(super) fn kind_of_subagent(&self, id: &str) -> Option<String> {
        self.subagent_kinds.get(id).cloned()
    }

    /// Returns the last call.
    pub(super) fn last(&mut self) -> Option<&mut ToolCall> {
        self.session.calls.last_mut()
    }

    /// Sets the outcome of the call with an id.
    pub(super) fn outcome(&mut self, subagent: Option<&str>, id: &str, outcome: Outcome) {
        if let Some(call) = self.find(subagent, id) {
            call.outcome = outcome;
        }
    }

    /// Counts a line.
    pub(super) fn count(&mut self, read: Result<(), Odd>) {
        self.session.lines += 1;
        match &read {
            Err(Odd::Unknown(_)) => self.session.unknown_lines += 1,
            Err(Odd::UnknownBlock(_)) => self.session.unknown_blocks += 1,
            _ => {}
        }
        match read {
            Ok(()) => {}
            Err(Odd::Broken) => self.session.broken_lines += 1,
            Err(Odd::Unknown(kind) | Odd::UnknownBlock(kind)) => {
                let (kind, kinds) = (name(&kind), &mut self.session.unknown_kinds);
                if kinds.len() < MAX_KINDS && !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
    }

    /// Returns the session.
    pub(super) fn finish(mut self) -> Session {
        if !self.has_version && self.session.lines > 0 {
            let text = "the file does not say which version of the agent wrote it".to_owned();
            self.session.problem.get_or_insert(text);
            self.session.calls.iter_mut().for_each(|call| call.is_unreadable = true);
        }
        if !self.removed.is_empty() {
            let mut position = 0;
            self.session.calls.retain(|_| {
                position += 1;
                !self.removed.contains(&(position - 1))
            });
        }
        self.session.calls.shrink_to_fit();
        self.session.subagent_kinds = self.subagent_kinds;
        self.session
    }
}

/// Returns a name from a session file, with a bounded length.
pub(super) fn name(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

/// Reports a result whose status is not known.
pub(super) fn known_status(outcome: Outcome, status: Option<&str>) -> Result<(), Odd> {
    match outcome {
        Outcome::Unknown => Err(Odd::UnknownBlock(format!("tool status {}", status.unwrap_or("missing")))),
        _ => Ok(()),
    }
}

/// Parses a time as agents write it.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Parses a time in milliseconds since 1970.
pub(super) fn millis(count: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(count).ok()
}
