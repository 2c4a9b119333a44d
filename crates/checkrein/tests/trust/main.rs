//! Approval of hooks that come with a repository.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

mod common;
mod entries;
mod fires;
mod lockfile;
mod origins;
mod race;
mod states;
