//! Builtins through the engine, with real files and real repositories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

mod common;
mod context;
mod dangerous;
mod docs;
mod doubt;
mod guards;
mod load;
mod log;
mod opt_in;
mod ordinary;
mod paths;
mod protect_self;
mod results;
mod secret_formats;
mod secrets;
mod shell;
