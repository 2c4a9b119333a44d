//! Lifecycle hooks for AI agents: what agent authors depend on.
//!
//! Everything of [`checkrein_core`] is here under this crate's name: events, matchers, opinions, verdicts, and the
//! [`Runner`] for hooks that are callbacks in the process. [`testing`] helps to test an agent that uses them.
//!
//! ```
//! use checkrein::payload::Prompt;
//! use checkrein::{Event, EventKind, Opinion, Runner};
//!
//! let runner = Runner::new();
//! runner.on(EventKind::PromptSubmit, "house-rules", |_| Opinion::context("answer in British English"));
//!
//! let verdict = runner.fire(&Event::prompt_submit(Prompt::new("what is the colour of the sky?")));
//! assert_eq!(verdict.context()[0].text, "answer in British English");
//! ```

#![forbid(unsafe_code)]

pub use checkrein_core::*;
pub use checkrein_dialects as dialects;

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
