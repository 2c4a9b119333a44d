//! Tasks on the threads of a runtime that end immediately when their owner is dropped.
//!
//! Spawning a process blocks its thread for a while, so parallel hooks start on several threads. An aborted tokio task ends
//! only when its runtime polls it, and a runtime may be blocked. So the owner shares each future: dropping
//! [`AbortOnDropSet`] drops all of them at once.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::task::JoinSet;
use tracing::Instrument;

use crate::sync::lock;

type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(super) struct AbortOnDropSet<T> {
    tasks: JoinSet<Option<T>>,
    futures: Vec<Arc<Mutex<Option<Task<T>>>>>,
}

impl<T: Send + 'static> AbortOnDropSet<T> {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), futures: Vec::new() }
    }

    pub(super) fn start(&mut self, future: impl Future<Output = T> + Send + 'static) {
        let future: Arc<Mutex<Option<Task<T>>>> = Arc::new(Mutex::new(Some(Box::pin(future))));
        self.futures.push(Arc::clone(&future));
        self.tasks.spawn(SharedTask(future).in_current_span());
    }

    /// Waits for the next output. Returns `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<T> {
        loop {
            // The futures never panic: `execute::run` catches panics.
            if let Ok(Some(output)) = self.tasks.join_next().await? {
                return Some(output);
            }
        }
    }
}

impl<T> Drop for AbortOnDropSet<T> {
    fn drop(&mut self) {
        for future in &self.futures {
            // Waits for a poll in progress, which is short. The future is dropped after the lock is released.
            let future = lock(future).take();
            drop(future);
        }
    }
}

struct SharedTask<T>(Arc<Mutex<Option<Task<T>>>>);

impl<T> Future for SharedTask<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut shared = lock(&self.0);
        let Some(future) = shared.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = future.as_mut().poll(cx).map(Some);
        if polled.is_ready() {
            *shared = None;
        }
        polled
    }
}
