//! How a process gets its stdin.

use std::os::fd::OwnedFd;

use crate::stdin::Stdin;

/// Up to here, memory that the process reads like a file is as cheap as a pipe, and nobody has to feed it. Far above, a
/// pipe is faster: the process reads while we write.
#[cfg(target_os = "linux")]
const FILE_MAX: usize = 100 * 1024;

pub(super) enum Source {
    /// Nothing.
    Null,
    /// All of it, ready to be read.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a memfd"))]
    File(OwnedFd),
    /// A pipe, fed while the process runs.
    Pipe,
}

impl Source {
    pub(super) fn new(stdin: &Stdin) -> Self {
        if stdin.is_empty() {
            return Self::Null;
        }
        #[cfg(target_os = "linux")]
        if stdin.len() <= FILE_MAX
            && let Some(file) = linux::in_memory(stdin)
        {
            return Self::File(file);
        }
        Self::Pipe
    }
}

/// Gives a pipe for a large stdin more room, so that writer and reader wake each other less often.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: &OwnedFd, len: usize) {
    const ROOM: usize = 256 * 1024;
    // The system may refuse; the pipe then stays as it is.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, len.clamp(1, ROOM));
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

    /// The bytes in memory, sealed: nobody can change them any more. None where the system does not have that.
    pub(super) fn in_memory(stdin: &Stdin) -> Option<OwnedFd> {
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
        // Since Linux 6.3 the system wants to be told that this is not to be executed, and may insist on it.
        static TELLS: AtomicBool = AtomicBool::new(true);
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        if TELLS.load(Ordering::Relaxed) {
            match memfd_create(c"stdin", flags | MemfdFlags::NOEXEC_SEAL) {
                Err(Errno::INVAL) => TELLS.store(false, Ordering::Relaxed),
                made => return made.ok(),
            }
        }
        memfd_create(c"stdin", flags).ok()
    }
}
