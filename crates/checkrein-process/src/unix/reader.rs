//! Our end of a process's output.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::net::unix::pipe;

/// How much is read at once before anybody asks, and how often: as much as a pipe mostly holds.
#[cfg(target_os = "linux")]
const AHEAD: usize = 4 * 1024;
#[cfg(target_os = "linux")]
const LOOKS_AHEAD: usize = 17;

/// A stream that nobody watches until somebody has to wait for it. Most processes are gone before that, and to be told of
/// each of their streams costs more than to look once.
pub(crate) struct Reader {
    /// What was read before anybody asked, and how much of that is taken.
    ahead: Vec<u8>,
    taken: usize,
    source: Source,
}

enum Source {
    /// Nobody is told when there is something to read.
    Unwatched(OwnedFd),
    Watched(pipe::Receiver),
    /// It is at its end, or could not be watched, and is closed.
    Closed,
}

impl Reader {
    /// A descriptor that does not block.
    pub(super) fn new(end: OwnedFd) -> Self {
        Self { ahead: Vec::new(), taken: 0, source: Source::Unwatched(end) }
    }

    /// Reads what is there, without anybody who asks for it yet. Whether that is all there will be.
    #[cfg(target_os = "linux")]
    pub(super) fn read_ahead(&mut self) -> bool {
        let mut buffer = [0; AHEAD];
        // Who holds the stream may write faster than this reads.
        for _ in 0..LOOKS_AHEAD {
            let Source::Unwatched(end) = &self.source else { break };
            match read(end, &mut buffer) {
                Some(Ok(0)) => self.source = Source::Closed,
                Some(Ok(count)) => self.ahead.extend_from_slice(&buffer[..count]),
                // Whoever asks finds that out too.
                Some(Err(_)) | None => break,
            }
        }
        matches!(self.source, Source::Closed)
    }

    /// Reads what is there; if nothing is, the task is woken when there is.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let ahead = &self.ahead[self.taken..];
        if !ahead.is_empty() {
            let count = ahead.len().min(buffer.len());
            buffer[..count].copy_from_slice(&ahead[..count]);
            self.taken += count;
            if self.taken == self.ahead.len() {
                (self.ahead, self.taken) = (Vec::new(), 0);
            }
            return Poll::Ready(Ok(count));
        }
        if let Source::Unwatched(end) = &self.source {
            if let Some(read) = read(end, buffer) {
                return Poll::Ready(read);
            }
            self.watch()?;
        }
        let Source::Watched(pipe) = &mut self.source else { return Poll::Ready(Ok(0)) };
        let mut buffer = ReadBuf::new(buffer);
        std::pin::Pin::new(pipe).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    fn watch(&mut self) -> io::Result<()> {
        if let Source::Unwatched(end) = std::mem::replace(&mut self.source, Source::Closed) {
            self.source = Source::Watched(pipe::Receiver::from_owned_fd_unchecked(end)?);
        }
        Ok(())
    }
}

/// Reads what is there. None if there is nothing yet.
fn read(end: &OwnedFd, buffer: &mut [u8]) -> Option<io::Result<usize>> {
    loop {
        match rustix::io::read(end, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return None,
            read => return Some(read.map_err(io::Error::from)),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;
    use std::task::Waker;

    use super::*;

    fn taken(reader: &mut Reader, buffer: &mut [u8]) -> usize {
        match reader.poll_read(&mut Context::from_waker(Waker::noop()), buffer) {
            Poll::Ready(Ok(read)) => read,
            Poll::Ready(Err(_)) | Poll::Pending => usize::MAX,
        }
    }

    #[tokio::test]
    async fn what_was_read_ahead_comes_first() {
        let (ours, mut theirs) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut reader = Reader::new(ours.into());
        theirs.write_all(b"before").unwrap();
        assert!(!reader.read_ahead(), "somebody can still write");
        theirs.write_all(b"behind").unwrap();
        let mut buffer = [0; 4];
        let parts = [4, 2, 4, 2, usize::MAX].map(|count| (taken(&mut reader, &mut buffer), count));
        assert!(parts.iter().all(|(read, count)| read == count), "{parts:?}");
    }

    #[test]
    fn what_ends_is_closed_at_once() {
        let (ours, mut theirs) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut reader = Reader::new(ours.into());
        theirs.write_all(&[b'x'; 60_000]).unwrap();
        drop(theirs);
        assert!(reader.read_ahead() && matches!(reader.source, Source::Closed));
        let mut buffer = vec![0; 50_000];
        assert_eq!([(); 3].map(|()| taken(&mut reader, &mut buffer)), [50_000, 10_000, 0]);
    }
}
