//! Where a run and the thread that works for it meet.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::sched_getcpu;

use super::super::spawn::{is_there_room_now, was_there_room};
use super::super::watcher;
use super::{Idle, Maker, Order, Ran, lock};
use crate::launch::StartError;

/// How long whoever drops a run waits for a start that is under way, so that it is ended at once. It takes far less, but where the
/// system is in trouble.
const MOMENT: Duration = Duration::from_millis(20);
/// It calls little, but the host's allocator and handlers and whatever keeps its stdin may want some.
const STACK: usize = 256 * 1024;

/// What a run and its thread share. Both hold both ends of the pipes, so that nobody ever writes where nobody could read.
pub(super) struct Desk {
    board: Mutex<Board>,
    /// A byte from the run: there is something to do.
    word: Pipe,
    /// A byte from the thread: it is done with what has this number. There may be one of a run that has not waited for it.
    done: Pipe,
    maker: Weak<Maker>,
    /// Where the thread was when it was done last.
    processor: AtomicUsize,
}

struct Board {
    errand: Errand,
    number: u8,
    /// Whether the thread is done, and says so if it has not yet.
    done: bool,
    /// Whether the run is over before that.
    forsaken: bool,
    /// Whether the thread shall go, or has gone.
    dismissed: bool,
    /// Whether the thread waits for a byte, or is about to. Else it looks here by itself.
    waits: bool,
}

enum Errand {
    /// There is nothing to do, or no more than to wait.
    None,
    /// With the processor on which it was given.
    Given(Box<Order>, usize),
    /// The process is being started, or has exited and is being finished.
    Begun,
    Started(Box<Ran>),
    Failed(StartError),
}

struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

/// How many threads there are.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// How many processes are just being started that nobody wants any more.
static UNWANTED: Mutex<usize> = Mutex::new(0);
static NONE_UNWANTED: Condvar = Condvar::new();

/// Waits until no process is being started that nobody wants, or the time is over. Whether there is none.
pub(in super::super) fn wait_for_unwanted(patience: Duration) -> bool {
    let unwanted = lock(&UNWANTED);
    let waited = NONE_UNWANTED.wait_timeout_while(unwanted, patience, |unwanted| *unwanted > 0);
    let (unwanted, _) = waited.unwrap_or_else(PoisonError::into_inner);
    *unwanted == 0
}

/// The end of a thread's pipe that tells when it is done.
pub(super) struct Done(pub(super) Arc<Desk>);

impl AsRawFd for Done {
    fn as_raw_fd(&self) -> RawFd {
        self.0.done.reader.as_raw_fd()
    }
}

