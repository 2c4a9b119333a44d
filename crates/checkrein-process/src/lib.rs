#![doc = include_str!("../docs/crate.md")]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
#![cfg_attr(unix, deny(unsafe_code))]

mod direct;
mod error;
mod launch;
mod limits;
mod marker;
mod place;
mod prepared;
mod program;
mod pump;
mod reply;
mod resolve;
mod stdin;
mod watch;

#[cfg(unix)]
#[path = "unix/mod.rs"]
mod sys;
#[cfg(windows)]
#[path = "windows.rs"]
mod sys;

pub use error::RunError;
pub use limits::{Leftovers, Limits};
pub use marker::MARKER;
pub use place::Place;
pub use prepared::Prepared;
pub use program::{Program, Shell};
pub use reply::{Exit, Leftover, Output, Reply};
pub use resolve::{ResolveError, ResolvedProgram};
pub use stdin::{Chunk, Stdin};
