//! Managed files: permissions, restrictions, and attempts to bypass them.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

#[path = "../sources/common.rs"]
#[allow(dead_code, reason = "each test uses its own part of this")]
mod common;

mod bypass;
mod own_files;
mod ownership;
mod restrictions;
mod rewrites;