/// What the run does, or whoever has no run.
impl Desk {
    /// With a thread at it. None if there are enough, or the system has none.
    pub(super) fn new(maker: Weak<Maker>, most: usize) -> Option<Arc<Self>> {
        let desk = Arc::new(Self::unmanned(maker).ok()?);
        let at = Arc::clone(&desk);
        let more = |alive: usize| (alive < most).then_some(alive + 1);
        ALIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        let began = thread::Builder::new().name("checkrein-hand".into()).stack_size(STACK).spawn(move || {
            // What it is given may be the host's own and panic, also when the panic is dropped. Nobody may wait for a thread that is
            // no more.
            let _ = catch_unwind(AssertUnwindSafe(|| while at.works() {})).map_err(mem::forget);
            at.leaves();
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        });
        if began.is_err() {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(desk)
    }

    fn unmanned(maker: Weak<Maker>) -> io::Result<Self> {
        Ok(Self {
            board: Mutex::new(Board {
                errand: Errand::None,
                number: 0,
                done: true,
                forsaken: false,
                dismissed: false,
                waits: false,
            }),
            word: Pipe::new(PipeFlags::empty())?,
            done: Pipe::new(PipeFlags::NONBLOCK)?,
            maker,
            processor: AtomicUsize::new(usize::MAX),
        })
    }

    pub(super) fn is_of(&self, maker: &Weak<Maker>) -> bool {
        self.maker.ptr_eq(maker)
    }

    /// Whether its maker is no more.
    pub(super) fn is_orphaned(&self) -> bool {
        self.maker.strong_count() == 0
    }

    /// Whether its thread is no more, or will not be.
    pub(super) fn is_left(&self) -> bool {
        lock(&self.board).dismissed
    }

    /// Whether its thread was on a processor when it was done last.
    pub(super) fn was_on(&self, processor: usize) -> bool {
        self.processor.load(Ordering::Relaxed) == processor
    }

    /// Gives it something to do, and says what number that has.
    pub(super) fn give(&self, order: Order) -> u8 {
        let mut board = lock(&self.board);
        (board.errand, board.done) = (Errand::Given(Box::new(order), sched_getcpu()), false);
        board.number = board.number.wrapping_add(1);
        let number = board.number;
        self.tell(board);
        number
    }

    /// How the start went, if that is known. It is told once.
    pub(super) fn started(&self) -> Option<Result<Ran, StartError>> {
        let errand = &mut lock(&self.board).errand;
        match mem::replace(errand, Errand::None) {
            Errand::Started(ran) => Some(Ok(*ran)),
            Errand::Failed(error) => Some(Err(error)),
            other => {
                *errand = other;
                None
            }
        }
    }

    /// What the thread has said to be done with since somebody has looked: the last, and whether there is no more.
    pub(super) fn take_done(&self) -> (Option<u8>, bool) {
        self.done.take_all()
    }

    /// Ends what was started, as nobody wants it any more. Whether the thread is done; if not, it finds that out by itself.
    pub(super) fn forsake(&self) -> bool {
        // Nobody has read what was said to runs like this one. Numbers come round, and the pipe would be full one day.
        while self.done.take() {}
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

    /// Lets the thread go.
    pub(super) fn dismiss(&self) {
        let mut board = lock(&self.board);
        board.dismissed = true;
        self.tell(board);
    }

    /// Tells the thread that there is something on the board.
    fn tell(&self, mut board: MutexGuard<'_, Board>) {
        let waits = mem::take(&mut board.waits);
        drop(board);
        if waits {
            self.word.put(0);
        }
    }
}

/// What the thread does.
impl Desk {
    /// Does what there is to do. Whether there may be more.
    fn works(self: &Arc<Self>) -> bool {
        let is_room = self.waits();
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
        let running = order.and_then(|order| match order.follow(is_room) {
            Ok((ran, pid)) => self.is_wanted(Errand::Started(Box::new(ran))).then_some(pid).flatten(),
            Err(error) => {
                self.is_wanted(Errand::Failed(error));
                None
            }
        });
        if let Some(pid) = running {
            watcher::stand_still(pid);
            self.finishes();
        }
        self.processor.store(sched_getcpu(), Ordering::Relaxed);
        self.is_done();
        true
    }

    /// Waits until there is something to do, and until it is time for it. Whether nobody else waits for a processor.
    fn waits(&self) -> bool {
        let mut board = lock(&self.board);
        board.waits = board.done && !board.dismissed;
        if !board.waits {
            // Whoever has given this order was here meanwhile and is off by now, or is on another processor.
            return was_there_room();
        }
        drop(board);
        if !self.word.take() {
            // Somebody has closed what is not theirs.
            lock(&self.board).dismissed = true;
        }
        let Errand::Given(_, from) = lock(&self.board).errand else { return false };
        let is_room = is_there_room_now();
        // Whoever has given this order mostly has a little left to do before it waits. A process that is started meanwhile goes to
        // another processor, which has one to run, and this one becomes free. It may also give up the run, so the order is taken
        // only then.
        if is_room && from == sched_getcpu() {
            thread::yield_now();
        }
        is_room
    }

    /// Does for a process that has exited what nobody has to wait for, unless whoever has ordered it does so by now.
    fn finishes(&self) {
        let ran = {
            let errand = &mut lock(&self.board).errand;
            match mem::replace(errand, Errand::Begun) {
                Errand::Started(ran) => ran,
                other => {
                    *errand = other;
                    return;
                }
            }
        };
        self.is_wanted(Errand::Started(ran.finished()));
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

    /// Says that it is done, or waits for other work if nobody wants to know.
    fn is_done(self: &Arc<Self>) {
        let (number, forsaken) = {
            let mut board = lock(&self.board);
            board.done = true;
            (board.number, mem::take(&mut board.forsaken))
        };
        match forsaken {
            true => Idle { desk: Arc::clone(self), watch: None }.rest(),
            false => self.done.put(number),
        }
    }

    /// The thread goes, maybe in the middle of its work.
    fn leaves(self: &Arc<Self>) {
        let failed = || Errand::Failed(StartError::after(io::Error::other("something panicked while it was run")));
        let was_begun = {
            let mut board = lock(&self.board);
            board.dismissed = true;
            if board.done {
                return;
            }
            if matches!(board.errand, Errand::Given(..)) {
                board.errand = failed();
            }
            matches!(board.errand, Errand::Begun)
        };
        if was_begun {
            self.is_wanted(failed());
        }
        self.is_done();
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

    /// Whether there is a byte or, where the pipe waits for one, there will be. It is taken.
    fn take(&self) -> bool {
        let mut byte = [0];
        loop {
            match rustix::io::read(&self.reader, &mut byte) {
                Err(Errno::INTR) => {}
                read => return read == Ok(1),
            }
        }
    }

    /// Takes the bytes that are there. The last of them, and whether there were no more.
    fn take_all(&self) -> (Option<u8>, bool) {
        let mut bytes = [0; 8];
        let taken = rustix::io::read(&self.reader, &mut bytes);
        let count = taken.unwrap_or(0);
        (count.checked_sub(1).map(|last| bytes[last]), taken != Err(Errno::INTR) && count < bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::spawn::make_ready;
    use super::*;
    use crate::launch::Launch;
    use crate::marker::Marker;
    use crate::place::Place;
    use crate::stdin::Stdin;

    #[test]
    fn all_is_not_gone_while_something_unwanted_is_being_started() {
        *lock(&UNWANTED) += 1;
        let gone = [Duration::ZERO, Duration::from_millis(1)].map(crate::wait_for_dropped);
        *lock(&UNWANTED) -= 1;
        NONE_UNWANTED.notify_all();
        assert_eq!(gone, [false, false]);
        assert!(wait_for_unwanted(Duration::from_secs(60)));
    }

    fn order() -> Order {
        let (place, marker) = (Place::new("/"), Marker::new());
        let launch = Launch::of_nothing(&place, &marker);
        Order { frame: make_ready(&launch, None).unwrap(), stdin: Stdin::none(), stdout_closed: false, marker }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_is_no_more() {
        for is_begun in [false, true] {
            let desk = Arc::new(Desk::unmanned(Weak::new()).unwrap());
            let number = desk.give(order());
            if is_begun {
                lock(&desk.board).errand = Errand::Begun;
            }
            desk.leaves();
            assert!(matches!(desk.started(), Some(Err(_))), "{is_begun}");
            assert_eq!(desk.take_done(), (Some(number), true));
            assert!(desk.is_left());
            // Once more, when there is nothing to do, nothing is said.
            desk.leaves();
            assert_eq!(desk.take_done(), (None, true));
        }
    }

    #[test]
    fn what_is_said_is_taken_to_the_last() {
        let pipe = Pipe::new(PipeFlags::NONBLOCK).unwrap();
        assert_eq!(pipe.take_all(), (None, true));
        (0..11).for_each(|byte| pipe.put(byte));
        // There may be more if as many are there as are taken at once.
        assert_eq!([pipe.take_all(), pipe.take_all()], [(Some(7), false), (Some(10), true)]);
        assert!(!pipe.take());
    }
}
