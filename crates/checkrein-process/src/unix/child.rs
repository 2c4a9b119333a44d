//! [`Child`]: a started process with its descendants. It waits for them, signals them and reaps the first one.

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
#[cfg(target_os = "linux")]
use super::foreign::ForeignProcess;
use super::process_tree::{Member, ProcessTree};
use super::reaper;
#[cfg(target_os = "linux")]
use super::sandbox::UsageMonitor;
use crate::marker::Marker;
use crate::run_output::{Exit, Leftover};
use crate::sandbox::LimitExceeded;

/// Maximum time between KILL and the exit. Only a process that hangs in the kernel takes so long.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// First interval of polling for descendants. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// Maximum wait for processes whose membership is ambiguous.
const AMBIGUITY_WAIT: Duration = Duration::from_secs(1);

/// Maximum time between the end of the streams and the exit, for a process that is exiting.
const EXIT_DELAY: Duration = Duration::from_micros(50);

/// A started process with its descendants. Dropping it kills them all.
pub(crate) struct Child {
    pid: Pid,
    tree: ProcessTree,
    exit_wait: Option<ExitWait>,
    exit: Option<Exit>,
    /// The monitor of the limits of its sandbox.
    #[cfg(target_os = "linux")]
    monitor: Option<UsageMonitor>,
    /// Present if another process is the parent. It reports the exit status and reaps the process.
    #[cfg(target_os = "linux")]
    foreign: Option<ForeignProcess>,
    done: bool,
}

impl Child {
    pub(super) fn new(pid: Pid, marker: Marker) -> Self {
        active_pids::add(pid);
        Self {
            pid,
            tree: ProcessTree::new(pid, marker),
            exit_wait: None,
            exit: None,
            #[cfg(target_os = "linux")]
            monitor: None,
            #[cfg(target_os = "linux")]
            foreign: None,
            done: false,
        }
    }

    /// A process of another parent. `since`: the last process id before it could start any process.
    #[cfg(target_os = "linux")]
    pub(super) fn foreign(pid: Pid, marker: Marker, foreign: ForeignProcess, since: Option<i32>) -> Self {
        let mut child = Self::new(pid, marker);
        child.tree.set_childless_until(since);
        child.foreign = Some(foreign);
        child
    }

    /// Marks the process as sandboxed, with the monitor of its limits.
    #[cfg(target_os = "linux")]
    pub(super) fn with_sandbox(mut self, monitor: Option<UsageMonitor>) -> Self {
        self.tree.restrict_to_group();
        self.monitor = monitor;
        self
    }

    /// Waits until the first process has exited or a limit of the sandbox is exceeded.
    pub(crate) async fn exited_or_exceeded(&mut self) -> io::Result<Option<LimitExceeded>> {
        #[cfg(target_os = "linux")]
        if let Some(monitor) = &self.monitor {
            let exited = async {
                match &mut self.exit_wait {
                    Some(exit_wait) => exit_wait.exited().await,
                    None => Ok(()),
                }
            };
            let (mut exited, mut exceeded) = (pin!(exited), pin!(monitor.exceeded()));
            return poll_fn(|cx| match exited.as_mut().poll(cx) {
                Poll::Ready(exited) => Poll::Ready(exited.map(|()| None)),
                Poll::Pending => exceeded.as_mut().poll(cx).map(|limit| Ok(Some(limit))),
            })
            .await;
        }
        self.exited().await.map(|()| None)
    }

    /// Registers the process for [`exited`](Self::exited).
    pub(super) fn watch(&mut self) -> io::Result<()> {
        self.exit_wait = Some(ExitWait::new(self.pid)?);
        Ok(())
    }

    /// Waits until the first process has exited. Its status is kept until [`reap`](Self::reap).
    pub(crate) async fn exited(&mut self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(foreign) = &mut self.foreign {
            return foreign.exited().await;
        }
        match &mut self.exit_wait {
            Some(exit_wait) => exit_wait.exited().await,
            None => Ok(()),
        }
    }

    /// Returns `true` if the first process, whose streams have ended, exits within [`EXIT_DELAY`]. Polls so long.
    pub(crate) fn is_about_to_exit(&self) -> bool {
        // The report of another parent may arrive after the exit.
        if self.is_foreign() {
            return false;
        }
        let begun = std::time::Instant::now();
        loop {
            match self.has_exited() {
                Ok(false) if begun.elapsed() < EXIT_DELAY => std::thread::yield_now(),
                exited => return exited.unwrap_or(false),
            }
        }
    }

