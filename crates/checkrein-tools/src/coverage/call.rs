//! [`Session`] and [`ToolCall`]: the content of an agent's session files, as far as coverage needs it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

/// One session of an agent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Session {
    /// Dialect name of the agent.
    pub agent: &'static str,
    /// Id of the session.
    pub id: String,
    /// Files that were read.
    pub files: Vec<PathBuf>,
    /// Working directory of the agent.
    pub project: Option<String>,
    /// Version of the agent or of its format.
    pub version: Option<String>,
    /// Program of the agent, such as its terminal or its desktop program, if the files name it.
    pub surface: Option<String>,
    /// All tool calls, in the order of the files.
    pub calls: Vec<ToolCall>,
    /// Number of lines, messages or rows.
    pub lines: u64,
    /// Number of lines of an unknown kind. They are skipped.
    pub unknown_lines: u64,
    /// Names of unknown kinds. The list is bounded.
    pub unknown_kinds: Vec<String>,
    /// Number of content blocks of an unknown kind. They may be calls.
    pub unknown_blocks: u64,
    /// Number of lines that are damaged, too long, or not as the format says. They may contain calls.
    pub broken_lines: u64,
    /// Number of calls beyond the limit.
    pub dropped_calls: u64,
    /// Reason why the state of the session's [unreadable](ToolCall::is_unreadable) calls is unknown, such as an unknown version.
    pub problem: Option<String>,
    /// Start of the session, if its calls have no times.
    pub started: Option<Timestamp>,
    /// Notes about parts that the files do not contain.
    pub notes: Vec<String>,
    /// Types of sub-agents, by id.
    pub(super) subagent_kinds: HashMap<String, String>,
}

impl Session {
    /// Adds the types of sub-agents that only another file of the session names.
    pub(super) fn name_subagents(&mut self) {
        for subagent in self.calls.iter_mut().filter_map(|call| call.subagent.as_mut()) {
            if subagent.kind.is_none() {
                subagent.kind = subagent.id.as_ref().and_then(|id| self.subagent_kinds.get(id)).cloned();
            }
        }
    }

    /// Returns `true` if lines were not read, so that they may have results of calls.
    pub(super) fn has_unread_lines(&self) -> bool {
        self.broken_lines + self.unknown_lines + self.unknown_blocks > 0
    }
}

/// One tool call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Id of the call, if the agent has one.
    pub id: Option<String>,
    /// Name of the tool. Calls share it.
    pub tool: Arc<str>,
    /// Digest of the input.
    pub digest: String,
    /// Start of the command or path, with secrets redacted.
    pub command: Option<String>,
    /// Time of the call.
    pub time: Option<Timestamp>,
    /// Sub-agent that made the call. `None`: the main agent.
    pub subagent: Option<Box<Subagent>>,
    /// Result of the call.
    pub outcome: Outcome,
    /// `true` if the agent asked the user. `None`: its files do not say.
    pub asked: Option<bool>,
    /// Failure of checkrein that the agent reports.
    pub hook_failure: Option<HookFailure>,
    /// Reason why the state of this call is unknown.
    pub unclear: Option<&'static str>,
    /// `true` if a part of the file about this call is not readable, for the reason of the session.
    pub is_unreadable: bool,
}

/// Failure of a call of checkrein, as the agent's files report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookFailure {
    /// Failure: checkrein could not be started, or exited without an answer.
    Failed,
    /// The agent ended it at its timeout.
    TimedOut {
        /// The timeout in milliseconds, if the agent reports it.
        limit: Option<u64>,
    },
    /// The agent ended it before it answered, and does not report a timeout.
    Cancelled,
}

/// A sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
pub struct Subagent {
    /// Id, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Type or name, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Result of a call, as the agent's files show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No result: the call runs, or the session ended before.
    Pending,
    /// The tool ran.
    Ran,
    /// The call was denied, by a hook or by the user.
    Denied,
    /// The agent rejected the call before any hook, such as one with an invalid input. It never ran.
    Rejected,
    /// The result is an error, and the files do not say if the tool ran.
    Failed,
    /// The result has a shape that is not known.
    Unknown,
}
