#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod action;
mod cancel;
mod contract;
mod decision;
mod did_you_mean;
mod envelope;
mod event;
mod failure;
mod hook;
// Types for hosts are re-exported at the crate root. The tokenizer is for the other crates of the workspace.
#[doc(hidden)]
pub mod json;
mod kind;
mod matcher;
mod opinion;
mod panic;
pub mod payload;
pub mod property;
mod record;
mod reply;
mod rules;
pub mod runner;
mod select;
mod settle;
mod source;
pub mod testing;
mod told;
mod verdict;

pub use action::Action;
pub use cancel::CancelToken;
pub use contract::{BlockEffect, ContextUse, Contract, Target, TimeClass};
pub use decision::{Decision, UnknownDecision};
pub use did_you_mean::closest_match;
pub use envelope::Envelope;
pub use event::{DecodeError, DecodeErrorKind, DialectRef, Event};
pub use failure::{Failure, FailureKind, FailurePolicy, FailureTable};
pub use hook::{Condition, HookSelector, HookState};
pub use json::{Entries, Entry, Items, JsonError, JsonErrorKind, JsonObject, JsonType, Location, MAX_DEPTH, RawJson};
pub use kind::{CustomKind, EventKind, KindNameError, Payload, UnknownKind};
pub use matcher::{Grammar, MAX_PATTERN, Matcher, MatcherError, MatcherProblem, NameList, Syntax};
pub use opinion::{Opinion, Rewrite, RewriteMode, RewriteTexts};
pub use panic::{Panic, catch_panic};
pub use record::{
    ApprovalRecord, DryRunRecord, HookOutcome, HookRecord, ReasonRecord, Record, SourceRecord, VerdictRecord,
};
pub use reply::{Captured, HttpReply, ProcessExit, ProcessReply, Reply};
pub use rules::{BlockScope, ChainEnd, Compat, ConcurrentRewrites, DecisionRule, Rules, RunOrder};
pub use runner::Runner;
pub use select::{EventFilter, HookSet, Plan, PlanEntry, Selected, SkipReason};
pub use settle::{ChainStep, HookResult, Settlement, settle};
pub use source::{HookInfo, Scope, Source, TrustLevel};
pub use told::{Told, ToldRecord};
pub use verdict::{HookMessage, Reason, Rewritten, Verdict, Warning};
