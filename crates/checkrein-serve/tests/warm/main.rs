//! Warm interpreters: a hook gives the same result from a waiting interpreter and from a new one.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a failed test reports its cause by panicking"
)]

mod common;
mod differential;
mod lifecycle;
