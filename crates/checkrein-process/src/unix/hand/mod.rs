//! Threads that run a process from its start to its exit, for hosts that run one process on each processor.
//!
//! In a runtime one thread waits for everything that happens. When a process exits, Linux wakes that thread on the processor where
//! it ran last, which has another process to run; the processor that has just become free stays idle meanwhile. A thread
//! that waits for one process alone is woken where that process was, and passes the word on there: for the exit of a child
//! and for a byte in a pipe, but not for a descriptor of a process, the system expects that whoever tells of it is about to
//! leave its processor.
//!
//! It expects that in vain at times, and then the processor is idle until the runtime's thread has given the next order. So that one
//! does as little as can be between the two: streams are made, output is read and the exit status is taken by our thread.
//!
//! It stands still in the system and nowhere else: without a time after which it would look, and with the signals that the host
//! lets through. Both would cost what is gained; a signal that is held back is queued and wakes another thread.

mod desk;

use std::cell::OnceCell;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::sched_getcpu;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{self, Handle, RuntimeFlavor};
use tokio::time::{self, Instant};

use self::desk::{Desk, Done};
use super::child::Child;
use super::spawn::{Lent, Spawned, goes_on, processors, spawn};
use super::start::{Ends, streams};
use super::watcher::{self, Watcher};
use crate::launch::StartError;
use crate::marker::Marker;
use crate::runs;
use crate::stdin::Stdin;

pub(super) use self::desk::wait_for_unwanted;

/// How often a start that takes long is looked at.
const PAUSE: Duration = Duration::from_millis(1);
/// How often a start is tried again while threads go.
const LOOKS: u32 = 50;
/// How many threads there are at most, for each processor: those at work, and idle ones that other threads of the host have made.
const MOST: usize = 4;
/// And in all: each has four descriptors, of which a host may have few.
const MOST_IN_ALL: usize = 16;

/// What it takes to start a process.
pub(super) struct Order {
    pub(super) frame: Lent,
    pub(super) stdin: Stdin,
    pub(super) stdout_closed: bool,
    pub(super) marker: Marker,
}

/// A process that was started, and our ends of its streams. If it has exited, mostly all of its output is read and its exit status
/// taken.
pub(super) struct Ran {
    pub(super) child: Child,
    pub(super) ends: Ends,
}

/// A thread that works for one run.
pub(super) struct Hand {
    desk: Arc<Desk>,
    /// What tells when it is done, as the runtime watches it. None only while it is taken or dropped.
    watch: Option<AsyncFd<Done>>,
    /// The number of what it does for this run.
    number: u8,
    /// Whether it has said that it is done.
    done: bool,
}

/// A thread without work.
struct Idle {
    desk: Arc<Desk>,
    /// Who has watched it last still does: to begin and to end that takes longer than all else about it.
    watch: Option<AsyncFd<Done>>,
}

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// A thread of the host that has made some, for runs of the runtime whose tasks it runs. They go when it does.
struct Maker(runtime::Id);

/// What keeps a maker.
struct Kept(Option<Arc<Maker>>);

thread_local! {
    /// None, if this thread has not been seen to run tasks that may run on any.
    static MAKER: OnceCell<Kept> = const { OnceCell::new() };
}

/// Whether there were no processes left to start, of which these threads take some.
static IS_TIGHT: AtomicBool = AtomicBool::new(false);

/// A thread to run a process, where that is better than to do it here.
pub(super) fn take() -> Option<Hand> {
    let processors = processors() as usize;
    // One for each: with fewer, a processor is idle and takes whoever is woken; with more, a free one has the next to run.
    let is_even = runs::count() == processors && processors > 1;
    if !is_even || IS_TIGHT.load(Ordering::Relaxed) || !goes_on() || !is_anywhere() {
        return None;
    }
    // A process inherits much from the thread that starts it: privileges, filters of system calls, namespaces. So it is started by
    // one that has inherited the same.
    let maker = maker()?;
    let idle = match Idle::of(&maker) {
        Some(idle) => idle,
        None => Idle { desk: Desk::new(maker, MOST_IN_ALL.min(MOST * processors))?, watch: None },
    };
    idle.taken()
}

/// Whether this is a task that may run on any thread of its runtime. Others may count on the thread they have.
fn is_anywhere() -> bool {
    let spread = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    tokio::task::try_id().is_some() && Handle::try_current().is_ok_and(spread)
}

/// The maker that this thread is. A `LocalSet` and work that may block have tasks too, which count on the thread they have and may
/// change what is inherited from it. Nobody tells them apart; but a task of ours never gets to their threads, unless one was for all
/// tasks and became another by `block_in_place`.
fn maker() -> Option<Weak<Maker>> {
    // A task may enter another runtime, which may be gone long before this thread.
    let runtime = Handle::current().id();
    let made = |kept: &Kept| kept.0.as_ref().filter(|maker| maker.0 == runtime).map(Arc::downgrade);
    let maker = MAKER.try_with(|kept| kept.get().and_then(made)).ok()?;
    if maker.is_none() {
        tokio::spawn(async {
            let _ = MAKER.try_with(|kept| {
                kept.get_or_init(|| Kept(Some(Arc::new(Maker(Handle::current().id())))));
            });
        });
    }
    maker
}

