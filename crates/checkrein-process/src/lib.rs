#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
#![cfg_attr(unix, deny(unsafe_code))]

mod command;
mod error;
mod exec_context;
#[cfg(target_os = "linux")]
mod handover;
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
#[cfg(target_os = "linux")]
pub use handover::{ExitReport, Handover, new_marker};
pub use limits::{Leftovers, Limits};
pub use marker::MARKER;
pub use resolve::{ResolveError, ResolvedProgram};
pub use resolved_command::{DirectStart, ResolvedCommand};
pub use run_output::{CapturedStream, Exit, Leftover, RunOutput};
pub use sandbox::{Files, LimitExceeded, Sandbox, SandboxError};
pub use stdin::{Chunk, Stdin};

/// Marks all open file descriptors above stderr as close-on-exec, so that children do not inherit them.
///
/// A program may have inherited descriptors from its parent, such as locks and pipes. Only programs should call this, not
/// libraries: the flag also affects children that other code starts. Linux (5.11 and later) only; elsewhere it does nothing.
pub fn close_descriptors_on_exec() {
    sys::close_descriptors_on_exec();
}

/// Turns a write beyond the file size limit of this process into an error. By default, the signal `SIGXFSZ` ends the process.
///
/// Children get the default action, because it is a handler that is installed and not an ignored signal. Only programs should
/// call this, not libraries. Does nothing on Windows.
pub fn survive_file_size_limit() {
    sys::survive_file_size_limit();
}

/// Home directory of the user that this process belongs to, from the user database of the system.
///
/// No environment variable changes it. `None`: the user has no entry there, or this is not Unix.
pub fn user_home() -> Option<std::path::PathBuf> {
    sys::user_home()
}

/// Name of the user that this process belongs to, from the user database of the system.
///
/// No environment variable changes it. `None`: the user has no entry there, or this is not Unix.
pub fn user_name() -> Option<std::ffi::OsString> {
    sys::user_name()
}

/// Waits until everything is gone that runs whose futures were dropped had started, and the temporary directories of
/// sandboxes; or the time is over. Whether all is gone.
///
/// Dropping a run sends KILL but cannot wait. A thread of this crate reaps the processes, and that thread ends with the
/// host. A host should therefore call this before it exits. Blocks only if something is left.
pub fn reap_dropped(timeout: std::time::Duration) -> bool {
    sys::reap_dropped(timeout)
}
