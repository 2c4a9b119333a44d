//! Reaps the processes of dropped runs after KILL.
//!
//! Drop cannot wait, and the runtime may have ended. So a thread reaps them, which exists only while there are any.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::exit_wait::take_exit;
use super::process_tree::ProcessTree;

/// Maximum time to signal descendants that do not exit after KILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

struct Orphan {
    tree: ProcessTree,
    since: Instant,
}

struct Orphans {
    new: Vec<Orphan>,
    /// `true` while the thread exists.
    running: bool,
}

static ORPHANS: Mutex<Orphans> = Mutex::new(Orphans { new: Vec::new(), running: false });
static IDLE: Condvar = Condvar::new();

/// Waits until all processes are reaped. Returns `false` at the timeout.
pub(crate) fn wait(timeout: Duration) -> bool {
    let orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    let busy = |orphans: &mut Orphans| orphans.running;
    let (orphans, _) = IDLE.wait_timeout_while(orphans, timeout, busy).unwrap_or_else(PoisonError::into_inner);
    !orphans.running
}

/// Takes over a process tree after KILL.
pub(super) fn adopt(tree: ProcessTree) {
    let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    orphans.new.push(Orphan { tree, since: Instant::now() });
    if !orphans.running {
        // If the thread cannot be created, the next drop tries again.
        orphans.running = thread::Builder::new().name("checkrein-reaper".into()).spawn(reap_all).is_ok();
    }
}

fn reap_all() {
    let mut pending = Vec::new();
    let mut pause = FIRST_PAUSE;
    loop {
        pending.retain_mut(|orphan: &mut Orphan| !orphan.try_reap());
        {
            let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
            if !orphans.new.is_empty() {
                pause = FIRST_PAUSE;
                pending.append(&mut orphans.new);
            } else if pending.is_empty() {
                orphans.running = false;
                IDLE.notify_all();
                return;
            }
        }
        thread::sleep(pause);
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

impl Orphan {
    /// Sends KILL to living descendants, or reaps the first process. Returns `true` if it is reaped.
    fn try_reap(&mut self) -> bool {
        if ProcessTree::can_list() && self.since.elapsed() < KILL_TIMEOUT && !self.tree.confirm_gone() {
            self.tree.signal(Signal::KILL);
            return false;
        }
        // The first process is reaped last: until then its group id is not reused. An error means that it was already reaped.
        !matches!(take_exit(self.tree.leader()), Ok(None))
    }
}
