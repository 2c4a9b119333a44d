//! Reloads when files change.
//!
//! One thread waits for changes at the paths that matter. When they have been quiet for a moment it reads all files again
//! and puts the hooks in place. Where the system cannot tell of changes, it looks every now and then.

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

/// Editors write a file in several steps, and people save several files.
const QUIET: Duration = Duration::from_millis(50);

/// However busy a directory is, changes count after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often files are looked at where the system cannot tell of changes.
const POLL: Duration = Duration::from_secs(1);

/// Files change, and what is followed with them: after so many rounds without an end, the next change goes on.
const ROUNDS: usize = 8;

/// Keeps an engine's hooks as its files have them. Stops when it is dropped.
#[must_use = "files are followed only as long as this lives"]
pub struct Watch {
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(shared: &Arc<Shared>) -> Self {
        // One that is waiting stands for all.
        let (wake, woken) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let mut follower = Follower::new(wake.clone());
        // Files may have changed since they were read; what happens from here on is told.
        settle(shared, &mut follower);
        let watcher = Watcher { shared: Arc::downgrade(shared), follower, woken, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("checkrein-watch".to_owned()).spawn(move || watcher.run());
        if let Err(error) = &thread {
            warn!(name: "checkrein.watch", "files are not followed: {error}");
        }
        Self { stop, wake, thread: thread.ok() }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
        // An observer may drop it, on its own thread.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
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
    /// The engine's end is this one's end.
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

    /// Waits until something has changed and it is quiet again. False: nobody wants to know any more.
    fn wait(&self) -> bool {
        let is_over = || self.stop.load(Ordering::Acquire) || self.shared.strong_count() == 0;
        wait_for_change(&self.woken, self.follower.is_told(), is_over)
    }
}

/// Waits for a change, and then until no other has come for [`QUIET`], at most for [`PATIENCE`]. Without notifications of
/// the system (`is_notified`), returns after [`POLL`]. Returns `false` if `is_over` holds: the watch has ended.
fn wait_for_change(woken: &Receiver<()>, is_notified: bool, is_over: impl Fn() -> bool) -> bool {
    if is_notified {
        let _ = woken.recv();
    } else {
        let _ = woken.recv_timeout(POLL);
    }
    let start = Instant::now();
    while !is_over() && start.elapsed() < PATIENCE && woken.recv_timeout(QUIET).is_ok() {}
    !is_over()
}

/// Reads files and follows what they lead to, until both agree: what appears between reading and following would be missed.
fn settle(shared: &Shared, follower: &mut Follower) {
    for _ in 0..ROUNDS {
        let news = follower.follow(&shared.files.followed());
        let unchanged = shared.reload().unchanged;
        if !news && unchanged {
            return;
        }
    }
}
