//! Threads that start a process and stand still until it has exited, for hosts that run one process on each processor.
//!
//! In a runtime one thread waits for everything that happens. When a process exits, Linux wakes that thread on the processor where
//! it ran last, which has another process to run; the processor that has just become free stays idle meanwhile. A thread
//! that waits for one process alone is woken where that process was, and passes the word on there: for the exit of a child
//! and for a byte in a pipe, but not for a descriptor of a process, the system expects that whoever tells of it is about to
//! leave its processor.
//!
//! It stands still in the system and nowhere else: without a time after which it would look, and with the signals that the host
//! lets through. Both would cost what is gained; a signal that is held back is queued and wakes another thread.

use std::cell::OnceCell;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::sched_getcpu;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{self, Instant};

use super::child::Child;
use super::spawn::{Lent, Spawned, Streams, goes_on, is_there_room_now, processors, spawn};
use super::watcher::{self, Watcher};
use crate::launch::StartError;
use crate::marker::Marker;
use crate::runs;

/// How long whoever drops a run waits for a start that is under way, so that it is ended at once. It takes far less, but where the
/// system is in trouble.
const MOMENT: Duration = Duration::from_millis(20);
/// How often a start that takes long is looked at.
const PAUSE: Duration = Duration::from_millis(1);
/// How often a start is tried again while threads go.
const LOOKS: u32 = 50;
/// It calls little, but the host's allocator and handlers may want some.
const STACK: usize = 256 * 1024;
/// How many threads there are at most, for each processor: those at work, and idle ones that other threads of the host have made.
const MOST: usize = 4;

/// What it takes to start a process.
pub(super) struct Order {
    pub(super) frame: Lent,
    pub(super) streams: Streams,
    pub(super) marker: Marker,
}

/// A thread that works for one run.
pub(super) struct Hand {
    desk: Arc<Desk>,
    /// The number of what it does for this run.
    number: u8,
    /// Whether it has said that it is done.
    done: bool,
}

/// What a run and its thread share. Both hold both ends of the pipes, so that nobody ever writes where nobody could read.
struct Desk {
    board: Mutex<Board>,
    /// A byte from the run: there is something to do.
    word: Pipe,
    /// A byte from the thread: it is done with what has this number. There may be one of a run that has not waited for it.
    done: Pipe,
    maker: Weak<Maker>,
    /// Where the thread was when it was done last.
    processor: AtomicUsize,
}

struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

struct Board {
    errand: Errand,
    number: u8,
    /// Whether the thread is done, and says so if it has not yet.
    done: bool,
    /// Whether the run is over before that.
    forsaken: bool,
    /// Whether the thread shall go.
    dismissed: bool,
}

enum Errand {
    /// There is nothing to do, or no more than to wait.
    None,
    /// With the processor on which it was given.
    Given(Box<Order>, usize),
    /// The process is being started.
    Begun,
    Started(Box<Child>),
    Failed(StartError),
}

/// A thread of the host that has made some. They go when it does.
struct Maker;

/// What keeps a maker.
struct Kept(Option<Arc<Maker>>);

thread_local! {
    /// None, if this thread has not been seen to run tasks that may run on any.
    static MAKER: OnceCell<Kept> = const { OnceCell::new() };
}

/// Those without work.
static IDLE: Mutex<Vec<Arc<Desk>>> = Mutex::new(Vec::new());
/// How many there are.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// Whether there were no processes left to start, of which these threads take some.
static IS_TIGHT: AtomicBool = AtomicBool::new(false);

/// How many processes are just being started that nobody wants any more.
static UNWANTED: Mutex<usize> = Mutex::new(0);
static NONE_UNWANTED: Condvar = Condvar::new();

/// A thread to start a process, where that is better than to do it here.
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
    let idle = {
        let (mut idle, here) = (lock(&IDLE), sched_getcpu());
        let ours = idle.iter().enumerate().filter(|(_, desk)| desk.maker.ptr_eq(&maker));
        // The last one, best one that was here: where another was, a process may run by now.
        let found =
            ours.max_by_key(|(at, desk)| (desk.processor.load(Ordering::Relaxed) == here, *at)).map(|(at, _)| at);
        found.map(|at| idle.remove(at))
    };
    let desk = match idle {
        Some(desk) => desk,
        None => Desk::new(maker, MOST * processors)?,
    };
    Some(Hand { desk, number: 0, done: true })
}

/// Whether this is a task that may run on any thread of its runtime. Others may count on the thread they have.
fn is_anywhere() -> bool {
    let spread = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    tokio::task::try_id().is_some() && Handle::try_current().is_ok_and(spread)
}

