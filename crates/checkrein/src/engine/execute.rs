//! One run of one hook, with its deadline and limits.
//!
//! The dispatcher and the background runner call [`run`]. A panic of a handler is a failure of its hook; it never reaches
//! the caller.

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

/// Result of a run.
pub(super) struct RunResult {
    pub(super) result: Result<Opinion, Failure>,
    /// Present only if a record is wanted.
    pub(super) record: Option<HookRecord>,
    /// Processes that the hook started and left running.
    pub(super) left_running: Vec<String>,
    /// Observers that panicked.
    pub(super) broken_observers: Vec<Panic>,
}

/// Parts of a reply for the record.
#[derive(Default)]
struct Captures {
    /// `true` if there will be a record. Otherwise output is not copied.
    is_kept: bool,
    exit_code: Option<i32>,
    status: Option<u16>,
    stdout: Option<Captured>,
    stderr: Option<Captured>,
    left_running: Vec<String>,
}

/// Maximum bytes of each stream in a record.
const MAX_RECORDED: usize = 16 * 1024;

/// Runs a hook. A panic is a failure of the hook.
pub(super) async fn run(
    shared: &Shared,
    hook: &LoadedHook,
    view: &Arc<EventView>,
    permit: Permit,
    wants_record: bool,
) -> RunResult {
    let info = &hook.spec.info;
    let handler = hook.spec.handler.kind().name();
    let span = debug_span!("checkrein.hook", hook = %info.id, handler = %handler, event = %view.event.kind());
    async {
        let mut guard = ObserverGuard::start(shared, hook, view);
        let mut captures = Captures { is_kept: wants_record || guard.is_observed(), ..Captures::default() };
        let result = match &hook.handler {
            Ok(handler) => {
                let call = call(shared, hook, &**handler, view, permit, &mut captures);
                let called = CatchPanic::new(call).await;
                called.unwrap_or_else(|panic| Err(panic.into()))
            }
            Err(failure) => Err(failure.clone()),
        };
        // Only the host can cancel an event: from a handler, `Cancelled` is an error.
        let result = result.map_err(|failure| match failure.kind {
            FailureKind::Cancelled => Failure::new(FailureKind::Error, failure.message),
            _ => shared.rules.with_effect(failure, &hook.spec, &view.event.kind()),
        });
        let took = guard.start.elapsed();
        match &result {
            Ok(opinion) => {
                debug!(name: "checkrein.hook.finished", decision = %opinion.decision(), took_us = took.as_micros() as u64);
            }
            // Without the message, which may contain secrets. The record has it.
            Err(failure) => warn!(name: "checkrein.hook.failed", kind = %failure.kind, "{info} failed"),
        }
        let mut record = captures.is_kept.then(|| record(info, handler, &result, &captures, took));
        if let (Some(record), Ok(handler)) = (&mut record, &hook.handler) {
            record.held_back = handler.withheld_env().to_vec();
        }
        if let Some(record) = &record {
            guard.finish(record, took);
        }
        let broken_observers = std::mem::take(&mut guard.panics);
        RunResult { result, record, left_running: captures.left_running, broken_observers }
    }
    .instrument(span)
    .await
}

/// Notifies observers of a run. A run that is dropped early is reported as cancelled.
struct ObserverGuard<'a> {
    observers: &'a [Arc<dyn Observer>],
    /// `None` without observers, and after the end was reported.
    run: Option<HookRun>,
    start: Instant,
    panics: Vec<Panic>,
}

impl<'a> ObserverGuard<'a> {
    fn start(shared: &'a Shared, hook: &LoadedHook, view: &EventView) -> Self {
        let number = shared.next_run.fetch_add(1, Ordering::Relaxed);
        let run = (!shared.observers.is_empty()).then(|| HookRun {
            number,
            kind: view.event.kind(),
            subject: view.event.subject().map(Into::into),
            hook: Arc::clone(&hook.spec.info),
            handler: hook.spec.handler.kind().name().to_owned(),
            background: hook.spec.background,
        });
        let mut guard = Self { observers: &shared.observers, run, start: Instant::now(), panics: Vec::new() };
        guard.notify(Observer::started);
        guard
    }

    fn is_observed(&self) -> bool {
        self.run.is_some()
    }

    fn finish(&mut self, record: &HookRecord, took: Duration) {
        self.notify(|observer, run| observer.finished(run, record, took));
        self.run = None;
    }

    fn notify(&mut self, what: impl Fn(&dyn Observer, &HookRun)) {
        if let Some(run) = &self.run {
            self.panics
                .extend(self.observers.iter().filter_map(|observer| catch_panic(|| what(&**observer, run)).err()));
        }
    }
}

impl Drop for ObserverGuard<'_> {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            let took = self.start.elapsed();
            let cancelled = Failure::new(FailureKind::Cancelled, "cancelled by the host");
            let record = record(&run.hook, &run.handler, &Err(cancelled), &Captures::default(), took);
            self.finish(&record, took);
        }
    }
}

/// Permit of a run to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    /// Waits for a slot if the handler is limited.
    Wait,
    /// The caller already holds a slot.
    Have,
}

