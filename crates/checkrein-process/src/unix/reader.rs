//! Read end of an output pipe. [`Pump`](crate::pump::Pump) polls it.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::unix::pipe;

/// The read end of a pipe. A pipe is registered with the runtime only when a read would block: most processes exit before
/// that, and a registration costs more than one read.
pub(crate) enum PipeReader {
    /// Not registered with the runtime.
    Unwatched(OwnedFd),
    /// Registered with the runtime.
    Watched(pipe::Receiver),
    /// The registration failed, and the descriptor is closed.
    Closed,
}

impl PipeReader {
    /// A reader of a nonblocking descriptor.
    pub(super) fn new(end: OwnedFd) -> Self {
        Self::Unwatched(end)
    }

    /// Reads the available bytes. Without any, the task is woken when there are some.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Self::Unwatched(end) = self {
            if let Some(read) = read(end, buffer) {
                return Poll::Ready(read);
            }
            self.watch()?;
        }
        let Self::Watched(pipe) = self else { return Poll::Ready(Ok(0)) };
        let mut buffer = ReadBuf::new(buffer);
        Pin::new(pipe).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    fn watch(&mut self) -> io::Result<()> {
        if let Self::Unwatched(end) = std::mem::replace(self, Self::Closed) {
            *self = Self::Watched(pipe::Receiver::from_owned_fd_unchecked(end)?);
        }
        Ok(())
    }
}

/// Reads the available bytes. `None` if the read would block.
fn read(end: &OwnedFd, buffer: &mut [u8]) -> Option<io::Result<usize>> {
    loop {
        match rustix::io::read(end, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return None,
            read => return Some(read.map_err(io::Error::from)),
        }
    }
}
