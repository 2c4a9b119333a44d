//! Builtins through the engine, with real files and real repositories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may say so")]

mod common;
mod context;
mod dangerous;
mod docs;
mod guards;
mod load;
mod log;
mod paths;
mod results;
mod secrets;
mod shell;
