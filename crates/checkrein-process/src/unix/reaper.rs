//! Finishes what a dropped run has left: processes that were sent a KILL and need a moment to die.
//!
//! Dropping can't wait, and there may be no runtime any more that could. So a thread does it, which is there only as
//! long as there is something to do.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::exit_wait::take_exit;
use super::process_tree::ProcessTree;

/// How long processes that don't die of a KILL are looked after, beside the first.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

struct Orphan {
    family: ProcessTree,
    since: Instant,
}

struct Orphans {
    waiting: Vec<Orphan>,
    at_work: bool,
}

static ORPHANS: Mutex<Orphans> = Mutex::new(Orphans { waiting: Vec::new(), at_work: false });
static IDLE: Condvar = Condvar::new();

/// Waits until nothing is left to finish, or the time is over. Whether it is.
pub(crate) fn wait(patience: Duration) -> bool {
    let orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    let busy = |orphans: &mut Orphans| orphans.at_work;
    let (orphans, _) = IDLE.wait_timeout_while(orphans, patience, busy).unwrap_or_else(PoisonError::into_inner);
    !orphans.at_work
}

/// Takes over a family that has been sent a KILL.
pub(super) fn adopt(family: ProcessTree) {
    let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    orphans.waiting.push(Orphan { family, since: Instant::now() });
    if !orphans.at_work {
        // Without a thread, the next drop tries again.
        orphans.at_work = thread::Builder::new().name("checkrein-reaper".into()).spawn(work).is_ok();
    }
}

fn work() {
    let mut mine = Vec::new();
    let mut pause = FIRST_PAUSE;
    loop {
        mine.retain_mut(|orphan: &mut Orphan| !orphan.is_done());
        {
            let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
            if !orphans.waiting.is_empty() {
                pause = FIRST_PAUSE;
                mine.append(&mut orphans.waiting);
            } else if mine.is_empty() {
                orphans.at_work = false;
                IDLE.notify_all();
                return;
            }
        }
        thread::sleep(pause);
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

impl Orphan {
    fn is_done(&mut self) -> bool {
        if ProcessTree::can_list() && self.since.elapsed() < PATIENCE && !self.family.is_gone() {
            self.family.signal(Signal::KILL);
            return false;
        }
        // The first one's status last: until then its group is nobody else's. An error means that it is gone already.
        !matches!(take_exit(self.family.leader()), Ok(None))
    }
}
