//! Watch of any set of files, for hosts and `checkrein-tools`.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::follow::Follower;
use super::wait_for_change;
use crate::sync::lock;

/// Calls a function when watched paths may have changed. Stops when it is dropped.
#[must_use = "files are followed only as long as this lives"]
pub struct FileWatch {
    follower: Arc<Mutex<Follower>>,
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl FileWatch {
    /// Starts a watch without paths.
    ///
    /// The function is called on a separate thread, after a change and a quiet period. Without file notifications of the
    /// system, it is called once per polling interval.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(changed: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        // Capacity 1: one pending wake-up covers all changes before it is received.
        let (wake, woken) = sync_channel(1);
        let follower = Arc::new(Mutex::new(Follower::new(wake.clone())));
        let stop = Arc::new(AtomicBool::new(false));
        let waiter = Waiter { follower: Arc::clone(&follower), woken, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("checkrein-files".to_owned()).spawn(move || {
            while waiter.wait() {
                changed();
            }
        })?;
        Ok(Self { follower, stop, wake, thread: Some(thread) })
    }

    /// Replaces the watched paths. A last component `*` means every file of the directory.
    pub fn follow(&self, paths: &[PathBuf]) {
        lock(&self.follower).follow(paths);
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for FileWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileWatch").finish_non_exhaustive()
    }
}

struct Waiter {
    follower: Arc<Mutex<Follower>>,
    woken: Receiver<()>,
    stop: Arc<AtomicBool>,
}

impl Waiter {
    /// Waits until something may have changed. Returns `false` if the watch was dropped.
    fn wait(&self) -> bool {
        let is_notified = lock(&self.follower).is_notified();
        wait_for_change(&self.woken, is_notified, || self.stop.load(Ordering::Acquire))
    }
}
