//! Transfer of stdin, stdout and stderr at the same time. [`supervise`](crate::supervise) drives it.
//!
//! A flood of output must never delay the deadline, and one stream must never starve another.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite as _;

use crate::limits::Limits;
use crate::run_output::CapturedStream;
use crate::stdin::Stdin;
use crate::sys::{PipeReader, Writer};

/// Initial size of the read buffer. Most runs print little. A read that fills the buffer grows it.
const SMALL: usize = 2 * 1024;
const LARGE: usize = 128 * 1024;
const GROWTH: usize = 8;
/// Number of steps before the task yields, so that the deadline is checked.
const STEPS: usize = 32;

/// The streams of one process.
pub(crate) struct Pump<'a> {
    feed: Option<Feed<'a>>,
    stdout: Capture,
    stderr: Capture,
    scratch: Vec<u8>,
}

impl<'a> Pump<'a> {
    pub(crate) fn new(
        writer: Option<Writer>,
        stdin: &'a Stdin,
        stdout: PipeReader,
        stderr: PipeReader,
        limits: &Limits,
    ) -> Self {
        Self {
            feed: writer.map(|writer| Feed { writer, stdin, chunk: 0, offset: 0 }),
            stdout: Capture::new(stdout, limits.stdout_cap),
            stderr: Capture::new(stderr, limits.stderr_cap),
            scratch: vec![0; SMALL],
        }
    }

    /// Transfers bytes until a future is ready. Returns its output.
    pub(crate) async fn during<F: Future>(&mut self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|cx| {
            // The future comes first: it contains the deadline, which a flood of output must not delay.
            if let Poll::Ready(output) = work.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            let _ = self.poll(cx);
            Poll::Pending
        })
        .await
    }

    /// Transfers bytes until a future is ready or both outputs have ended. Returns `None` if the outputs ended first.
    pub(crate) async fn during_output<F: Future>(&mut self, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.poll(cx).map(|()| None),
        })
        .await
    }

    /// Transfers bytes until both outputs have ended.
    pub(crate) async fn drain(&mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..STEPS {
            // One step of each stream in turn, so that none starves another.
            let mut moved = self.stdout.step(cx, &mut self.scratch);
            moved |= self.stderr.step(cx, &mut self.scratch);
            moved |= self.feed_step(cx);
            if self.has_ended() {
                return Poll::Ready(());
            }
            if !moved {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn feed_step(&mut self, cx: &mut Context<'_>) -> bool {
        match self.feed.as_mut().map(|feed| feed.step(cx)) {
            Some(PumpStep::Moved) => true,
            Some(PumpStep::Ended) => {
                // Closes the pipe: the process reads the end of the file.
                self.feed = None;
                false
            }
            Some(PumpStep::Waiting) | None => false,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.stdout.source.is_none() && self.stderr.source.is_none()
    }

    /// Returns the output so far. Later output is read and dropped.
    ///
    /// # Errors
    ///
    /// A read error of a stream. Its partial output must not be treated as complete.
    pub(crate) fn take(&mut self) -> io::Result<(CapturedStream, CapturedStream)> {
        Ok((self.stdout.take()?, self.stderr.take()?))
    }

    /// `true` while stdin is being written to a pipe.
    pub(crate) fn is_feeding(&self) -> bool {
        self.feed.is_some()
    }

    /// The output streams that have not ended.
    pub(crate) fn into_open(self) -> impl Iterator<Item = PipeReader> {
        [self.stdout.source, self.stderr.source].into_iter().flatten()
    }
}

enum PumpStep {
    Moved,
    Waiting,
    Ended,
}

struct Capture {
    source: Option<PipeReader>,
    kept: Vec<u8>,
    total: u64,
    cap: usize,
    /// The error that ended the stream.
    error: Option<io::Error>,
}

impl Capture {
    fn new(source: PipeReader, cap: usize) -> Self {
        Self { source: Some(source), kept: Vec::new(), total: 0, cap, error: None }
    }

    fn step(&mut self, cx: &mut Context<'_>, scratch: &mut Vec<u8>) -> bool {
        let Some(source) = &mut self.source else {
            return false;
        };
        match source.poll_read(cx, scratch) {
            Poll::Pending => false,
            Poll::Ready(Ok(0)) => {
                self.source = None;
                false
            }
            Poll::Ready(Err(error)) => {
                self.source = None;
                self.error = Some(error);
                false
            }
            Poll::Ready(Ok(read)) => {
                let bytes = &scratch[..read];
                self.total += bytes.len() as u64;
                let room = self.cap.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
                if bytes.len() == scratch.len() && scratch.len() < LARGE {
                    scratch.resize(LARGE.min(scratch.len() * GROWTH), 0);
                }
                true
            }
        }
    }

    fn take(&mut self) -> io::Result<CapturedStream> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.cap = 0;
        let bytes = std::mem::take(&mut self.kept);
        Ok(CapturedStream {
            cut: self.total > bytes.len() as u64,
            total: self.total,
            ended: self.source.is_none(),
            bytes,
        })
    }
}

struct Feed<'a> {
    writer: Writer,
    stdin: &'a Stdin,
    chunk: usize,
    offset: usize,
}

impl Feed<'_> {
    fn step(&mut self, cx: &mut Context<'_>) -> PumpStep {
        let chunks = &self.stdin.chunks()[self.chunk..];
        let Some((first, rest)) = chunks.split_first() else {
            return PumpStep::Ended;
        };
        let first = IoSlice::new(&first.as_ref()[self.offset..]);
        let written = if rest.is_empty() {
            Pin::new(&mut self.writer).poll_write(cx, &first)
        } else {
            let rest = rest.iter().map(|chunk| IoSlice::new(chunk.as_ref()));
            let slices: Vec<_> = std::iter::once(first).chain(rest.take(15)).collect();
            Pin::new(&mut self.writer).poll_write_vectored(cx, &slices)
        };
        match written {
            Poll::Pending => PumpStep::Waiting,
            // A process may ignore its stdin, so EPIPE is no error.
            Poll::Ready(Err(_) | Ok(0)) => PumpStep::Ended,
            Poll::Ready(Ok(count)) => {
                self.advance(count);
                PumpStep::Moved
            }
        }
    }

    fn advance(&mut self, mut count: usize) {
        while let Some(chunk) = self.stdin.chunks().get(self.chunk) {
            let left = chunk.as_ref().len() - self.offset;
            if count < left {
                self.offset += count;
                return;
            }
            count -= left;
            self.chunk += 1;
            self.offset = 0;
        }
    }
}

/// Reads a stream to its end and drops the bytes.
pub(crate) async fn discard_output(mut source: PipeReader) {
    let mut scratch = vec![0; SMALL * GROWTH];
    while let Ok(1..) = poll_fn(|cx| source.poll_read(cx, &mut scratch)).await {}
}
