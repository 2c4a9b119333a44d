//! Recordings of events, and their replay. The commands `record` and `replay` use it.
//!
//! While recording is on ([`RecordingControl`]), [`AgentAdapter`](crate::agent_adapter::AgentAdapter) appends each answered
//! event and its record to a file, as one line of JSON. Secrets are redacted first. [`Replay`] fires the events of such a file
//! at the current hooks and reports different verdicts. It must never run a hook in a directory outside of the project.
//!
//! ```
//! use checkrein::dialects::agents::{claude, native};
//! use checkrein_tools::agent_adapter::AgentAdapter;
//! use checkrein_tools::recording::{self, Replay, RecordingControl};
//! use checkrein::{Decision, Sources};
//! # let dir = tempfile::tempdir()?;
//! # let hooks = dir.path().join("hooks.yaml");
//!
//! let control = RecordingControl::in_directory(dir.path());
//! let file = dir.path().join("week.jsonl");
//! control.start(&file, true)?;
//!
//! std::fs::write(&hooks, "hooks: []")?;
//! let sources = Sources::of_files(&native::DIALECT, [&hooks]);
//! let sent = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
//! AgentAdapter::new(&claude::DIALECT).sources(sources.clone()).recording(control).answer(sent.as_bytes());
//!
//! // Replays the recording with a new hook.
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
mod rules;
mod session;
mod switch;

pub use compare::Difference;
pub(crate) use entry::now;
pub use entry::{Entry, RecordedEvent};
pub use read::{BadLine, Lines, read};
pub use replay::Replay;
pub use report::{HookCount, ReplayReport, Replayed, Transition};
pub use rules::RuleReplay;
pub use switch::{Recording, RecordingControl, Status, SwitchError};
