#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
#![cfg_attr(unix, deny(unsafe_code))]

mod command;
mod error;
mod exec_context;
mod launch;
mod limits;
mod marker;
mod no_shell;
mod pump;
mod resolve;
mod resolved_command;
mod run_output;
mod sandbox;
mod stdin;
mod supervise;

#[cfg(unix)]
#[path = "unix/mod.rs"]
mod sys;
#[cfg(windows)]
#[path = "windows.rs"]
mod sys;

pub use command::{HookCommand, Shell};
pub use error::RunError;
pub use exec_context::ExecContext;
pub use limits::{Leftovers, Limits};
pub use marker::MARKER;
pub use resolve::{ResolveError, ResolvedProgram};
pub use resolved_command::ResolvedCommand;
pub use run_output::{CapturedStream, Exit, Leftover, RunOutput};
pub use sandbox::{Files, LimitExceeded, Sandbox, SandboxError};
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
pub fn reap_dropped(patience: std::time::Duration) -> bool {
    sys::reap_dropped(patience)
}
