//! The shell reader compared with real shells, with ordinary commands, and with its own limits.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step of a test fails the test")]

#[path = "../common/mod.rs"]
mod common;
mod differential;
mod generated;
mod limits;
mod ordinary;
mod scripts;
mod wrappers;
mod written;
