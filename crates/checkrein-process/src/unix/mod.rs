//! Processes on Unix: one group each, and whatever has left the group found again by other marks.

mod active_pids;
mod child;
mod exit_wait;
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
pub(crate) use reader::PipeReader;
#[cfg(target_os = "linux")]
pub(crate) use sandbox::Temporary;
pub(crate) use start::{RunningChild, Writer, start};

/// How long the streams of a process may go unread: if it is gone by then, as most are that are in nobody's way, nobody had
/// to watch them. One that prints more than fits into them waits so long, once.
pub(crate) const UNREAD: Duration = Duration::from_millis(5);

/// Whether texts that need no shell are run without one.
pub(crate) const HAS_DIRECT: bool = true;

/// Waits until nothing is left to finish, or the time is over. Whether it is.
pub(crate) fn reap_dropped(patience: Duration) -> bool {
    #[cfg(target_os = "linux")]
    {
        let begun = Instant::now();
        reaper::wait(patience) && sandbox::wait_for_removal(patience.saturating_sub(begun.elapsed()))
    }
    #[cfg(not(target_os = "linux"))]
    reaper::wait(patience)
}

/// Marks all descriptors above stderr as close-on-exec.
pub(crate) fn close_descriptors_on_exec() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_long = 3;
        const LAST: libc::c_long = u32::MAX as libc::c_long;
        // SAFETY: takes numbers, and sets a flag on descriptors. Older kernels refuse it.
        #[expect(unsafe_code, reason = "rustix does not wrap this system call")]
        let _ = unsafe { libc::syscall(libc::SYS_close_range, FIRST, LAST, libc::CLOSE_RANGE_CLOEXEC) };
    }
}

/// Whether the host may execute a file.
pub(crate) fn may_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

/// The temporary directory of a place's sandbox, if it has one.
#[cfg(target_os = "linux")]
pub(crate) fn temporary(place: &ExecContext) -> Result<Option<Temporary>, SandboxError> {
    place.sandboxed().filter(|sandbox| sandbox.files.is_some()).map(|_| Temporary::new()).transpose()
}

#[cfg(not(target_os = "linux"))]
pub(crate) use crate::sandbox::nowhere::{Temporary, temporary};

/// The file names that a program's name stands for.
pub(crate) fn file_names<'a>(name: &'a OsStr, _: &ExecContext) -> impl Iterator<Item = &'a OsStr> + use<'a> {
    std::iter::once(name)
}
