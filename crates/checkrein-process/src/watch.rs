//! From the start of a process to its reply.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{self, Sleep};

use crate::launch::StartError;
use crate::limits::{Leftovers, Limits};
use crate::pump::{Pump, swallow};
use crate::reply::Reply;
use crate::sandbox::Over;
use crate::stdin::Stdin;
use crate::sys::{self, Child, Started};

/// As good as never, and small enough to be added to any clock.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The process was never its program.
    NotStarted(StartError),
    /// What became of it is not known.
    Lost(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

pub(crate) async fn to_the_end(
    started: Started,
    stdin: &Stdin,
    limits: &Limits,
    begun: Instant,
) -> Result<Reply, Ended> {
    let Started { mut child, writer, stdout, stderr } = started;
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
        Some(Ok(over)) => over,
        // Something else in the host has taken the status. Whether there was a program is known all the same.
        Some(Err(lost)) => return Err(child.never_began().map_or(Ended::Lost(lost), Ended::NotStarted)),
        None => {
            leftovers = pump.during(child.end(limits.term)).await;
            None
        }
    };
    if over.is_some() {
        // Whoever multiplies is not asked to end.
        leftovers = pump.during(child.end(Duration::ZERO)).await;
    }
    if let Some(failed) = child.never_began() {
        // Its status says nothing, so it does not matter who takes it.
        let _ = child.reap();
        return Err(Ended::NotStarted(failed));
    }

    // What the process itself has printed is in the pipes by now and is read without waiting. Only for the output of
    // others that hold the streams there is a wait, and it is short.
    let _ = time::timeout(limits.drain.min(NEVER), pump.run_dry()).await;
    let (stdout, stderr) = pump.take()?;

    if !timed_out && over.is_none() {
        leftovers = match limits.leftovers {
            Leftovers::Leave => child.left().await?,
            Leftovers::End if child.is_alone()? => Vec::new(),
            Leftovers::End => pump.during(child.end(limits.term)).await,
        };
    }
    let exit = child.reap()?;
    if limits.leftovers == Leftovers::Leave {
        for open in pump.into_open() {
            tokio::spawn(swallow(open));
        }
    }

    Ok(Reply { exit, timed_out, over, stdout, stderr, duration: begun.elapsed(), leftovers, direct: false })
}

/// Waits for the exit, or for more than is allowed; or none at the deadline.
async fn in_time(child: &mut Child, mut deadline: Pin<&mut Sleep>) -> Option<io::Result<Option<Over>>> {
    let mut exited = pin!(child.exited_or_over());
    poll_fn(|cx| match exited.as_mut().poll(cx) {
        Poll::Ready(exited) => Poll::Ready(Some(exited)),
        Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
    })
    .await
}
