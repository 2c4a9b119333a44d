#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod action;
mod cancel;
mod contract;
mod decision;
mod envelope;
mod event;
mod failure;
mod hook;
// The types for hosts are at the root; the tokenizer in it is for the other crates of the workspace.
#[doc(hidden)]
pub mod json;
mod kind;
mod matcher;
mod opinion;
pub mod payload;
pub mod property;
mod record;
mod reply;
mod rules;
pub mod runner;
mod select;
mod settle;
mod shield;
mod source;
mod suggest;
pub mod testing;
mod verdict;

pub use action::Action;
pub use cancel::CancelToken;
pub use contract::{Block, ContextUse, Contract, Target, TimeClass};
pub use decision::{Decision, UnknownDecision};
pub use envelope::Envelope;
pub use event::{DecodeError, DecodeErrorKind, DialectRef, Event};
pub use failure::{Effect, Failure, FailureKind, FailureTable};
pub use hook::{Condition, HookSelector, HookState};
pub use json::{Entries, Entry, Items, JsonError, JsonErrorKind, JsonObject, JsonType, Location, MAX_DEPTH, RawJson};
pub use kind::{CustomKind, EventKind, KindNameError, Payload, UnknownKind};
pub use matcher::{Grammar, MAX_PATTERN, Matcher, MatcherError, MatcherProblem, NameList, Syntax};
pub use opinion::{Opinion, Rewrite, RewriteMode};
pub use record::{HookOutcome, HookRecord, ReasonRecord, Record, SourceRecord, VerdictRecord, WouldRecord};
pub use reply::{Captured, HttpReply, ProcessExit, ProcessReply, Reply};
pub use rules::{Blocks, ChainEnd, Compat, Rules, RunOrder, Settle, SideBySide};
pub use runner::Runner;
pub use select::{EventFilter, HookSet, Plan, PlanEntry, Selected, WhyNot};
pub use settle::{Outcome, Settlement, Step, settle};
pub use shield::{Panic, shielded};
pub use source::{HookInfo, Scope, Source, TrustLevel};
pub use suggest::closest;
pub use verdict::{Reason, Rewritten, Said, Verdict, Warning};
