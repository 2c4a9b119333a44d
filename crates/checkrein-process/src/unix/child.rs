#[cfg(target_os = "linux")]
use std::future::poll_fn;
use std::io;
#[cfg(target_os = "linux")]
use std::pin::pin;
#[cfg(target_os = "linux")]
use std::task::Poll;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::time::{self, Instant};

use super::active_pids;
use super::exit_wait::{ExitWait, has_exited, take_exit};
use super::process_tree::{Member, ProcessTree};
use super::reaper;
#[cfg(target_os = "linux")]
use super::sandbox::UsageMonitor;
use crate::marker::Marker;
use crate::run_output::{Exit, Leftover};
use crate::sandbox::LimitExceeded;

/// How long something may take to die of a KILL. Only a process that hangs inside the system takes so long.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// How often those that are no children of ours are looked at. First often, then less so.
const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// How long those are waited for of whom it can't be told yet whether they are ours.
const CLEARING_UP: Duration = Duration::from_secs(1);

/// How long a process takes from the end of its streams to its exit, if it is on its way.
const LAST_MOMENT: Duration = Duration::from_micros(50);

/// A process that we started, with everything that it started. Dropping it ends them all.
pub(crate) struct Child {
    pid: Pid,
    family: ProcessTree,
    watcher: Option<ExitWait>,
    exit: Option<Exit>,
    /// Who looks whether there is too much of it.
    #[cfg(target_os = "linux")]
    census: Option<UsageMonitor>,
    done: bool,
}

impl Child {
    pub(super) fn new(pid: Pid, marker: Marker) -> Self {
        active_pids::add(pid);
        Self {
            pid,
            family: ProcessTree::new(pid, marker),
            watcher: None,
            exit: None,
            #[cfg(target_os = "linux")]
            census: None,
            done: false,
        }
    }

    /// It is in a sandbox.
    #[cfg(target_os = "linux")]
    pub(super) fn confined(mut self, census: Option<UsageMonitor>) -> Self {
        self.family.restrict_to_group();
        self.census = census;
        self
    }

    /// Waits until the first process has exited, or there is more than its sandbox allows.
    pub(crate) async fn exited_or_over(&mut self) -> io::Result<Option<LimitExceeded>> {
        #[cfg(target_os = "linux")]
        if let Some(census) = &self.census {
            let exited = async {
                match &mut self.watcher {
                    Some(watcher) => watcher.exited().await,
                    None => Ok(()),
                }
            };
            let (mut exited, mut over) = (pin!(exited), pin!(census.over()));
            return poll_fn(|cx| match exited.as_mut().poll(cx) {
                Poll::Ready(exited) => Poll::Ready(exited.map(|()| None)),
                Poll::Pending => over.as_mut().poll(cx).map(|over| Ok(Some(over))),
            })
            .await;
        }
        self.exited().await.map(|()| None)
    }

    /// Begins to wait for its exit.
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.watcher = Some(ExitWait::new(self.pid)?);
        Ok(())
    }

    /// Waits until the first process has exited. Its status stays until [`reap`](Self::reap).
    pub(crate) async fn exited(&mut self) -> io::Result<()> {
        match &mut self.watcher {
            Some(watcher) => watcher.exited().await,
            None => Ok(()),
        }
    }

    /// Whether the first process, which has let go of its streams, exits this very moment.
    pub(crate) fn exits_now(&self) -> bool {
        let begun = std::time::Instant::now();
        loop {
            match has_exited(self.pid) {
                Ok(false) if begun.elapsed() < LAST_MOMENT => std::thread::yield_now(),
                exited => return exited.unwrap_or(false),
            }
        }
    }

    /// Whether provably nothing is left beside the first process, which has exited.
    pub(crate) fn has_no_descendants(&mut self) -> io::Result<bool> {
        self.take_early()?;
        // Without its leader's status the group may be another's by now.
        Ok(self.done || self.family.has_no_descendants())
    }

    /// What is left beside the first process, which has exited.
    pub(crate) async fn left(&mut self) -> io::Result<Vec<Leftover>> {
        if self.has_no_descendants()? {
            return Ok(Vec::new());
        }
        let until = Instant::now() + CLEARING_UP;
        loop {
            let found = self.family.find_alive();
            // One that is just becoming another program can be told from strangers in a moment.
            if !found.is_empty() || !self.family.is_ambiguous() || Instant::now() >= until {
                return Ok(found.iter().map(|member| member.report(false)).collect());
            }
            time::sleep(FIRST_PAUSE).await;
        }
    }

    /// Ends everything: TERM, a grace, KILL. Returns when all are gone, and says who there was beside the first.
    pub(crate) async fn end(&mut self, grace: Duration) -> Vec<Leftover> {
        // Before the first signal, while parents still tell whose child is whose. Nobody leaves the group of a sandbox,
        // and while it is listed, one that multiplies would go on.
        if !self.family.is_confined() {
            self.family.find_alive();
        }
        let gone = !grace.is_zero() && {
            self.family.signal(Signal::TERM);
            self.gone_within(grace, false).await
        };
        if !gone {
            self.family.signal(Signal::KILL);
            self.gone_within(KILL_WAIT, true).await;
        }
        let found = self.family.known();
        found.iter().map(|member| member.report(!member.is_alive())).collect()
    }

    /// Waits until all are gone, or the time is up. Those that turn up meanwhile get the same signal as the others.
    async fn gone_within(&mut self, grace: Duration, kill: bool) -> bool {
        let until = Instant::now() + grace.min(Duration::from_secs(60 * 60 * 24));
        let mut pause = FIRST_PAUSE;
        loop {
            // An error means that the status is gone, and so is the process.
            let first_gone = has_exited(self.pid).unwrap_or(true);
            if first_gone {
                let _ = self.take_early();
            }
            if first_gone && !self.family.known().iter().any(Member::is_alive) {
                let before = self.family.known().len();
                if self.family.is_gone() {
                    return true;
                }
                if kill || self.family.known().len() > before {
                    self.family.signal(if kill { Signal::KILL } else { Signal::TERM });
                }
            }
            if Instant::now() >= until {
                return false;
            }
            if first_gone {
                time::sleep_until(until.min(Instant::now() + pause)).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            } else {
                let _ = time::timeout_at(until, self.exited()).await;
            }
        }
    }

    /// Takes the exit status. The process, and its id, are gone after that.
    pub(crate) fn reap(mut self) -> io::Result<Exit> {
        if self.exit.is_none() {
            self.exit = take_exit(self.pid)?;
        }
        self.done = self.exit.is_some();
        // None: it has been sent a KILL and hangs inside the system. Dropping it leaves the rest to the reaper.
        Ok(self.exit.unwrap_or(Exit::Signalled(Signal::KILL.as_raw())))
    }

    /// Where processes can't be listed, the only question is whether the group still exists, and it does as long as the
    /// first process's status is not taken.
    fn take_early(&mut self) -> io::Result<()> {
        if !ProcessTree::can_list() && self.exit.is_none() {
            self.exit = take_exit(self.pid)?;
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.done {
            if !self.family.is_confined() {
                self.family.find_alive();
            }
            self.family.signal(Signal::KILL);
            reaper::adopt(self.family.clone());
        }
    }
}
