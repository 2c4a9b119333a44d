//! Wait for the exit of a process without reaping it.
//!
//! The process is reaped only at the end of the run. Until then the kernel does not reuse its id or the id of its group,
//! so a signal to the group cannot reach an unrelated process.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::task::JoinHandle;

use super::active_pids;
use crate::run_output::Exit;

pub(super) enum ExitWait {
    /// A pidfd, which is readable after the exit.
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>, Pid),
    /// A blocking thread, for systems without pidfd.
    Thread(JoinHandle<io::Result<()>>),
    /// The process has exited.
    Done,
}

impl ExitWait {
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) {
            return Ok(Self::Descriptor(readable(descriptor)?, pid));
        }
        Ok(Self::thread(pid))
    }

    fn thread(pid: Pid) -> Self {
        Self::Thread(tokio::task::spawn_blocking(move || {
            waitid_retry(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map(drop)
        }))
    }

    /// Waits for the exit. Cancel-safe.
    pub(super) async fn exited(&mut self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor, pid) => loop {
                let mut ready = descriptor.readable().await?;
                if has_exited(*pid)? {
                    break;
                }
                ready.clear_ready();
            },
            Self::Thread(thread) => thread.await.map_err(io::Error::other)??,
            Self::Done => {}
        }
        *self = Self::Done;
        Ok(())
    }
}

/// Registers a descriptor with the runtime.
#[cfg(target_os = "linux")]
fn readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the `AsyncFd` owns the descriptor, which stays open and the same until the `AsyncFd` is dropped.
    #[expect(unsafe_code, reason = "the safe way to register a descriptor is deprecated")]
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    registered.map_err(|failed| failed.into_parts().1)
}

/// Returns `true` if a child has exited. Does not reap it.
pub(super) fn has_exited(pid: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid_retry(pid, options)?.is_some())
}

/// Reaps a child. Returns `None` if it has not exited.
pub(super) fn take_exit(pid: Pid) -> io::Result<Option<Exit>> {
    active_pids::remove(pid);
    let exit = waitid_retry(pid, WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    if matches!(exit, Ok(None)) {
        active_pids::add(pid);
    }
    exit
}

fn waitid_retry(pid: Pid, options: WaitIdOptions) -> io::Result<Option<Exit>> {
    loop {
        return match waitid(WaitId::Pid(pid), options) {
            Err(Errno::INTR) => continue,
            Err(error) => Err(error.into()),
            Ok(None) => Ok(None),
            Ok(Some(status)) => Ok(Some(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Exit::Exited(code),
                (None, signal) => Exit::Signalled(signal.unwrap_or_default()),
            })),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    async fn thread_waits_without_reaping() {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut exit_wait = ExitWait::thread(pid);
        assert!(!has_exited(pid).unwrap());
        drop(child.stdin.take());
        exit_wait.exited().await.unwrap();
        exit_wait.exited().await.unwrap();
        assert!(has_exited(pid).unwrap());
        assert_eq!(take_exit(pid).unwrap(), Some(Exit::Exited(0)));
        assert!(child.wait().is_err(), "the status is gone");
    }
}
