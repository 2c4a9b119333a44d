//! Processes on Unix: one group each, and whatever has left the group found again by other marks.

mod child;
mod family;
mod leaders;
#[cfg(target_os = "linux")]
mod listed;
#[cfg(target_os = "linux")]
mod proc;
mod reaper;
mod start;
mod stdin;
mod watcher;

use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::{Access, access};

use crate::place::Place;

pub(crate) use child::Child;
pub(crate) use reaper::wait as wait_for_dropped;
pub(crate) use start::{Reader, Started, Writer, start};

/// Whether texts that need no shell are run without one.
pub(crate) const HAS_DIRECT: bool = true;

/// Whether the host may execute a file.
pub(crate) fn may_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

/// The file names that a program's name stands for.
pub(crate) fn file_names<'a>(name: &'a OsStr, _: &Place) -> impl Iterator<Item = &'a OsStr> + use<'a> {
    std::iter::once(name)
}
