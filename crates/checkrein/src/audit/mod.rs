//! The audit log: every fire that had hooks, and every refusal, in a file of which no part can be changed unnoticed.
//!
//! One line of JSON each, without secrets. Each line has a number (`seq`), the hash of the line before it (`prev`) and a hash
//! of its own (`hash`): the SHA-256 of all bytes of the line in front of `,"hash":`. A small file beside the log, the head,
//! has the last number and hash, so that lines missing at the end are noticed too.
//!
//! ```
//! use checkrein::audit::AuditLog;
//! use checkrein::payload::ToolCall;
//! use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let log = AuditLog::at(dir.path().join("audit.jsonl"));
//! let engine = Engine::builder()
//!     .hook(HookSpec::builtin("guard", EventKind::PreToolUse, "block_dangerous_commands"))
//!     .audit(log.clone())
//!     .build();
//! let input: RawJson = r#"{"command": "sudo rm -rf /"}"#.parse()?;
//! engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
//!
//! let found = log.verify(None)?;
//! assert!(found.is_fine() && found.lines == 1);
//! # Ok(())
//! # }
//! ```
//!
//! # What it does not do
//!
//! The hashes have no secret. Who may write the log and its head can write both anew, from the first line to the last; only a
//! number and a hash that were kept elsewhere show that ([`AuditLog::verify`] takes them). Lines are handed to the system, not
//! forced onto the disk: a power failure can take the last ones.

mod chain_head;
mod dry_run;
mod entry;
mod files;
mod follow;
mod hash_chain;
mod last_entry;
mod log;
mod verify;

pub use chain_head::Head;
pub use dry_run::{DryRunExample, DryRunHook, DryRunReport};
pub use entry::{AuditEntry, EntryKind};
pub use files::{LogLine, LogLines};
pub use follow::Follow;
pub use log::{AuditError, AuditLog};
pub use verify::{Finding, FindingKind, Verification};
