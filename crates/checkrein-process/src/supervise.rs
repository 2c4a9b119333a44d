//! Supervision of a started process: transfer of its streams, timeout, limits, leftovers and exit status.
//!
//! [`ResolvedCommand::run`](crate::ResolvedCommand::run) calls it. When it returns, no process of the run is alive, unless
//! [`Leftovers::Leave`] keeps it or the kernel cannot end it.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{self, Sleep};

use crate::limits::{Leftovers, Limits};
use crate::pump::{Pump, discard_output};
use crate::run_output::RunOutput;
use crate::sandbox::LimitExceeded;
use crate::stdin::Stdin;
use crate::sys::{self, Child, RunningChild};

/// Longest timeout: practically infinite, and small enough to be added to any clock.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Runs a process to its end. An error means that its exit status was lost or its output could not be read.
pub(crate) async fn run_to_completion(
    started: RunningChild,
    stdin: &Stdin,
    limits: &Limits,
    begun: Instant,
) -> io::Result<RunOutput> {
    let RunningChild { mut child, writer, stdout, stderr } = started;
    let mut pump = Pump::new(writer, stdin, stdout, stderr, limits);
    let until = begun + limits.timeout.min(NEVER);
    let read_delay = if pump.is_feeding() { Duration::ZERO } else { sys::READ_DELAY };
    let mut deadline = pin!(time::sleep_until(until.min(begun + read_delay).into()));

    let mut exited = None;
    if !read_delay.is_zero() {
        exited = in_time(&mut child, deadline.as_mut()).await;
    }
    if exited.is_none() {
        deadline.as_mut().reset(until.into());
        exited = match pump.during_output(in_time(&mut child, deadline.as_mut())).await {
            Some(exited) => exited,
            // Streams usually end because the process exits. A short poll costs less than a sleep and a wake-up.
            None if child.is_about_to_exit() => Some(Ok(None)),
            None => pump.during(in_time(&mut child, deadline.as_mut())).await,
        };
    }
    let timed_out = exited.is_none();
    let mut leftovers = Vec::new();
    let limit_exceeded = match exited {
        Some(exited) => exited?,
        None => {
            leftovers = pump.during(child.end(limits.term_grace)).await;
            None
        }
    };
    if limit_exceeded.is_some() {
        // No TERM: a fork bomb would use the grace period to multiply.
        leftovers = pump.during(child.end(Duration::ZERO)).await;
    }

    // The output of the process itself is in the pipes by now and is read without a wait. The grace period is for other
    // processes that hold the streams open.
    let _ = time::timeout(limits.drain_grace.min(NEVER), pump.drain()).await;
    let (stdout, stderr) = pump.take()?;

    if !timed_out && limit_exceeded.is_none() {
        leftovers = match limits.leftovers {
            Leftovers::Leave => child.leftovers().await?,
            Leftovers::End if child.reap_and_check_descendants()? => Vec::new(),
            Leftovers::End => pump.during(child.end(limits.term_grace)).await,
        };
    }
    let exit = child.reap()?;
    if limits.leftovers == Leftovers::Leave {
        for open in pump.into_open() {
            tokio::spawn(discard_output(open));
        }
    }

    Ok(RunOutput {
        exit,
        timed_out,
        limit_exceeded,
        stdout,
        stderr,
        duration: begun.elapsed(),
        leftovers,
        ran_without_shell: false,
    })
}

/// Waits for the exit or an exceeded limit. Returns `None` at the deadline.
async fn in_time(child: &mut Child, mut deadline: Pin<&mut Sleep>) -> Option<io::Result<Option<LimitExceeded>>> {
    let mut exited = pin!(child.exited_or_exceeded());
    poll_fn(|cx| match exited.as_mut().poll(cx) {
        Poll::Ready(exited) => Poll::Ready(Some(exited)),
        Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
    })
    .await
}
