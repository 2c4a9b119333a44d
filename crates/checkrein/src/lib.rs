//! Lifecycle hooks for AI agents: what agent authors depend on.
//!
//! An agent builds an [`Engine`], fires an [`Event`] before and after what it does, and follows the
//! [`Action`] of the [`Verdict`]:
//!
//! ```
//! use checkrein::payload::ToolCall;
//! use checkrein::{Action, Engine, Event, EventKind, Opinion, RawJson};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let engine = Engine::builder()
//!     .on(EventKind::PreToolUse, "read-only", |fire| match fire.event.tool_name() {
//!         Some("Write" | "Edit") => Opinion::deny("this agent only reads"),
//!         _ => Opinion::none(),
//!     })
//!     .build();
//!
//! let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Write", RawJson::default()))).await;
//! assert_eq!(verdict.action(), Action::Refuse { reason: "this agent only reads" });
//! # }
//! ```
//!
//! The engine runs hooks of every kind: callbacks, processes, HTTP endpoints, functions of a [`Registry`], and whatever
//! a host adds; from code and from files ([`Sources`]). A [`Runner`] is the same without I/O, for callbacks alone.
//! [`testing`] helps to test an agent that uses them.

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
pub use handler::{
    Builtin, BuiltinCall, BuiltinDoc, Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture, HandlerProblem,
};
pub use observer::{HookLines, HookRun, Observer};
pub use registry::{DialectNameError, RegisterError, Registry};
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
