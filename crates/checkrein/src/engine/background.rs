//! Hooks that nobody waits for.
//!
//! They run on a runtime of the engine's own, made when the first of them starts: what the host does with its runtimes
//! neither stops nor starves them, and they do not slow the host down.

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

/// How many completions are kept for a receiver that is slow.
const KEPT: usize = 256;

/// How long the end of hooks is waited for once they have been told to end.
const ENDING: Duration = Duration::from_secs(5);

pub(super) struct Background {
    at_once: Arc<Semaphore>,
    /// How many may run and wait.
    most: usize,
    state: Mutex<State>,
    outlet: Arc<CompletionChannel>,
    /// Held by whoever shuts down: a second one waits for the first.
    shutting_down: tokio::sync::Mutex<()>,
}

struct State {
    closed: bool,
    runtime: Option<Runtime>,
    tasks: JoinSet<()>,
    running: HashMap<Id, (Arc<HookInfo>, Arc<EventView>)>,
}

impl State {
    /// Those that are done need no longer be held.
    fn forget_done(&mut self) {
        while let Some(done) = self.tasks.try_join_next_with_id() {
            self.running.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }
}

/// Where completions go. There is a channel only if somebody has asked for them: it takes more memory than all the rest.
#[derive(Default)]
struct CompletionChannel(Mutex<Subscribers>);

#[derive(Default)]
enum Subscribers {
    #[default]
    Nobody,
    Somebody(broadcast::Sender<Completion>),
    /// There will be no more.
    Over,
}

impl CompletionChannel {
    fn subscribe(&self) -> Option<broadcast::Receiver<Completion>> {
        let mut asked = self.lock();
        match &*asked {
            Subscribers::Over => None,
            Subscribers::Somebody(sender) => Some(sender.subscribe()),
            Subscribers::Nobody => {
                let (sender, receiver) = broadcast::channel(KEPT);
                *asked = Subscribers::Somebody(sender);
                Some(receiver)
            }
        }
    }

    fn send(&self, completion: Completion) {
        if let Subscribers::Somebody(sender) = &*self.lock() {
            // All who asked may be gone by now.
            let _ = sender.send(completion);
        }
    }

    fn close(&self) {
        *self.lock() = Subscribers::Over;
    }

    fn lock(&self) -> MutexGuard<'_, Subscribers> {
        lock(&self.0)
    }
}

/// What a hook in the background came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Completion {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// The event, as the hook saw it.
    pub event: Arc<Event>,
    /// What it said, or why it could not. Its decision has no effect; its context may be told to the model later.
    pub result: Result<Opinion, Failure>,
    /// What happened, if it ran to its end.
    pub record: Option<HookRecord>,
    /// Panics of observers that were told of it.
    pub broken_observers: Vec<Panic>,
}

/// Completions of hooks in the background, as they come. Made by [`Engine::completions`](super::Engine::completions).
#[derive(Debug)]
pub struct Completions {
    receiver: Option<broadcast::Receiver<Completion>>,
    lost: u64,
}

