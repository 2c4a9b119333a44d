//! Approval of hooks that come with a repository.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;
mod entries;
mod fires;
mod lockfile;
mod origins;
mod race;
mod states;
