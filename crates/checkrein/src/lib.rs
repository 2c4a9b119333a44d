//! Lifecycle hooks for AI agents: the library for agent authors.
//!
//! An agent builds an [`Engine`], fires an [`Event`] before and after each action, and follows the [`Action`] of the
//! [`Verdict`]:
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
//! The engine runs hooks of every kind: callbacks, processes, HTTP endpoints, functions of a [`Registry`], and handlers of
//! the host. Hooks come from code and from files ([`Sources`]). A [`Runner`] runs callbacks only, without I/O.
//! [`testing`] helps to test an agent.
//!
//! The crate root has the names that an agent author needs first. The rest is in modules; [`core`] has the whole model.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `http` | yes | hooks that are HTTP endpoints |
//! | `toml` | yes | hook files in TOML |
//! | `watch` | yes | `Engine::watch`: reload when hook files change |
//! | `yaml` | yes | hook files in YAML |
//! | `audit` | no | `audit`: a tamper-evident log of decisions |
//! | `lockfile` | no | signed lockfiles as approval of project hooks |
//! | `schema` | no | JSON schemas of records and audit lines |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod append_file;
pub mod approver;
#[cfg(feature = "audit")]
pub mod audit;
pub mod builtins;
pub mod engine;
#[doc(hidden)]
pub mod facts;
pub mod handler;
mod hash;
pub mod hook_files;
#[doc(hidden)]
pub mod internal;
pub mod observer;
pub mod policy;
mod private_file;
mod real_path;
mod registry;
mod regular_file;
pub mod session_store;
mod state_dir;
mod sync;
pub mod trust;
mod wildcard;

// Names that an agent author needs first. `tests/root_names.rs` limits their number.
pub use checkrein_core::{
    Action, CancelToken, Decision, Envelope, Event, EventKind, Failure, FailureKind, FailurePolicy, JsonError, Matcher,
    Opinion, RawJson, Record, Rewrite, Rules, Runner, Scope, Verdict,
};
pub use checkrein_dialects::HookSpec;
pub use engine::{Engine, LoadError};
pub use handler::Handler;
pub use hook_files::Sources;
pub use observer::Observer;
pub use registry::Registry;
pub use trust::Trust;

pub use checkrein_core as core;
pub use checkrein_core::{payload, runner, testing};
pub use checkrein_dialects as dialects;
pub use checkrein_document as document;

/// Events, their kinds, and the contract of each kind. [`payload`] has their data.
pub mod event {
    pub use checkrein_core::{
        BlockEffect, ContextUse, Contract, CustomKind, DecodeError, DecodeErrorKind, Envelope, Event, EventKind,
        KindNameError, Payload, Target, TimeClass, UnknownKind,
    };
}

/// Types that define a hook: its events, matcher, condition, handler and sandbox.
pub mod hook {
    pub use checkrein_core::{
        Condition, EventFilter, Grammar, HookInfo, HookSelector, HookSet, HookState, Matcher, MatcherError,
        MatcherProblem, NameList, Plan, PlanEntry, Scope, Selected, SkipReason, Source, Syntax, TrustLevel,
    };
    pub use checkrein_dialects::{
        BuiltinSpec, Callback, CallbackFuture, CommandError, CommandLine, CommandSpec, FileAccess, HandlerKind,
        HandlerSpec, HookSpec, HttpSpec, InputPattern, PermissionRule, SandboxSpec,
    };
}

/// JSON values that keep their original text.
pub mod json {
    pub use checkrein_core::{
        Entries, Entry, Items, JsonError, JsonErrorKind, JsonObject, JsonType, Location, MAX_DEPTH, RawJson,
    };
}

/// Records: the serializable log of one event.
pub mod record {
    pub use checkrein_core::{
        DryRunRecord, HookOutcome, HookRecord, ReasonRecord, Record, SourceRecord, Told, ToldRecord, VerdictRecord,
    };
}

/// Rules that combine opinions and failures into a verdict.
pub mod rules {
    pub use checkrein_core::{
        BlockScope, ChainEnd, ChainStep, Compat, ConcurrentRewrites, DecisionRule, FailurePolicy, FailureTable,
        HookResult, Rules, RunOrder, Settlement, settle,
    };
}

/// Verdicts and their parts.
pub mod verdict {
    pub use checkrein_core::{Action, Decision, HookMessage, Reason, Rewritten, UnknownDecision, Verdict, Warning};
}

/// Tests of the examples in documents.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[cfg(unix)]
    #[doc = include_str!("../../../docs/embedding.md")]
    struct Embedding;
    #[doc = include_str!("../../../docs/guides/embed-in-an-agent.md")]
    struct EmbeddingGuide;
    #[doc = include_str!("../../../docs/trust.md")]
    struct Trust;
    #[doc = include_str!("../../../docs/guides/migrate/claw.md")]
    struct MigrateClaw;
    #[doc = include_str!("../../../docs/guides/migrate/docker-agent.md")]
    struct MigrateDockerAgent;
    #[doc = include_str!("../../../docs/guides/migrate/evva.md")]
    struct MigrateEvva;
    #[doc = include_str!("../../../docs/guides/migrate/testagent.md")]
    struct MigrateTestagent;
    #[doc = include_str!("../../../docs/guides/migrate/ub.md")]
    struct MigrateUb;
}
