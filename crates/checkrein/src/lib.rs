//! Lifecycle hooks for AI agents: what agent authors depend on.
//!
//! Everything of [`checkrein_core`] is here under this crate's name: events, matchers, opinions, verdicts, and the
//! [`Runner`] for hooks that are callbacks in the process. The [`Engine`] runs hooks of every kind: processes, HTTP
//! endpoints (with the feature `http`, which is on by default), functions of a [`Registry`], and whatever a host adds. [`testing`] helps to test an agent that uses them.
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

#[cfg(feature = "audit")]
pub mod audit;
pub mod builtins;
pub mod engine;
mod handler;
mod hash;
#[doc(hidden)]
pub mod internal;
mod line_file;
mod observer;
mod private_file;
mod real_path;
mod registry;
pub mod session_store;
pub mod sources;
mod state;
mod sync;
pub mod trust;
mod wildcard;

pub use checkrein_core::*;
pub use checkrein_dialects as dialects;
pub use checkrein_dialects::{
    BuiltinSpec, CommandLine, CommandSpec, FileAccess, HandlerSpec, HookSpec, HttpSpec, SandboxSpec,
};
pub use checkrein_document as document;
pub use engine::{Engine, Reload};
#[cfg(feature = "http")]
pub use handler::{BadHttpSetting, HttpFactory};
pub use handler::{Builtin, BuiltinCall, BuiltinDoc, Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};
pub use observer::{HookLines, HookRun, Observer};
pub use registry::{EmptyName, Registry};
pub use sources::Sources;
pub use trust::Trust;

/// Examples in documents are tests too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[cfg(unix)]
    #[doc = include_str!("../../../docs/embedding.md")]
    struct Embedding;
    #[doc = include_str!("../../../docs/trust.md")]
    struct Trust;
}
