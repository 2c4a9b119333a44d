//! Tells when files change, whatever they are for.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::follow::Follower;
use super::wait_for_change;
use crate::sync::lock;

/// Tells when something may have changed at paths that matter. Stops when it is dropped.
#[must_use = "files are followed only as long as this lives"]
pub struct FileWatch {
    follower: Arc<Mutex<Follower>>,
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

impl FileWatch {
    /// Calls the function on a thread of its own when something may have changed and it has been quiet for a moment. Where
    /// the system cannot tell of changes, it is called every now and then. Follows nothing yet.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(changed: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        // One that is waiting stands for all.
        let (wake, woken) = sync_channel(1);
        let follower = Arc::new(Mutex::new(Follower::new(wake.clone())));
        let stop = Arc::new(AtomicBool::new(false));
        let waits = Waits { follower: Arc::clone(&follower), woken, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("checkrein-files".to_owned()).spawn(move || {
            while waits.wait() {
                changed();
            }
        })?;
        Ok(Self { follower, stop, wake, thread: Some(thread) })
    }

    /// Follows these paths, in place of those before; a last part `*` stands for every file of a directory. Changes from
    /// here on are told.
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

struct Waits {
    follower: Arc<Mutex<Follower>>,
    woken: Receiver<()>,
    stop: Arc<AtomicBool>,
}

impl Waits {
    /// Waits until something may have changed. False: nobody wants to know any more.
    fn wait(&self) -> bool {
        let is_told = lock(&self.follower).is_told();
        wait_for_change(&self.woken, is_told, || self.stop.load(Ordering::Acquire))
    }
}
