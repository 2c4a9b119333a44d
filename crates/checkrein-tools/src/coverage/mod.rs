//! Coverage: which tool calls of agents were really judged by hooks.
//!
//! Agents keep their own session files. This module reads them, lists every tool call of the agent and its sub-agents, and joins
//! each with what checkrein recorded: the [decision log](crate::decision_log) and the [audit log](checkrein::audit).
//! `checkrein coverage` shows the result, and `checkrein hook` uses it at the end of a turn.
//!
//! - [`formats`]: one table per agent: where its files are, which versions are known, and how its lines are read.
//! - `lines`, `builder`: bounded readers. A session file is untrusted input.
//! - `records`, `join`: the records of checkrein, and their assignment to calls.
//! - [`Report`]: states, reasons and counts.
//!
//! A call is judged only if a record proves it. Anything that is unknown, such as a new version of a format, is
//! [`State::CannotTell`]. Nothing here writes a file, runs a program or follows a symbolic link.

mod builder;
mod call;
pub mod formats;
mod join;
mod lines;
mod places;
mod reasons;
mod records;
mod report;
mod settings;
mod turn;

pub use call::{HookFailure, Outcome, Session, Subagent, ToolCall};
pub use formats::{FORMATS, Format};
pub use places::Places;
pub use reasons::{REASON_CODES, Reason};
pub use records::{Records, RecordsError, Window};
pub use report::{CallReport, Counts, Filter, Report, SessionReport, State};
pub use settings::Setup;
pub use turn::missed_in_turn;

use std::path::Path;

/// Reads session bytes of a format, for tests and fuzzing. Returns the number of calls.
#[doc(hidden)]
pub fn read_bytes(format: &Format, bytes: &[u8]) -> usize {
    let sessions = format.read_bytes(bytes);
    sessions.iter().map(|session| session.calls.len()).sum()
}

/// Reads one session file of an agent. A database has several sessions.
pub fn read_file(format: &'static Format, path: &Path) -> Vec<Session> {
    format.read_file(path, None)
}
