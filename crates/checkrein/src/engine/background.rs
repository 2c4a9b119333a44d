//! Background hooks: the fire does not wait for them.
//!
//! They run on a separate runtime that the engine creates with the first of them. So the host's runtime can neither stop nor
//! starve them, and they do not slow the host down. A background hook never affects a verdict.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use checkrein_core::{Event, Failure, FailureKind, HookInfo, HookRecord, Opinion, Panic};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::{Id, JoinSet};
use tracing::warn;

use super::Shared;
use super::execute::{self, Permit};
use super::hooks::Claim;
use crate::handler::EventView;
use crate::sync::{get_mut, lock};

/// Maximum number of completions in the buffer of a slow receiver.
const COMPLETION_BUFFER: usize = 256;

/// Maximum wait for hooks that were cancelled.
const ABORT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Background {
    at_once: Arc<Semaphore>,
    /// Maximum number of hooks that run or are queued.
    max_tasks: usize,
    state: Mutex<State>,
    channel: Arc<CompletionChannel>,
    /// Held during a shutdown: a second one waits for the first.
    shutting_down: tokio::sync::Mutex<()>,
}

struct State {
    closed: bool,
    runtime: Option<Runtime>,
    tasks: JoinSet<()>,
    running: HashMap<Id, (Arc<HookInfo>, Arc<EventView>)>,
}

impl State {
    /// Removes finished tasks.
    fn forget_done(&mut self) {
        while let Some(done) = self.tasks.try_join_next_with_id() {
            self.running.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }
}

/// Sender of completions. The channel is created with the first subscriber: it takes more memory than the rest of the engine.
#[derive(Default)]
struct CompletionChannel(Mutex<Subscribers>);

#[derive(Default)]
enum Subscribers {
    #[default]
    NotYet,
    Channel(broadcast::Sender<Completion>),
    /// After a shutdown.
    Closed,
}

impl CompletionChannel {
    fn subscribe(&self) -> Option<broadcast::Receiver<Completion>> {
        let mut subscribers = self.lock();
        match &*subscribers {
            Subscribers::Closed => None,
            Subscribers::Channel(sender) => Some(sender.subscribe()),
            Subscribers::NotYet => {
                let (sender, receiver) = broadcast::channel(COMPLETION_BUFFER);
                *subscribers = Subscribers::Channel(sender);
                Some(receiver)
            }
        }
    }

    fn send(&self, completion: Completion) {
        if let Subscribers::Channel(sender) = &*self.lock() {
            // Fails if all receivers were dropped.
            let _ = sender.send(completion);
        }
    }

    fn close(&self) {
        *self.lock() = Subscribers::Closed;
    }

    fn lock(&self) -> MutexGuard<'_, Subscribers> {
        lock(&self.0)
    }
}

/// Result of a background hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Completion {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// The event, as the hook saw it.
    pub event: Arc<Event>,
    /// The opinion, or the failure. A decision has no effect; the host can pass context on to the model later.
    pub result: Result<Opinion, Failure>,
    /// Record of the run. `None` if it was cancelled.
    pub record: Option<HookRecord>,
    /// Panics of observers.
    pub broken_observers: Vec<Panic>,
}

/// Receiver of results of background hooks. Created by [`Engine::completions`](super::Engine::completions).
#[derive(Debug)]
pub struct Completions {
    receiver: Option<broadcast::Receiver<Completion>>,
    lost: u64,
}

