//! Hooks from files: real ones, in temporary directories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may say so")]

mod common;
mod order;
#[cfg(unix)]
mod unreadable;