impl Completions {
    /// The next one; `None` after a shutdown, when there can be no more. The last 256 are kept for whoever is slow to ask; those
    /// before them are [lost](Self::lost).
    pub async fn next(&mut self) -> Option<Completion> {
        loop {
            match self.receiver.as_mut()?.recv().await {
                Ok(completion) => return Some(completion),
                Err(broadcast::error::RecvError::Lagged(lost)) => {
                    self.lost += lost;
                    warn!(name: "checkrein.completions.lost", lost, "completions were not asked for in time");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// How many were lost by now, since they were not asked for in time.
    pub fn lost(&self) -> u64 {
        self.lost
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
            at_once: Arc::new(Semaphore::new(at_once.min(Semaphore::MAX_PERMITS))),
            most: most_waiting.saturating_add(at_once),
            state: Mutex::new(State { closed: false, runtime: None, tasks: JoinSet::new(), running: HashMap::new() }),
            outlet: Arc::default(),
            shutting_down: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn completions(&self) -> Completions {
        Completions { receiver: self.outlet.subscribe(), lost: 0 }
    }

    /// Starts a hook and comes back at once. If it cannot be started: why.
    pub(super) fn start(&self, shared: &Arc<Shared>, claim: Claim, moment: &Arc<EventView>) -> Result<(), String> {
        let mut state = self.lock();
        if state.closed {
            return Err("the engine is shutting down".to_owned());
        }
        state.forget_done();
        if state.tasks.len() >= self.most {
            return Err("too many hooks wait in the background".to_owned());
        }
        let handle = match &state.runtime {
            Some(runtime) => runtime.handle().clone(),
            None => {
                let made = Builder::new_multi_thread().worker_threads(1).thread_name("checkrein").enable_all().build();
                let made = made.map_err(|error| format!("no runtime can be made for it: {error}"))?;
                state.runtime.insert(made).handle().clone()
            }
        };
        let (at_once, outlet) = (Arc::clone(&self.at_once), Arc::clone(&self.outlet));
        let info = Arc::clone(&claim.hook.spec.info);
        let (shared, seen) = (Arc::downgrade(shared), Arc::clone(moment));
        let task = state.tasks.spawn_on(
            async move {
                let _turn = at_once.acquire().await;
                // Nobody is left to run it for.
                let Some(shared) = shared.upgrade() else { return };
                let done = execute::run(&shared, &claim.hook, &seen, Permit::Have, true).await;
                let hook = Arc::clone(&claim.hook.spec.info);
                if done.result.is_ok() {
                    claim.spend();
                }
                let event = Arc::clone(&seen.event);
                let (result, record) = (done.result, done.record);
                let broken_observers = done.broken_observers;
                // The result of a dry run goes only to observers.
                if !hook.dry_run {
                    outlet.send(Completion { hook, event, result, record, broken_observers });
                }
            },
            &handle,
        );
        state.running.insert(task.id(), (info, Arc::clone(moment)));
        Ok(())
    }

    pub(super) async fn shutdown(&self, patience: Duration) -> ShutdownReport {
        let _alone = self.shutting_down.lock().await;
        let mut leaving = ShutdownGuard::start(self);
        let State { tasks, running, .. } = &mut leaving.state;
        let mut finished = 0;
        let wait = async {
            while let Some(done) = tasks.join_next_with_id().await {
                finished += 1;
                running.remove(&done.map_or_else(|error| error.id(), |(id, ())| id));
            }
        };
        let _ = tokio::time::timeout(patience, wait).await;
        let ended = tasks.len();
        tasks.abort_all();
        // When their futures are gone, whatever they started has been ended.
        let _ = tokio::time::timeout(ENDING, async { while tasks.join_next().await.is_some() {} }).await;
        // What is slow to die, also of fires that were dropped. Mostly there is nothing, and then no thread is needed.
        if !checkrein_process::reap_dropped(Duration::ZERO) {
            let _ = tokio::task::spawn_blocking(|| checkrein_process::reap_dropped(ENDING)).await;
        }
        for (hook, moment) in std::mem::take(running).into_values() {
            let result = Err(Failure::new(FailureKind::Cancelled, "ended by the shutdown"));
            let event = Arc::clone(&moment.event);
            self.outlet.send(Completion { hook, event, result, record: None, broken_observers: Vec::new() });
        }
        if let Some(runtime) = leaving.state.runtime.take() {
            runtime.shutdown_background();
        }
        self.outlet.close();
        ShutdownReport { finished, ended }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// What a shutdown has taken out to work on. If its future is dropped, all of it is put back, for the next one.
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
        // Nothing is started any more, so what is there now came from here.
        std::mem::swap(&mut *state, &mut self.state);
        state.closed = true;
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let state = get_mut(&mut self.state);
        state.tasks.abort_all();
        // The last engine may go inside of a runtime, where waiting for another one is not allowed.
        if let Some(runtime) = state.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
