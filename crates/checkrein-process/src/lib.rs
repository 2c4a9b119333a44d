#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
mod sandbox;
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
pub use sandbox::{Files, Over, Sandbox, SandboxError};
pub use stdin::{Chunk, Stdin};

/// Keeps all descriptors above stderr that are open now from all future children of this process.
///
/// A program was started with descriptors that it does not know, such as locks and pipes of the program that started it. This call
/// marks them as close-on-exec. It is for programs, not for libraries: the mark also holds for children that others start. Linux (5.11
/// and later) only; elsewhere it does nothing.
pub fn close_descriptors_on_exec() {
    sys::close_descriptors_on_exec();
}

/// Waits until everything is gone that runs whose futures were dropped had started, and the temporary directories of
/// sandboxes; or the time is over. Whether all is gone.
///
/// Dropping sends a KILL at once but cannot wait; a thread of this crate looks after what is slow to die, and ends with the
/// host. So a host that is about to leave calls this last. Blocks, but not if there is nothing to wait for.
pub fn wait_for_dropped(patience: std::time::Duration) -> bool {
    sys::wait_for_dropped(patience)
}
