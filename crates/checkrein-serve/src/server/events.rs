//! [`Events`]: the queue between connections and the store.
//!
//! The store redacts secrets and writes to disk, so a thread does it. The memory of all events in the queue is bounded: if the
//! thread is behind, connections wait, and `checkrein hook` gives up after its 20 ms. The decision log has these events too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::telemetry::Telemetry;
use crate::protocol::MAX_FRAME;
use crate::store::{PushedEvent, Store};

/// Memory of all frames that are read or wait, in bytes.
const MEMORY: usize = 4 * MAX_FRAME;

/// Unit of [`MEMORY`] in the semaphore, in bytes.
const UNIT: usize = 1024;

/// Number of events that wait.
const QUEUE: usize = 1024;

/// An event, with the memory that it has reserved.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) event: PushedEvent,
    pub(super) traceparent: Option<String>,
    pub(super) _memory: OwnedSemaphorePermit,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Events {
    sender: mpsc::Sender<Arrived>,
    memory: Arc<Semaphore>,
    counts: Arc<Counts>,
}

/// Numbers of events.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) received: AtomicU64,
    pub(super) invalid: AtomicU64,
}

impl Events {
    /// Starts the thread. It ends after the queue is dropped.
    pub(super) fn start(store: Store, telemetry: Option<Arc<Telemetry>>) -> std::io::Result<Self> {
        let (sender, mut receiver) = mpsc::channel::<Arrived>(QUEUE);
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        std::thread::Builder::new().name("events".to_owned()).spawn(move || {
            while let Some(arrived) = receiver.blocking_recv() {
                let stored = checkrein_core::catch_panic(|| store.insert(&arrived.event));
                let is_stored = matches!(stored, Ok(Ok(())));
                let count = if is_stored { &counted.received } else { &counted.invalid };
                count.fetch_add(1, Ordering::Relaxed);
                if let Some(telemetry) = telemetry.as_ref().filter(|_| is_stored) {
                    let (event, parent) = (&arrived.event, arrived.traceparent.as_deref());
                    let _ = checkrein_core::catch_panic(|| telemetry.line(&event.line, event.record.as_ref(), parent));
                }
            }
        })?;
        Ok(Self { sender, memory: Arc::new(Semaphore::new(MEMORY / UNIT)), counts })
    }

    /// Waits until memory for a frame is free.
    pub(super) async fn reserve(&self, length: usize) -> OwnedSemaphorePermit {
        let units = u32::try_from(length.div_ceil(UNIT).max(1)).unwrap_or(u32::MAX);
        loop {
            // The semaphore is never closed.
            if let Ok(permit) = Arc::clone(&self.memory).acquire_many_owned(units).await {
                return permit;
            }
        }
    }

    /// Adds an event. Waits while the queue is full.
    pub(super) async fn insert(&self, arrived: Arrived) {
        // The thread ends only with this queue.
        let _ = self.sender.send(arrived).await;
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}