    fn has_exited(&self) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if let Some(foreign) = &self.foreign {
            return Ok(!foreign.is_alive());
        }
        has_exited(self.pid)
    }

    /// `true` if another process is the parent.
    fn is_foreign(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.foreign.is_some();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Reaps the first process. Returns `true` if it is certain that no other process of the tree is left.
    pub(crate) fn reap_and_check_descendants(&mut self) -> io::Result<bool> {
        self.reap_early()?;
        // After the leader is reaped, the id of the group may be reused.
        Ok(self.done || self.tree.has_no_descendants())
    }

    /// Returns the processes other than the first, which has exited.
    pub(crate) async fn leftovers(&mut self) -> io::Result<Vec<Leftover>> {
        if self.reap_and_check_descendants()? {
            return Ok(Vec::new());
        }
        let until = Instant::now() + AMBIGUITY_WAIT;
        loop {
            let found = self.tree.find_alive();
            // A process in the middle of `execve` can be identified a moment later.
            if !found.is_empty() || !self.tree.is_ambiguous() || Instant::now() >= until {
                return Ok(found.iter().map(|member| member.report(false)).collect());
            }
            time::sleep(FIRST_PAUSE).await;
        }
    }

    /// Ends all processes: TERM, a grace period, KILL. Returns when they have exited, and reports all but the first.
    pub(crate) async fn end(&mut self, grace: Duration) -> Vec<Leftover> {
        // Before the first signal, while parent ids still connect the processes. No process can leave the group of a
        // sandbox, and a fork bomb would continue during the listing.
        if !self.tree.is_confined() {
            self.tree.find_alive();
        }
        let gone = !grace.is_zero() && {
            self.tree.signal(Signal::TERM);
            self.wait_until_gone(grace, false).await
        };
        if !gone {
            self.tree.signal(Signal::KILL);
            self.wait_until_gone(KILL_WAIT, true).await;
        }
        let found = self.tree.known();
        found.iter().map(|member| member.report(!member.is_alive())).collect()
    }

    /// Waits until all processes have exited. Returns `false` at the timeout. New processes get the same signal.
    async fn wait_until_gone(&mut self, grace: Duration, kill: bool) -> bool {
        let until = Instant::now() + grace.min(Duration::from_secs(60 * 60 * 24));
        let mut pause = FIRST_PAUSE;
        loop {
            // An error means that the process was already reaped.
            let first_gone = self.has_exited().unwrap_or(true);
            if first_gone {
                let _ = self.reap_early();
            }
            if first_gone && !self.tree.known().iter().any(Member::is_alive) {
                let before = self.tree.known().len();
                if self.tree.confirm_gone() {
                    return true;
                }
                if kill || self.tree.known().len() > before {
                    self.tree.signal(if kill { Signal::KILL } else { Signal::TERM });
                }
            }
            if Instant::now() >= until {
                return false;
            }
            // A lost connection to the parent would end a wait for its report at once.
            if first_gone || self.is_foreign() {
                time::sleep_until(until.min(Instant::now() + pause)).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            } else {
                let _ = time::timeout_at(until, self.exited()).await;
            }
        }
    }

    /// Reaps the first process and returns its exit status. Its id may be reused after that.
    pub(crate) fn reap(mut self) -> io::Result<Exit> {
        #[cfg(target_os = "linux")]
        if let Some(foreign) = &mut self.foreign {
            // Without a report, the process was ended here, and its parent is late or gone.
            let exit = foreign.report().ok().flatten();
            self.done = !foreign.is_alive();
            if self.done {
                active_pids::remove(self.pid);
            }
            return Ok(exit.unwrap_or(Exit::Signalled(Signal::KILL.as_raw())));
        }
        if self.exit.is_none() {
            self.exit = take_exit(self.pid)?;
        }
        self.done = self.exit.is_some();
        // `None`: the process got KILL and hangs in the kernel. Drop passes it to the reaper.
        Ok(self.exit.unwrap_or(Exit::Signalled(Signal::KILL.as_raw())))
    }

    /// Reaps the first process now if processes cannot be listed. The only check is then whether the group exists, and it
    /// exists until the first process is reaped.
    fn reap_early(&mut self) -> io::Result<()> {
        if !ProcessTree::can_list() && self.exit.is_none() {
            self.exit = take_exit(self.pid)?;
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.done {
            if !self.tree.is_confined() {
                self.tree.find_alive();
            }
            self.tree.signal(Signal::KILL);
            reaper::adopt(self.tree.clone());
        }
    }
}