impl Completions {
    /// Waits for the next completion. Returns `None` after a shutdown.
    ///
    /// The buffer holds 256 completions. Older ones are [lost](Self::lost).
    pub async fn next(&mut self) -> Option<Completion> {
        loop {
            match self.receiver.as_mut()?.recv().await {
                Ok(completion) => return Some(completion),
                Err(broadcast::error::RecvError::Lagged(lost)) => {
                    self.lost += lost;
                    warn!(name: "checkrein.completions.lost", lost, "the receiver of completions is too slow");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Number of completions that were lost because the receiver was too slow.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

/// Numbers of background hooks at a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Hooks that finished in time.
    pub finished: usize,
    /// Hooks that were cancelled.
    pub ended: usize,
}

impl Background {
    pub(super) fn new(at_once: usize, max_queued: usize) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS))),
            max_tasks: max_queued.saturating_add(at_once),
            state: Mutex::new(State { closed: false, runtime: None, tasks: JoinSet::new(), running: HashMap::new() }),
            channel: Arc::default(),
            shutting_down: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn completions(&self) -> Completions {
        Completions { receiver: self.channel.subscribe(), lost: 0 }
    }

    /// Starts a hook and returns immediately.
    ///
    /// # Errors
    /// The reason why it cannot be started.
    pub(super) fn start(&self, shared: &Arc<Shared>, claim: Claim, view: &Arc<EventView>) -> Result<(), String> {
        let mut state = self.lock();
        if state.closed {
            return Err("the engine is shutting down".to_owned());
        }
        state.forget_done();
        if state.tasks.len() >= self.max_tasks {
            return Err(format!("too many background hooks: {} are running or queued", state.tasks.len()));
        }
        let handle = match &state.runtime {
            Some(runtime) => runtime.handle().clone(),
            None => {
                let new = Builder::new_multi_thread().worker_threads(1).thread_name("checkrein").enable_all().build();
                let new = new.map_err(|error| format!("cannot create a runtime for background hooks: {error}"))?;
                state.runtime.insert(new).handle().clone()
            }
        };
        let (at_once, channel) = (Arc::clone(&self.at_once), Arc::clone(&self.channel));
        let info = Arc::clone(&claim.hook.spec.info);
        let (shared, seen) = (Arc::downgrade(shared), Arc::clone(view));
        let task = state.tasks.spawn_on(
            async move {
                let _turn = at_once.acquire().await;
                // All engines were dropped.
                let Some(shared) = shared.upgrade() else { return };
                let done = execute::run(&shared, &claim.hook, &seen, Permit::Have, true).await;
                let hook = Arc::clone(&claim.hook.spec.info);
                claim.settle(&done.result);
                let event = Arc::clone(&seen.event);
                let (result, record) = (done.result, done.record);
                let broken_observers = done.broken_observers;
                // The result of a dry run goes only to observers.
                if !hook.dry_run {
                    channel.send(Completion { hook, event, result, record, broken_observers });
                }
            },
            &handle,
        );
        state.running.insert(task.id(), (info, Arc::clone(view)));
        Ok(())
    }

    pub(super) async fn shutdown(&self, timeout: Duration) -> ShutdownReport {
        let _only = self.shutting_down.lock().await;
        let mut guard = ShutdownGuard::start(self);
        let State { tasks, running, .. } = &mut guard.state;
        let mut finished = 0;
        let wait = async {
            while let Some(done) = tasks.join_next_with_id().await {
                finished += 1;
                running.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
            }
        };
        let _ = tokio::time::timeout(timeout, wait).await;
        let ended = tasks.len();
        tasks.abort_all();
        // Dropping their futures ends the processes that they started.
        let _ = tokio::time::timeout(ABORT_TIMEOUT, async { while tasks.join_next().await.is_some() {} }).await;
        // Processes that are slow to die, including those of dropped fires. A thread is needed only if there are any.
        if !checkrein_process::reap_dropped(Duration::ZERO) {
            let _ = tokio::task::spawn_blocking(|| checkrein_process::reap_dropped(ABORT_TIMEOUT)).await;
        }
        for (hook, view) in std::mem::take(running).into_values() {
            let result = Err(Failure::new(FailureKind::Cancelled, "cancelled because the engine shut down"));
            let event = Arc::clone(&view.event);
            self.channel.send(Completion { hook, event, result, record: None, broken_observers: Vec::new() });
        }
        if let Some(runtime) = guard.state.runtime.take() {
            runtime.shutdown_background();
        }
        self.channel.close();
        ShutdownReport { finished, ended }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// State that a shutdown works on. Dropping the guard puts the state back for the next shutdown.
struct ShutdownGuard<'a> {
    background: &'a Background,
    state: State,
}

impl<'a> ShutdownGuard<'a> {
    fn start(background: &'a Background) -> Self {
        let empty = State { closed: true, runtime: None, tasks: JoinSet::new(), running: HashMap::new() };
        let mut state = std::mem::replace(&mut *background.lock(), empty);
        state.forget_done();
        Self { background, state }
    }
}

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.background.lock();
        // No hook starts after `closed`, so the state in the mutex is still empty.
        std::mem::swap(&mut *state, &mut self.state);
        state.closed = true;
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let state = get_mut(&mut self.state);
        state.tasks.abort_all();
        // The last engine may be dropped inside a runtime, where blocking on another one is not allowed.
        if let Some(runtime) = state.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
