//! The audit log: records every event with hooks and every denied event, and makes later changes of the log detectable.
//!
//! Each entry is one line of JSON with secrets redacted. It has a number (`seq`), the hash of the previous entry (`prev`)
//! and its own hash (`hash`): the SHA-256 of all bytes of the line before `,"hash":`. A small file beside the log, the head,
//! has the last number and hash, so that entries missing at the end are detected too.
//!
//! ```
//! use checkrein::audit::AuditLog;
//! use checkrein::payload::ToolCall;
//! use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let log = AuditLog::new(dir.path().join("audit.jsonl"));
//! let engine = Engine::builder()
//!     .hook(HookSpec::builtin("guard", EventKind::PreToolUse, "block_dangerous_commands"))
//!     .audit(log.clone())
//!     .build();
//! let input: RawJson = r#"{"command": "sudo rm -rf /"}"#.parse()?;
//! engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
//!
//! let found = log.verify(None)?;
//! assert!(found.is_intact() && found.lines == 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! The hashes use no secret key. A user who may write the log and its head can rewrite both completely. Only a number and a
//! hash that are stored elsewhere reveal this; [`AuditLog::verify`] accepts them. Entries are not synchronized to the disk: a
//! power failure can lose the last ones.

mod access;
mod chain_head;
mod dry_run;
mod entry;
mod files;
mod follow;
mod hash_chain;
mod last_entry;
mod log;
mod time;
mod verify;

pub use chain_head::Head;
pub use dry_run::{DryRunExample, DryRunHook, DryRunReport};
pub use entry::{AuditEntry, EntryKind};
pub use files::{LogLine, LogLines};
pub use follow::Follow;
pub use log::{AuditError, AuditLog};
pub use time::{LogTime, LogTimeError};
pub use verify::{Finding, FindingKind, Verification};