/// The maker that this thread is. A `LocalSet` and work that may block have tasks too, which count on the thread they have and may
/// change what is inherited from it. Nobody tells them apart; but a task of ours never gets to their threads.
fn maker() -> Option<Weak<Maker>> {
    let made = |kept: &Kept| kept.0.as_ref().map(Arc::downgrade);
    let maker = MAKER.try_with(|kept| kept.get().and_then(made)).ok()?;
    if maker.is_none() {
        tokio::spawn(async {
            let _ = MAKER.try_with(|kept| {
                kept.get_or_init(|| Kept(Some(Arc::new(Maker))));
            });
        });
    }
    maker
}

/// Lets all go, for there were no processes left to start.
pub(super) fn make_room() -> Room {
    IS_TIGHT.store(true, Ordering::Relaxed);
    let idle = mem::take(&mut *lock(&IDLE));
    for desk in idle {
        desk.dismiss();
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

/// Waits until no process is being started that nobody wants, or the time is over. Whether there is none.
pub(super) fn wait_for_unwanted(patience: Duration) -> bool {
    let unwanted = lock(&UNWANTED);
    let waited = NONE_UNWANTED.wait_timeout_while(unwanted, patience, |unwanted| *unwanted > 0);
    let (unwanted, _) = waited.unwrap_or_else(PoisonError::into_inner);
    *unwanted == 0
}

impl Hand {
    /// Starts a process, and waits until it has exited or the time is over. If the future is dropped, there will be none.
    pub(super) async fn start(mut self, order: Order, until: Instant) -> Result<Child, StartError> {
        let done = watcher::readable(Done(Arc::clone(&self.desk))).map_err(StartError::before)?;
        (self.number, self.done) = (self.desk.give(order), false);
        let mut until = until;
        loop {
            // At the first time mostly it has exited, or runs. But where others want processors too, it may not even be there.
            let waited = time::timeout_at(until, self.is_done(&done)).await;
            if let Ok(Err(error)) = waited {
                return Err(StartError::after(error));
            }
            if let Some(started) = self.desk.started() {
                return started.map(|child| child.watched(|pid| Watcher::Hand(done, self, pid)));
            }
            if self.done {
                return Err(StartError::after(io::Error::other("a thread is done that has not begun")));
            }
            until = Instant::now() + PAUSE;
        }
    }

    /// Waits until the process has exited, or could not be started. May be dropped and called again.
    pub(super) async fn is_done(&mut self, done: &AsyncFd<Done>) -> io::Result<()> {
        while !self.done {
            let mut ready = done.readable().await?;
            match self.desk.done.take() {
                Some(number) => self.done = number == self.number,
                None => ready.clear_ready(),
            }
        }
        Ok(())
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if !self.done {
            // Nobody has read what was said to runs like this one. Numbers come round, and the pipe would be full one day.
            while self.desk.done.take().is_some() {}
        }
        if self.done || self.desk.forsake() {
            self.desk.is_idle();
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // First: whoever has no more work from now on goes by itself.
        self.0 = None;
        let gone: Vec<_> = lock(&IDLE).extract_if(.., |desk| desk.maker.strong_count() == 0).collect();
        for desk in gone {
            desk.dismiss();
        }
    }
}

/// The end of a thread's pipe that tells when it is done.
pub(super) struct Done(Arc<Desk>);

impl AsRawFd for Done {
    fn as_raw_fd(&self) -> RawFd {
        self.0.done.reader.as_raw_fd()
    }
}

/// What the run does, or whoever has no run.
impl Desk {
    /// With a thread at it. None if there are enough, or the system has none.
    fn new(maker: Weak<Maker>, most: usize) -> Option<Arc<Self>> {
        let desk = Arc::new(Self {
            board: Mutex::new(Board { errand: Errand::None, number: 0, done: true, forsaken: false, dismissed: false }),
            word: Pipe::new(PipeFlags::empty()).ok()?,
            done: Pipe::new(PipeFlags::NONBLOCK).ok()?,
            maker,
            processor: AtomicUsize::new(usize::MAX),
        });
        let at = Arc::clone(&desk);
        let more = |alive: usize| (alive < most).then_some(alive + 1);
        ALIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        let began = thread::Builder::new().name("checkrein-hand".into()).stack_size(STACK).spawn(move || {
            while at.word.take().is_some() && at.works() {}
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        });
        if began.is_err() {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(desk)
    }

    /// Gives it something to do, and says what number that has.
    fn give(&self, order: Order) -> u8 {
        let number = {
            let mut board = lock(&self.board);
            (board.errand, board.done) = (Errand::Given(Box::new(order), sched_getcpu()), false);
            board.number = board.number.wrapping_add(1);
            board.number
        };
        self.word.put(number);
        number
    }

    /// How the start went, if that is known. It is told once.
    fn started(&self) -> Option<Result<Box<Child>, StartError>> {
        let errand = &mut lock(&self.board).errand;
        match mem::replace(errand, Errand::None) {
            Errand::Started(child) => Some(Ok(child)),
            Errand::Failed(error) => Some(Err(error)),
            other => {
                *errand = other;
                None
            }
        }
    }

    /// Ends what was started, as nobody wants it any more. Whether the thread is done; if not, it finds that out by itself.
    fn forsake(&self) -> bool {
        let mut board = lock(&self.board);
        if !matches!(board.errand, Errand::Begun) {
            let ended = mem::replace(&mut board.errand, Errand::None);
            let done = board.done;
            board.forsaken = !done;
            drop(board);
            drop(ended);
            return done;
        }
        board.forsaken = true;
        *lock(&UNWANTED) += 1;
        drop(board);
        wait_for_unwanted(MOMENT);
        false
    }

    /// There is no more work for the thread.
    fn is_idle(self: &Arc<Self>) {
        let mut idle = lock(&IDLE);
        if self.maker.strong_count() > 0 && !IS_TIGHT.load(Ordering::Relaxed) {
            idle.push(Arc::clone(self));
            return;
        }
        drop(idle);
        self.dismiss();
    }

    fn dismiss(&self) {
        lock(&self.board).dismissed = true;
        self.word.put(0);
    }
}

/// What the thread does.
impl Desk {
    /// Does what there is to do. Whether there may be more.
    fn works(self: &Arc<Self>) -> bool {
        let is_room = self.lets_finish();
        let order = {
            let mut board = lock(&self.board);
            if board.dismissed {
                return false;
            }
            match mem::replace(&mut board.errand, Errand::Begun) {
                Errand::Given(order, _) => Some(*order),
                other => {
                    board.errand = other;
                    None
                }
            }
        };
        if let Some(Order { frame, streams, marker }) = order {
            let started = spawn(frame, is_room);
            drop(streams);
            match started {
                Ok(Spawned { pid, descriptor, frame }) => {
                    let child = Child::new(pid, marker).working_on(frame);
                    if self.is_wanted(Errand::Started(Box::new(child))) {
                        watcher::stand_still(pid, descriptor.as_ref().map(AsFd::as_fd));
                    }
                }
                Err(error) => {
                    self.is_wanted(Errand::Failed(error));
                }
            }
        }
        self.processor.store(sched_getcpu(), Ordering::Relaxed);
        let (number, forsaken) = {
            let mut board = lock(&self.board);
            board.done = true;
            (board.number, mem::take(&mut board.forsaken))
        };
        match forsaken {
            true => self.is_idle(),
            false => self.done.put(number),
        }
        true
    }

    /// Lets whoever has given an order finish first, if that is here and nobody else waits for a processor. Whether nobody does.
    ///
    /// It mostly has a little left to do before it waits. A process that is started meanwhile goes to another processor, which has one
    /// to run, and this one becomes free. It may also give up the run, so the order is taken only then.
    fn lets_finish(&self) -> bool {
        let Errand::Given(_, from) = lock(&self.board).errand else { return false };
        let is_room = is_there_room_now();
        if is_room && from == sched_getcpu() {
            thread::yield_now();
        }
        is_room
    }

    /// Says how a start went, if somebody wants to know. Else it is ended.
    fn is_wanted(&self, started: Errand) -> bool {
        let mut board = lock(&self.board);
        if !board.forsaken {
            board.errand = started;
            return true;
        }
        board.errand = Errand::None;
        drop(board);
        drop(started);
        *lock(&UNWANTED) -= 1;
        NONE_UNWANTED.notify_all();
        false
    }
}

impl Pipe {
    fn new(flags: PipeFlags) -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | flags)?;
        Ok(Self { reader, writer })
    }

    /// There is always room: there are few at a time.
    fn put(&self, byte: u8) {
        while rustix::io::write(&self.writer, &[byte]) == Err(Errno::INTR) {}
    }

    /// A byte, if there is one or, where the pipe waits for one, there will be.
    fn take(&self) -> Option<u8> {
        let mut byte = [0];
        loop {
            match rustix::io::read(&self.reader, &mut byte) {
                Err(Errno::INTR) => {}
                read => return (read == Ok(1)).then_some(byte[0]),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_not_gone_while_something_unwanted_is_being_started() {
        *lock(&UNWANTED) += 1;
        let gone = [Duration::ZERO, PAUSE].map(crate::wait_for_dropped);
        *lock(&UNWANTED) -= 1;
        NONE_UNWANTED.notify_all();
        assert_eq!(gone, [false, false]);
        assert!(wait_for_unwanted(Duration::from_secs(60)));
    }
}
