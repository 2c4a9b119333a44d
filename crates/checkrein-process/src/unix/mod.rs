//! Processes on Unix. Each run has its own process group. On Linux, processes that have left the group are found through
//! `/proc`. `windows.rs` has the same interface.

mod active_pids;
mod child;
mod exit_wait;
#[cfg(target_os = "linux")]
mod foreign;
mod process_tree;
#[cfg(target_os = "linux")]
mod procfs;
#[cfg(target_os = "linux")]
mod procfs_tree;
mod reader;
mod reaper;
#[cfg(target_os = "linux")]
mod sandbox;
mod spawn;
mod start;
mod stdin;
mod user;

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

use rustix::fs::{Access, access};

use crate::exec_context::ExecContext;
#[cfg(target_os = "linux")]
use crate::sandbox::SandboxError;

pub(crate) use child::Child;
#[cfg(target_os = "linux")]
pub(crate) use foreign::adopt;
pub(crate) use reader::PipeReader;
#[cfg(target_os = "linux")]
pub(crate) use sandbox::Temporary;
pub(crate) use start::{RunningChild, Writer, start};
pub(crate) use user::{home as user_home, name as user_name};

/// Time before the output of a process is read for the first time. Most processes have exited by then, which saves the
/// registration of their pipes. A process that fills a pipe earlier waits once.
pub(crate) const READ_DELAY: Duration = Duration::from_millis(5);

/// `true` if simple shell texts run without a shell on this system.
pub(crate) const HAS_DIRECT: bool = true;

/// Waits for the processes and temporary directories of dropped runs. Returns `false` at the timeout.
pub(crate) fn reap_dropped(timeout: Duration) -> bool {
    #[cfg(target_os = "linux")]
    {
        let begun = Instant::now();
        reaper::wait(timeout) && sandbox::wait_for_removal(timeout.saturating_sub(begun.elapsed()))
    }
    #[cfg(not(target_os = "linux"))]
    reaper::wait(timeout)
}

/// Marks all descriptors above stderr as close-on-exec.
pub(crate) fn close_descriptors_on_exec() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_long = 3;
        const LAST: libc::c_long = u32::MAX as libc::c_long;
        // SAFETY: takes numbers, and sets a flag on descriptors. Older kernels reject it.
        #[expect(unsafe_code, reason = "rustix does not wrap this system call")]
        let _ = unsafe { libc::syscall(libc::SYS_close_range, FIRST, LAST, libc::CLOSE_RANGE_CLOEXEC) };
    }
}

/// Installs a handler without effect for `SIGXFSZ`, unless the signal is ignored.
pub(crate) fn survive_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the structures are on this stack, and all zero is valid for them. The handler does nothing, so it is safe at any
    // time.
    #[expect(unsafe_code, reason = "the program must not end by this signal")]
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let is_known = libc::sigaction(libc::SIGXFSZ, std::ptr::null(), &raw mut action) == 0;
        if is_known && action.sa_sigaction == libc::SIG_DFL {
            action.sa_sigaction = nothing as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Returns `true` if the host may execute a file.
pub(crate) fn may_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

/// Creates the temporary directory of a sandbox that restricts files. `None` without such a sandbox.
#[cfg(target_os = "linux")]
pub(crate) fn temporary(context: &ExecContext) -> Result<Option<Temporary>, SandboxError> {
    match context.sandboxed() {
        Some(sandbox) if sandbox.files.is_some() => Temporary::new().map(Some),
        _ => Ok(None),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use crate::sandbox::unsupported::{Temporary, temporary};

/// File names to search for a program.
pub(crate) fn file_names<'a>(name: &'a OsStr, _: &ExecContext) -> impl Iterator<Item = &'a OsStr> + use<'a> {
    std::iter::once(name)
}
