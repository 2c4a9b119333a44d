//! Source of a process's stdin: the null device, a file in memory, or a pipe.

use std::os::fd::OwnedFd;

use crate::stdin::Stdin;

/// Maximum size of stdin in a memory file. Up to here it is as fast as a pipe, and the host writes nothing during the run.
/// For much larger input a pipe is faster: the process reads while the host writes.
#[cfg(target_os = "linux")]
const FILE_MAX: usize = 100 * 1024;

pub(super) enum Source {
    /// The null device.
    Null,
    /// A file in memory with the whole input.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a memfd"))]
    File(OwnedFd),
    /// A pipe that the host writes to during the run.
    Pipe,
}

impl Source {
    pub(super) fn new(stdin: &Stdin) -> Self {
        if stdin.is_empty() {
            return Self::Null;
        }
        #[cfg(target_os = "linux")]
        if stdin.len() <= FILE_MAX
            && let Some(file) = linux::memory_file(stdin)
        {
            return Self::File(file);
        }
        Self::Pipe
    }
}

/// Enlarges the pipe of a large stdin, so that writer and reader wake each other less often.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: &OwnedFd, len: usize) {
    const MAX_PIPE: usize = 256 * 1024;
    // If the system rejects the size, the pipe keeps its own.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, len.clamp(1, MAX_PIPE));
}

#[cfg(not(target_os = "linux"))]
pub(super) fn widen(_: &OwnedFd, _: usize) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::IoSlice;
    use std::os::fd::OwnedFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::{Errno, pwritev};

    use crate::stdin::Stdin;

    /// A sealed file in memory with the input. `None` if the system does not support it.
    pub(super) fn memory_file(stdin: &Stdin) -> Option<OwnedFd> {
        let file = create()?;
        let slices: Vec<_> = stdin.chunks().iter().map(|chunk| IoSlice::new(chunk.as_ref())).collect();
        // Written at an offset, so that the process starts to read at 0 without a seek.
        let written = pwritev(&file, &slices, 0).ok()?;
        if written != stdin.len() {
            return None;
        }
        fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE).ok()?;
        Some(file)
    }

    fn create() -> Option<OwnedFd> {
        // Linux 6.3 and later can require this flag for files that are not executed. Older kernels reject it.
        static HAS_NOEXEC_SEAL: AtomicBool = AtomicBool::new(true);
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        if HAS_NOEXEC_SEAL.load(Ordering::Relaxed) {
            match memfd_create(c"stdin", flags | MemfdFlags::NOEXEC_SEAL) {
                Err(Errno::INVAL) => HAS_NOEXEC_SEAL.store(false, Ordering::Relaxed),
                made => return made.ok(),
            }
        }
        memfd_create(c"stdin", flags).ok()
    }
}
