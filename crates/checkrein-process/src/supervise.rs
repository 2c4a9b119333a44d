//! From the start of a process to its reply.

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

/// As good as never, and small enough to be added to any clock.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Runs a process to its end. An error means that its exit status was lost.
pub(crate) async fn run_to_completion(
    started: RunningChild,
    stdin: &Stdin,
    limits: &Limits,
    begun: Instant,
) -> io::Result<RunOutput> {
    let RunningChild { mut child, writer, stdout, stderr } = started;
    let mut pump = Pump::new(writer, stdin, stdout, stderr, limits);
    let until = begun + limits.timeout.min(NEVER);
    let unread = if pump.is_feeding() { Duration::ZERO } else { sys::UNREAD };
    let mut deadline = pin!(time::sleep_until(until.min(begun + unread).into()));

    let mut exited = None;
    if !unread.is_zero() {
        exited = in_time(&mut child, deadline.as_mut()).await;
    }
    if exited.is_none() {
        deadline.as_mut().reset(until.into());
        exited = match pump.during_output(in_time(&mut child, deadline.as_mut())).await {
            Some(exited) => exited,
            // Mostly the streams end because the process does. To sleep and be woken again costs more than to look.
            None if child.exits_now() => Some(Ok(None)),
            None => pump.during(in_time(&mut child, deadline.as_mut())).await,
        };
    }
    let timed_out = exited.is_none();
    let mut leftovers = Vec::new();
    let over = match exited {
        Some(exited) => exited?,
        None => {
            leftovers = pump.during(child.end(limits.term_grace)).await;
            None
        }
    };
    if over.is_some() {
        // Whoever multiplies is not asked to end.
        leftovers = pump.during(child.end(Duration::ZERO)).await;
    }

    // What the process itself has printed is in the pipes by now and is read without waiting. Only for the output of
    // others that hold the streams there is a wait, and it is short.
    let _ = time::timeout(limits.drain_grace.min(NEVER), pump.run_dry()).await;
    let (stdout, stderr) = pump.take()?;

    if !timed_out && over.is_none() {
        leftovers = match limits.leftovers {
            Leftovers::Leave => child.left().await?,
            Leftovers::End if child.has_no_descendants()? => Vec::new(),
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
        limit_exceeded: over,
        stdout,
        stderr,
        duration: begun.elapsed(),
        leftovers,
        ran_without_shell: false,
    })
}

/// Waits for the exit, or for more than is allowed; or none at the deadline.
async fn in_time(child: &mut Child, mut deadline: Pin<&mut Sleep>) -> Option<io::Result<Option<LimitExceeded>>> {
    let mut exited = pin!(child.exited_or_over());
    poll_fn(|cx| match exited.as_mut().poll(cx) {
        Poll::Ready(exited) => Poll::Ready(Some(exited)),
        Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
    })
    .await
}
