//! Reload when files change.
//!
//! One thread waits for changes of the watched paths. After a quiet period it reloads all files. If the system has no file
//! notifications, the thread polls.

mod files;
mod follow;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use files::FileWatch;
use follow::Follower;
use tracing::warn;

use super::Shared;

/// Quiet period before a reload: editors write a file in several steps, and users save several files.
const QUIET: Duration = Duration::from_millis(50);

/// Maximum wait for the quiet period.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Polling interval without file notifications.
const POLL: Duration = Duration::from_secs(1);

/// Maximum number of reloads in a row that change the set of watched paths. The next change continues from there.
const ROUNDS: usize = 8;

/// Reloads the hooks of an engine when its files change. Stops when it is dropped.
#[must_use = "files are followed only as long as this lives"]
pub struct Watch {
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(shared: &Arc<Shared>) -> Self {
        // Capacity 1: one pending wake-up covers all changes before it is received.
        let (wake, woken) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let mut follower = Follower::new(wake.clone());
        // Files may have changed since they were read. From here on, changes send notifications.
        settle(shared, &mut follower);
        let watcher = Watcher { shared: Arc::downgrade(shared), follower, woken, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("checkrein-watch".to_owned()).spawn(move || watcher.run());
        if let Err(error) = &thread {
            warn!(name: "checkrein.watch", "hook files are not watched: cannot start a thread: {error}");
        }
        Self { stop, wake, thread: thread.ok() }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
        // An observer can drop the watch on the watch's own thread, which cannot join itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

struct Watcher {
    /// Weak: the thread ends with the engine.
    shared: Weak<Shared>,
    follower: Follower,
    woken: Receiver<()>,
    stop: Arc<AtomicBool>,
}

impl Watcher {
    fn run(mut self) {
        while self.wait() {
            let Some(shared) = self.shared.upgrade() else { return };
            settle(&shared, &mut self.follower);
        }
    }

    /// Waits for a change and the quiet period. Returns `false` if the watch or the engine was dropped.
    fn wait(&self) -> bool {
        let is_over = || self.stop.load(Ordering::Acquire) || self.shared.strong_count() == 0;
        wait_for_change(&self.woken, self.follower.is_notified(), is_over)
    }
}

/// Waits for a change, and then until no other has come for [`QUIET`], at most for [`MAX_WAIT`]. Without notifications of
/// the system (`is_notified`), returns after [`POLL`]. Returns `false` if `is_over` holds: the watch has ended.
fn wait_for_change(woken: &Receiver<()>, is_notified: bool, is_over: impl Fn() -> bool) -> bool {
    if is_notified {
        let _ = woken.recv();
    } else {
        let _ = woken.recv_timeout(POLL);
    }
    let start = Instant::now();
    while !is_over() && start.elapsed() < MAX_WAIT && woken.recv_timeout(QUIET).is_ok() {}
    !is_over()
}

/// Reloads and updates the watched paths until both are stable. Otherwise a file that appears in between would be missed.
fn settle(shared: &Shared, follower: &mut Follower) {
    for _ in 0..ROUNDS {
        let has_new_directories = follower.follow(&shared.files.followed());
        let unchanged = shared.reload().unchanged;
        if !has_new_directories && unchanged {
            return;
        }
    }
}
