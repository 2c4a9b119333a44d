//! Our end of a process's output.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::unix::pipe;

/// A stream that nobody watches until somebody has to wait for it. Most processes are gone before that, and to be told of
/// each of their streams costs more than to look once.
pub(crate) enum Reader {
    /// Nobody is told when there is something to read.
    Unwatched(OwnedFd),
    Watched(pipe::Receiver),
    /// It could not be watched, and is closed.
    Lost,
}

impl Reader {
    /// A descriptor that does not block.
    pub(super) fn new(end: OwnedFd) -> Self {
        Self::Unwatched(end)
    }

    /// Reads what is there; if nothing is, the task is woken when there is.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Self::Unwatched(end) = self {
            loop {
                match rustix::io::read(&*end, &mut *buffer) {
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    read => return Poll::Ready(read.map_err(io::Error::from)),
                }
            }
            self.watch()?;
        }
        let Self::Watched(pipe) = self else { return Poll::Ready(Ok(0)) };
        let mut buffer = ReadBuf::new(buffer);
        std::pin::Pin::new(pipe).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    fn watch(&mut self) -> io::Result<()> {
        if let Self::Unwatched(end) = std::mem::replace(self, Self::Lost) {
            *self = Self::Watched(pipe::Receiver::from_owned_fd_unchecked(end)?);
        }
        Ok(())
    }
}