impl Drop for Kept {
    fn drop(&mut self) {
        // First: whoever has no more work from now on goes by itself.
        self.0 = None;
        let gone: Vec<_> = lock(&IDLE).extract_if(.., |idle| idle.desk.is_orphaned()).collect();
        for idle in gone {
            idle.desk.dismiss();
        }
    }
}

/// Lets all go, for there were no processes left to start.
pub(super) fn make_room() -> Room {
    IS_TIGHT.store(true, Ordering::Relaxed);
    let gone = mem::take(&mut *lock(&IDLE));
    for idle in gone {
        idle.desk.dismiss();
    }
    Room(LOOKS)
}

/// How often it is still worth a look whether there is room.
pub(super) struct Room(u32);

impl Room {
    /// Gives threads that go the time for it. Whether they may need more.
    pub(super) async fn wait(&mut self) -> bool {
        time::sleep(PAUSE).await;
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

impl Idle {
    /// The last of a maker's, best one that was on this processor: where another was, a process may run by now.
    fn of(maker: &Weak<Maker>) -> Option<Self> {
        let (mut idle, here) = (lock(&IDLE), sched_getcpu());
        let ours = idle.iter().map(|idle| &idle.desk).enumerate().filter(|(_, desk)| desk.is_of(maker));
        let found = ours.max_by_key(|(at, desk)| (desk.was_on(here), *at)).map(|(at, _)| at);
        found.map(|at| idle.remove(at))
    }

    /// For a run of its maker's runtime, which is this one. None if that cannot watch it.
    fn taken(self) -> Option<Hand> {
        // From here on, an early return or a panic lets it rest: `hand` sees to that when it is dropped.
        let mut hand = Hand { desk: self.desk, watch: self.watch, number: 0, done: true };
        if hand.watch.is_none() {
            hand.watch = Some(watcher::readable(Done(Arc::clone(&hand.desk))).ok()?);
        }
        Some(hand)
    }

    /// There is no more work for it.
    fn rest(self) {
        let mut idle = lock(&IDLE);
        if !self.desk.is_orphaned() && !self.desk.is_left() && !IS_TIGHT.load(Ordering::Relaxed) {
            idle.push(self);
            return;
        }
        drop(idle);
        self.desk.dismiss();
    }
}

impl Hand {
    /// Starts a process, and waits until it has exited or the time is over. If the future is dropped, there will be none.
    pub(super) async fn start(mut self, order: Order, until: Instant) -> Result<Ran, StartError> {
        (self.number, self.done) = (self.desk.give(order), false);
        let mut until = until;
        loop {
            // At the first time mostly it has exited, or runs. But where others want processors too, it may not even be there.
            let waited = time::timeout_at(until, self.is_done()).await;
            if let Ok(Err(error)) = waited {
                return Err(StartError::after(error));
            }
            if let Some(started) = self.desk.started() {
                return started.map(|Ran { child, ends }| match child.is_reaped() {
                    true => Ran { child, ends },
                    false => Ran { child: child.watched(|pid| Watcher::Hand(self, pid)), ends },
                });
            }
            if self.done {
                return Err(StartError::after(io::Error::other("a thread is done that has not begun")));
            }
            until = Instant::now() + PAUSE;
        }
    }

    /// Waits until the process has exited, or could not be started. May be dropped and called again.
    pub(super) async fn is_done(&mut self) -> io::Result<()> {
        while !self.done {
            let Some(watch) = &self.watch else { break };
            let mut ready = watch.readable().await?;
            let (last, is_all) = self.desk.take_done();
            self.done = last == Some(self.number);
            if is_all {
                // Without another look. What comes from now on is told anew.
                ready.clear_ready();
            }
        }
        Ok(())
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if self.done || self.desk.forsake() {
            Idle { desk: Arc::clone(&self.desk), watch: self.watch.take() }.rest();
        }
    }
}

impl Order {
    /// Starts the process. Without its id, if it has to be fed: whoever has ordered it must do that at once.
    fn follow(self, is_room: bool) -> Result<(Ran, Option<Pid>), StartError> {
        let (theirs, ends) = streams(&self.stdin, self.stdout_closed).map_err(StartError::before)?;
        // It may be the host's own and panic. After the start nothing may, before there is a child that ends what was started.
        drop(self.stdin);
        let Spawned { pid, frame, .. } = spawn(self.frame, &theirs, is_room, false)?;
        let child = Child::new(pid, self.marker).working_on(frame);
        let alone = !ends.is_fed();
        Ok((Ran { child, ends }, alone.then_some(pid)))
    }
}

impl Ran {
    /// Of a process that has exited: with all of its output, and its exit status, as far as nobody else holds the one or belongs to
    /// the other.
    fn finished(mut self: Box<Self>) -> Box<Self> {
        let (stdout, stderr) = (self.ends.stdout.read_ahead(), self.ends.stderr.read_ahead());
        if stdout && stderr && self.child.never_began().is_none() {
            self.child.reap_if_alone();
        }
        self
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
