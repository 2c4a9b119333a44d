//! Hooks that nobody waits for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use checkrein_core::{Event, Failure, FailureKind, HookInfo, HookRecord, Opinion};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::JoinSet;
use tracing::warn;

use super::Shared;
use super::hooks::LoadedHook;
use super::run;
use crate::handler::Moment;

/// How many completions are kept for a receiver that is slow.
const KEPT: usize = 256;

pub(super) struct Background {
    at_once: Arc<Semaphore>,
    /// How many may wait for their turn, and how many do.
    most_waiting: usize,
    started: AtomicUsize,
    finished: Arc<AtomicUsize>,
    closed: AtomicBool,
    tasks: Mutex<JoinSet<()>>,
    completions: broadcast::Sender<Completion>,
}

/// What a hook in the background came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Completion {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// The event.
    pub event: Arc<Event>,
    /// What it said, or why it could not. Its decision has no effect; its context may be told to the model later.
    pub result: Result<Opinion, Failure>,
    /// What happened, if it ran.
    pub record: Option<HookRecord>,
}

/// Completions of hooks in the background, as they come. Made by [`Engine::completions`](super::Engine::completions).
#[derive(Debug)]
pub struct Completions(broadcast::Receiver<Completion>);

impl Completions {
    /// The next one; `None` when there can be no more. One that is not asked for in time is lost, as is said in the log.
    pub async fn next(&mut self) -> Option<Completion> {
        loop {
            match self.0.recv().await {
                Ok(completion) => return Some(completion),
                Err(broadcast::error::RecvError::Lagged(lost)) => {
                    warn!(name: "checkrein.completions.lost", lost, "completions of background hooks were not asked for in time");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// What became of hooks in the background at a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many have finished while it waited.
    pub finished: usize,
    /// How many were ended.
    pub ended: usize,
}

impl Background {
    pub(super) fn new(at_once: usize, most_waiting: usize) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(at_once)),
            most_waiting: most_waiting + at_once,
            started: AtomicUsize::new(0),
            finished: Arc::default(),
            closed: AtomicBool::new(false),
            tasks: Mutex::default(),
            completions: broadcast::channel(KEPT).0,
        }
    }

    pub(super) fn completions(&self) -> Completions {
        Completions(self.completions.subscribe())
    }

    /// Starts a hook and comes back at once.
    pub(super) fn start(&self, shared: &Arc<Shared>, hook: &Arc<LoadedHook>, event: &Event) {
        let refuse = |why: &str| {
            let failure = Failure::new(FailureKind::Spawn, why);
            warn!(name: "checkrein.background.refused", "{}: {why}", hook.spec.hook.info);
            let _ = self.completions.send(Completion {
                hook: Arc::clone(&hook.spec.hook.info),
                event: Arc::new(event.clone()),
                result: Err(failure),
                record: None,
            });
        };
        if self.closed.load(Ordering::Acquire) {
            return refuse("the engine is shutting down");
        }
        let unfinished = self.started.load(Ordering::Acquire) - self.finished.load(Ordering::Acquire);
        if unfinished >= self.most_waiting {
            return refuse("too many hooks wait in the background");
        }
        self.started.fetch_add(1, Ordering::AcqRel);
        let (at_once, finished) = (Arc::clone(&self.at_once), Finished(Arc::clone(&self.finished)));
        let completions = self.completions.clone();
        let (shared, hook) = (Arc::clone(shared), Arc::clone(hook));
        let moment = Arc::new(Moment::new(event.clone(), None));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that are done need no longer be held.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let _finished = finished;
            let _turn = at_once.acquire().await;
            let done = run::run(&shared, &hook, &moment).await;
            let _ = completions.send(Completion {
                hook: Arc::clone(&hook.spec.hook.info),
                event: Arc::new(moment.event.clone()),
                result: done.result,
                record: Some(done.record),
            });
        });
    }

    pub(super) async fn shutdown(&self, patience: Duration) -> ShutdownReport {
        self.closed.store(true, Ordering::Release);
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.try_join_next().is_some() {}
        let all = tasks.len();
        let wait = async { while tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(patience, wait).await;
        let ended = tasks.len();
        // Waits until their futures are dropped: then whatever they started has been ended.
        tasks.shutdown().await;
        ShutdownReport { finished: all - ended, ended }
    }
}

/// Counts when it goes, however the task ends.
struct Finished(Arc<AtomicUsize>);

impl Drop for Finished {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}
