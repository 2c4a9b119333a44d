//! Hook files in temporary directories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

#[cfg(unix)]
mod agents;
mod common;
mod conditions;
mod corpus;
mod dry_run;
mod includes;
mod order;
#[cfg(unix)]
mod reload;
mod scopes;
mod settings;
#[cfg(unix)]
#[path = "../common/mod.rs"]
mod shared;
#[cfg(unix)]
mod unreadable;
mod variables;
#[cfg(all(unix, feature = "watch"))]
mod watch;
