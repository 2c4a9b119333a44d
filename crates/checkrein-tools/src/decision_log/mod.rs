//! The decision log: one short line for each call that `checkrein hook` judged, also if no hook matched.
//!
//! `checkrein coverage` compares it with the session files of agents, and `checkrein log` shows it. It is on by default, and
//! `log: false` in a file of the user or the administrator turns it off. The [audit log](checkrein::audit) is the full,
//! tamper-evident log.
//!
//! A line has ids, times, the verdict and a digest of the input. It never has the input itself, except for the start of a command
//! or path with its secrets redacted. The log has at most two files: a full one is renamed, and replaces the one before it. A failed
//! write must never change an answer.

mod digest;
mod entry;
mod read;
mod time;
mod write;

pub use digest::{digest, gist};
pub use entry::{DecisionEntry, EntryKind};
pub use read::{Decisions, Follow};
pub use time::local_time;
pub use write::DecisionLog;

pub(crate) use entry::{Answered, AnsweredBy, bounded_id};
