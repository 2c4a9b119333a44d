//! What only the program `checkrein` needs, beyond the library that agent authors depend on.
//!
//! - [`front`]: the agent adapter. It reads an agent's event, runs the user's hooks and renders the verdict.
//! - [`install`]: writes checkrein into the settings of agents, and takes it out.
//! - [`cases`]: tests for hooks. [`session`]: simulated agent sessions. [`recording`]: recorded events and their replay.
//! - [`lint`]: static checks of hooks and their scripts.
//! - [`catalogue`]: sample payloads. [`schema`]: JSON schemas of everything that is read and printed.
//!
//! The crate has no stable API. It must not contain anything that decides about an event: that is the library's work.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod agent_adapter;
mod event_builder;
pub mod hook_tests;
pub mod install;
pub mod lint;
pub mod recording;
pub mod samples;
pub mod schema;
pub mod simulate;

pub use event_builder::{EventBuilder, EventBuilderError};
