//! One run of one hook, under its limits.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use checkrein_core::{
    Captured, Failure, FailureKind, HookInfo, HookRecord, Opinion, Panic, ProcessExit, Reply, catch_panic,
};
use tracing::{Instrument, debug, debug_span, warn};

use super::Shared;
use super::hooks::LoadedHook;
use super::spill;
use crate::handler::{Call, EventView, Handler};
use crate::observer::{HookRun, Observer};

/// What a run came to.
pub(super) struct RunResult {
    pub(super) result: Result<Opinion, Failure>,
    /// Made only if somebody wants it.
    pub(super) record: Option<HookRecord>,
    /// Processes that the hook has started and left running.
    pub(super) left_running: Vec<String>,
    /// Observers that panicked.
    pub(super) broken_observers: Vec<Panic>,
}

/// What handlers gave back that records keep.
#[derive(Default)]
struct Captures {
    /// Whether there will be a record; without one, nobody reads what was printed.
    is_kept: bool,
    exit_code: Option<i32>,
    status: Option<u16>,
    stdout: Option<Captured>,
    stderr: Option<Captured>,
    left_running: Vec<String>,
}

/// How much of each stream a record keeps.
const KEPT: usize = 16 * 1024;

/// Runs a hook. Whatever panics on the way is a failure of the hook.
pub(super) async fn run(
    shared: &Shared,
    hook: &LoadedHook,
    moment: &Arc<EventView>,
    turns: Permit,
    wants_record: bool,
) -> RunResult {
    let info = &hook.spec.info;
    let handler = hook.spec.handler.kind().name();
    let span = debug_span!("checkrein.hook", hook = %info.id, handler = %handler, event = %moment.event.kind());
    async {
        let mut watch = ObserverGuard::start(shared, hook, moment);
        let mut seen = Captures { is_kept: wants_record || watch.is_watched(), ..Captures::default() };
        let result = match &hook.handler {
            Ok(handler) => {
                let call = call(shared, hook, &**handler, moment, turns, &mut seen);
                let called = CatchPanic::new(call).await;
                called.unwrap_or_else(|panic| Err(panic.into()))
            }
            Err(failure) => Err(failure.clone()),
        };
        // Only the host can give up on an event; a handler that did has failed.
        let result = result.map_err(|failure| match failure.kind {
            FailureKind::Cancelled => Failure::new(FailureKind::Error, failure.message),
            _ => shared.rules.with_effect(failure, &hook.spec, &moment.event.kind()),
        });
        let took = watch.begun.elapsed();
        match &result {
            Ok(opinion) => {
                debug!(name: "checkrein.hook.finished", decision = %opinion.decision(), took_us = took.as_micros() as u64);
            }
            // What the hook complained about may hold secrets; it is in the record.
            Err(failure) => warn!(name: "checkrein.hook.failed", kind = %failure.kind, "{info} failed"),
        }
        let mut record = seen.is_kept.then(|| record(info, handler, &result, &seen, took));
        if let (Some(record), Ok(handler)) = (&mut record, &hook.handler) {
            record.held_back = handler.withheld_env().to_vec();
        }
        if let Some(record) = &record {
            watch.finish(record, took);
        }
        let broken_observers = std::mem::take(&mut watch.broken);
        RunResult { result, record, left_running: seen.left_running, broken_observers }
    }
    .instrument(span)
    .await
}

/// Tells observers of a run, also of the end of one that was dropped on the way.
struct ObserverGuard<'a> {
    observers: &'a [Arc<dyn Observer>],
    /// None: nobody watches, or the end has been told.
    run: Option<HookRun>,
    begun: Instant,
    broken: Vec<Panic>,
}

impl<'a> ObserverGuard<'a> {
    fn start(shared: &'a Shared, hook: &LoadedHook, moment: &EventView) -> Self {
        let number = shared.next_run.fetch_add(1, Ordering::Relaxed);
        let run = (!shared.observers.is_empty()).then(|| HookRun {
            number,
            kind: moment.event.kind(),
            subject: moment.event.subject().map(Into::into),
            hook: Arc::clone(&hook.spec.info),
            handler: hook.spec.handler.kind().name().to_owned(),
            background: hook.spec.background,
        });
        let mut watch = Self { observers: &shared.observers, run, begun: Instant::now(), broken: Vec::new() };
        watch.tell(Observer::started);
        watch
    }

    fn is_watched(&self) -> bool {
        self.run.is_some()
    }

    fn finish(&mut self, record: &HookRecord, took: Duration) {
        self.tell(|observer, run| observer.finished(run, record, took));
        self.run = None;
    }

