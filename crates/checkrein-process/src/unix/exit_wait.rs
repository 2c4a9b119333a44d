//! Waiting for the exit of a process without taking its exit status.
//!
//! The status is left where it is until all is done: as long as it waits there, the system gives the process id, and
//! with it the group's, to nobody else. So a signal to the group can't hit a stranger.

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
    /// A descriptor that can be read when the process has exited.
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>, Pid),
    /// A thread that waits, where there is no such descriptor.
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

    /// Waits for the exit. May be dropped and called again.
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

/// A descriptor that the runtime watches.
#[cfg(target_os = "linux")]
fn readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by what it is given to, so it stays open and the same until that is dropped.
    #[expect(unsafe_code, reason = "the safe way to register a descriptor is deprecated")]
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    watched.map_err(|failed| failed.into_parts().1)
}

/// Whether a child has exited. Leaves its status.
pub(super) fn has_exited(pid: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid_retry(pid, options)?.is_some())
}

/// Takes a child's exit status, if it has exited.
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
    async fn a_thread_does_the_same() {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut watcher = ExitWait::thread(pid);
        assert!(!has_exited(pid).unwrap());
        drop(child.stdin.take());
        watcher.exited().await.unwrap();
        watcher.exited().await.unwrap();
        assert!(has_exited(pid).unwrap());
        assert_eq!(take_exit(pid).unwrap(), Some(Exit::Exited(0)));
        assert!(child.wait().is_err(), "the status is gone");
    }
}