/// Calls the handler and parses its reply.
async fn call(
    shared: &Shared,
    hook: &LoadedHook,
    handler: &dyn Handler,
    view: &Arc<EventView>,
    permit: Permit,
    captures: &mut Captures,
) -> Result<Opinion, Failure> {
    // The timeout starts after the wait for a slot.
    let limited = permit == Permit::Wait && handler.is_limited();
    let _turn = if limited { shared.running.acquire().await.ok() } else { None };
    let timeout = hook.spec.timeout_for(&view.event.kind());
    let deadline = Instant::now() + timeout.min(FOREVER);
    let last = deadline + handler.shutdown_grace().min(FOREVER);
    let call = new_call(hook, view, deadline);
    let too_long = || Failure::new(FailureKind::Timeout, format!("timed out after {timeout:?}"));
    let reply = match tokio::time::timeout_at(last.into(), handler.call(&call)).await {
        // A handler that blocks its thread cannot be cancelled, but its late reply is dropped.
        _ if Instant::now() > last => return Err(too_long()),
        Ok(Err(failure)) if failure.kind == FailureKind::Timeout => return Err(too_long()),
        Ok(reply) => reply?,
        Err(_) => return Err(too_long()),
    };
    match &reply {
        Reply::Process(process) => {
            captures.exit_code = match process.exit {
                ProcessExit::Code(code) => Some(code),
                ProcessExit::Signal(_) => None,
            };
            captures.stdout = captures.is_kept.then(|| process.stdout.clone());
            captures.stderr = captures.is_kept.then(|| process.stderr.clone());
            captures.left_running.clone_from(&process.left_running);
            if process.timed_out {
                return Err(too_long());
            }
        }
        Reply::Http(http) => {
            captures.status = Some(http.status);
            captures.stdout = captures.is_kept.then(|| http.body.clone());
        }
        Reply::Opinion(_) => {}
    }
    let opinion = hook.spec.dialect.read(&view.event, reply, hook.spec.strict)?;
    Ok(spill::shortened(opinion, hook.spec.dialect))
}

/// Runs a hook whose handler does not wait, without a task and a deadline. `None`: the handler is not of that kind. `now` is the
/// time at which the first of these hooks started.
pub(super) fn run_now(
    shared: &Shared,
    hook: &LoadedHook,
    view: &Arc<EventView>,
    wants_record: bool,
    now: Instant,
) -> Option<RunResult> {
    let handler = hook.handler.as_ref().ok().filter(|handler| handler.is_immediate())?;
    // Without a record, the clock is not read for each rule.
    let start = if wants_record { Instant::now() } else { now };
    let call = new_call(hook, view, now + FOREVER);
    let opinion = catch_panic(|| handler.call_now(&call)).unwrap_or_else(|panic| Some(Err(panic.into())))?;
    // Most rules do not apply.
    if opinion.as_ref().is_ok_and(Opinion::is_none) {
        return Some(RunResult {
            result: opinion,
            record: None,
            left_running: Vec::new(),
            broken_observers: Vec::new(),
        });
    }
    let read = |opinion| hook.spec.dialect.read(&view.event, Reply::Opinion(opinion), hook.spec.strict);
    let result = opinion.and_then(read).map(|opinion| spill::shortened(opinion, hook.spec.dialect));
    let result = result.map_err(|failure| shared.rules.with_effect(failure, &hook.spec, &view.event.kind()));
    let (info, kind) = (&hook.spec.info, hook.spec.handler.kind().name());
    let record = wants_record.then(|| record(info, kind, &result, &Captures::default(), start.elapsed()));
    Some(RunResult { result, record, left_running: Vec::new(), broken_observers: Vec::new() })
}

fn new_call(hook: &LoadedHook, view: &Arc<EventView>, deadline: Instant) -> Call {
    Call {
        hook: Arc::clone(&hook.spec.info),
        deadline,
        dialect: hook.spec.dialect,
        stdout_closed: false,
        view: Arc::clone(view),
    }
}

/// One year: practically unlimited, and small enough to be added to any `Instant`.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

fn record(
    hook: &HookInfo,
    handler: &str,
    result: &Result<Opinion, Failure>,
    captures: &Captures,
    took: Duration,
) -> HookRecord {
    let mut record = match result {
        Ok(opinion) => HookRecord::from_opinion(hook, handler, opinion),
        Err(failure) => HookRecord::from_failure(hook, handler, failure),
    };
    record.left_running.clone_from(&captures.left_running);
    let kept = |captured: &Captured| {
        let shown = captured.bytes.len().min(MAX_RECORDED);
        String::from_utf8_lossy(&captured.bytes[..shown]).into_owned()
    };
    let cut = |captured: &Option<Captured>| match captured {
        Some(captured) if captured.is_cut() || captured.bytes.len() > MAX_RECORDED => Some(captured.total),
        _ => None,
    };
    record.stdout_bytes = cut(&captures.stdout);
    record.stderr_bytes = cut(&captures.stderr);
    record.truncated = record.stdout_bytes.is_some() || record.stderr_bytes.is_some();
    record.exit_code = captures.exit_code;
    record.status = captures.status;
    record.duration_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    record.stdout = captures.stdout.as_ref().map(kept);
    record.stderr = captures.stderr.as_ref().map(kept);
    record
}

/// A future that returns its panics as errors, including panics of its destructor.
pub(super) struct CatchPanic<F>(Option<Pin<Box<F>>>);

impl<F: Future> CatchPanic<F> {
    pub(super) fn new(future: F) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else {
            return Poll::Pending;
        };
        // Unwind safe: after a panic the future is dropped and never polled again.
        let polled = match catch_panic(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        let dropped = catch_panic(|| drop(self.0.take()));
        Poll::Ready(dropped.and(polled))
    }
}

impl<F> Drop for CatchPanic<F> {
    fn drop(&mut self) {
        let _ = catch_panic(|| drop(self.0.take()));
    }
}
