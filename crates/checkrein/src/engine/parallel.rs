//! Work that is spread over the threads of a runtime, and still ends the moment that nobody waits for it.
//!
//! Starting a process blocks its thread for a while, so hooks that run side by side are started on several threads. A task
//! that is aborted goes only when its runtime gets to it, and a runtime may stand still. So the work itself stays within
//! reach of the one who waits: dropping [`AbortOnDropSet`] drops it there and then.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::task::JoinSet;
use tracing::Instrument;

use crate::sync::lock;

type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(super) struct AbortOnDropSet<T> {
    tasks: JoinSet<Option<T>>,
    works: Vec<Arc<Mutex<Option<Task<T>>>>>,
}

impl<T: Send + 'static> AbortOnDropSet<T> {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), works: Vec::new() }
    }

    pub(super) fn start(&mut self, work: impl Future<Output = T> + Send + 'static) {
        let work: Arc<Mutex<Option<Task<T>>>> = Arc::new(Mutex::new(Some(Box::pin(work))));
        self.works.push(Arc::clone(&work));
        self.tasks.spawn(SharedTask(work).in_current_span());
    }

    /// What the next one that is done came to; `None` when all are.
    pub(super) async fn next(&mut self) -> Option<T> {
        loop {
            // Work never panics: every run of a hook is shielded.
            if let Ok(Some(output)) = self.tasks.join_next().await? {
                return Some(output);
            }
        }
    }
}

impl<T> Drop for AbortOnDropSet<T> {
    fn drop(&mut self) {
        for work in &self.works {
            // If it is being polled right now, this waits for the end of the poll, which is short.
            let gone = lock(work).take();
            drop(gone);
        }
    }
}

struct SharedTask<T>(Arc<Mutex<Option<Task<T>>>>);

impl<T> Future for SharedTask<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut work = lock(&self.0);
        let Some(future) = work.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = future.as_mut().poll(cx).map(Some);
        if polled.is_ready() {
            *work = None;
        }
        polled
    }
}
