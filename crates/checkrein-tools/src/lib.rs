//! Parts that only the program `checkrein` needs, beyond the library that agent authors depend on.
//!
//! - [`agent_adapter`]: reads an agent's event, runs the user's hooks and renders the verdict.
//! - [`approvals`]: questions of hooks that wait for the user's answer, under agents that cannot ask.
//! - [`install`]: adds checkrein to the settings of agents, and removes it.
//! - [`hook_tests`]: tests for hooks. [`simulate`]: simulated agent sessions. [`recording`]: recorded events and their replay.
//! - [`decision_log`]: the short log of all judged calls. [`coverage`]: compares it with the session files of agents.
//! - [`convert`]: translates hooks to the file of another agent.
//! - [`lint`]: static checks of hooks and their scripts.
//! - [`own_program`]: the running program, for hooks that call it.
//! - [`self_test`]: calls that checkrein must deny. [`doctor`]: checks of the whole setup.
//! - [`samples`]: sample payloads. [`visible`]: foreign text as visible characters. [`schema`]: JSON schemas of all input files and JSON outputs.
//!
//! The crate has no stable API. It must never decide about an event: only the library does.

// The schema of hook files is one large `json!`.
#![recursion_limit = "256"]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod agent_adapter;
mod agent_call;
pub mod approvals;
pub mod convert;
pub mod coverage;
pub mod decision_log;
pub mod doctor;
mod event_builder;
pub mod hook_tests;
pub mod install;
pub mod lint;
pub mod own_program;
pub mod recording;
pub mod rule_tests;
pub mod samples;
pub mod schema;
pub mod self_test;
pub mod simulate;
pub mod visible;

pub use agent_call::{AgentCall, AgentCallError};
pub use event_builder::{EventBuilder, EventBuilderError};