    fn tell(&mut self, what: impl Fn(&dyn Observer, &HookRun)) {
        if let Some(run) = &self.run {
            self.broken
                .extend(self.observers.iter().filter_map(|observer| catch_panic(|| what(&**observer, run)).err()));
        }
    }
}

impl Drop for ObserverGuard<'_> {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            let took = self.begun.elapsed();
            let given_up = Failure::new(FailureKind::Cancelled, "the host gave up on it");
            let record = record(&run.hook, &run.handler, &Err(given_up), &Captures::default(), took);
            self.finish(&record, took);
        }
    }
}

/// Whether a run waits until it is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    /// It does, if its handler is limited.
    Wait,
    /// Its turn has come already.
    Have,
}

/// Calls the handler and reads what it gives back.
async fn call(
    shared: &Shared,
    hook: &LoadedHook,
    handler: &dyn Handler,
    moment: &Arc<EventView>,
    turns: Permit,
    seen: &mut Captures,
) -> Result<Opinion, Failure> {
    // Waiting for a turn is not the hook's fault, so its time starts afterwards.
    let limited = turns == Permit::Wait && handler.is_limited();
    let _turn = if limited { shared.running.acquire().await.ok() } else { None };
    let timeout = hook.spec.timeout_for(&moment.event.kind());
    let deadline = Instant::now() + timeout.min(FOREVER);
    let last = deadline + handler.shutdown_grace().min(FOREVER);
    let call = Call {
        hook: Arc::clone(&hook.spec.info),
        deadline,
        dialect: hook.spec.dialect,
        stdout_closed: false,
        moment: Arc::clone(moment),
    };
    let too_long = || Failure::new(FailureKind::Timeout, format!("took longer than {timeout:?} and was ended"));
    let reply = match tokio::time::timeout_at(last.into(), handler.call(&call)).await {
        // A handler that blocks its thread cannot be ended, but what it says too late does not count.
        _ if Instant::now() > last => return Err(too_long()),
        Ok(Err(failure)) if failure.kind == FailureKind::Timeout => return Err(too_long()),
        Ok(reply) => reply?,
        Err(_) => return Err(too_long()),
    };
    match &reply {
        Reply::Process(process) => {
            seen.exit_code = match process.exit {
                ProcessExit::Code(code) => Some(code),
                ProcessExit::Signal(_) => None,
            };
            seen.stdout = seen.is_kept.then(|| process.stdout.clone());
            seen.stderr = seen.is_kept.then(|| process.stderr.clone());
            seen.left_running.clone_from(&process.left_running);
            if process.timed_out {
                return Err(too_long());
            }
        }
        Reply::Http(http) => {
            seen.status = Some(http.status);
            seen.stdout = seen.is_kept.then(|| http.body.clone());
        }
        Reply::Opinion(_) => {}
    }
    let opinion = hook.spec.dialect.read(&moment.event, reply, hook.spec.strict)?;
    Ok(spill::shortened(opinion, hook.spec.dialect))
}

/// As good as never, and small enough to be added to any clock.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

fn record(
    hook: &HookInfo,
    handler: &str,
    result: &Result<Opinion, Failure>,
    seen: &Captures,
    took: Duration,
) -> HookRecord {
    let mut record = match result {
        Ok(opinion) => HookRecord::of_opinion(hook, handler, opinion),
        Err(failure) => HookRecord::of_failure(hook, handler, failure),
    };
    record.left_running.clone_from(&seen.left_running);
    let kept = |captured: &Captured| {
        let shown = captured.bytes.len().min(KEPT);
        String::from_utf8_lossy(&captured.bytes[..shown]).into_owned()
    };
    let cut = |captured: &Option<Captured>| {
        captured.as_ref().filter(|captured| captured.is_cut() || captured.bytes.len() > KEPT).map(|cut| cut.total)
    };
    record.stdout_bytes = cut(&seen.stdout);
    record.stderr_bytes = cut(&seen.stderr);
    record.truncated = record.stdout_bytes.is_some() || record.stderr_bytes.is_some();
    record.exit_code = seen.exit_code;
    record.status = seen.status;
    record.duration_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    record.stdout = seen.stdout.as_ref().map(kept);
    record.stderr = seen.stderr.as_ref().map(kept);
    record
}

/// A future whose panics are told, also those when it goes.
struct CatchPanic<F>(Option<Pin<Box<F>>>);

impl<F: Future> CatchPanic<F> {
    fn new(future: F) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else {
            return Poll::Pending;
        };
        // After a panic the future is not polled again, so nobody sees what it left half done.
        let polled = match catch_panic(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        let gone = catch_panic(|| drop(self.0.take()));
        Poll::Ready(gone.and(polled))
    }
}

impl<F> Drop for CatchPanic<F> {
    fn drop(&mut self) {
        let _ = catch_panic(|| drop(self.0.take()));
    }
}
