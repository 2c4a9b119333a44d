//! Recordings: what passed through, kept to be fired again.
//!
//! While the [`RecordingControl`] is on, [`AgentAdapter`](crate::front::Front) appends every event that it answers to a file: one line of
//! JSON each, with what came of it. Secrets are taken out before anything is written. [`Replay`] fires the events of such a
//! file at the hooks as they are now, and says where the verdicts differ.
//!
//! ```
//! use checkrein::dialects::agents::{claude, native};
//! use checkrein_tools::front::Front;
//! use checkrein_tools::recording::{self, Replay, Switch};
//! use checkrein::{Decision, Sources};
//! # let dir = tempfile::tempdir()?;
//! # let hooks = dir.path().join("hooks.yaml");
//!
//! let switch = Switch::in_directory(dir.path());
//! let file = dir.path().join("week.jsonl");
//! switch.start(&file, true)?;
//!
//! std::fs::write(&hooks, "hooks: []")?;
//! let sources = Sources::of_files(&native::DIALECT, [&hooks]);
//! let sent = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
//! Front::of(&claude::DIALECT).sources(sources.clone()).recording(switch).answer(sent.as_bytes());
//!
//! // A new rule: what would it have done?
//! std::fs::write(&hooks, "hooks: [{id: guard, event: PreToolUse, command: 'echo no >&2; exit 2'}]")?;
//! let replay = Replay::new(&native::DIALECT, dir.path(), sources.load());
//! let runtime = tokio::runtime::Runtime::new()?;
//! for entry in recording::read(&file)? {
//!     let replayed = runtime.block_on(replay.fire(&entry?));
//!     # #[cfg(unix)]
//!     assert_eq!((replayed.then, replayed.now), (Decision::NoOpinion, Decision::Deny));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod entry;
mod read;
mod replay;
mod report;
mod switch;

pub use compare::Difference;
pub(crate) use entry::now;
pub use entry::{Entry, RecordedEvent};
pub use read::{BadLine, Lines, read};
pub use replay::Replay;
pub use report::{HookCount, ReplayReport, Replayed, Transition};
pub use switch::{Recording, RecordingControl, Status, SwitchError};
