//! One run of one hook, under its limits.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use checkrein_core::{Captured, Failure, FailureKind, HookRecord, Opinion, ProcessExit, Reply, shielded};
use checkrein_dialects::native;
use tracing::{Instrument, debug, debug_span, warn};

use super::Shared;
use super::hooks::LoadedHook;
use crate::handler::{Call, Handler, HandlerFuture, Moment};
use crate::observer::HookRun;

/// What a run came to.
pub(super) struct Done {
    pub(super) result: Result<Opinion, Failure>,
    pub(super) record: HookRecord,
    /// Observers that panicked.
    pub(super) broken_observers: Vec<String>,
}

/// What handlers gave back that records keep.
#[derive(Default)]
struct Seen {
    exit_code: Option<i32>,
    stdout: Option<Captured>,
    stderr: Option<Captured>,
}

/// How much of each stream a record keeps.
const KEPT: usize = 16 * 1024;

pub(super) async fn run(shared: &Shared, hook: &LoadedHook, moment: &Arc<Moment>) -> Done {
    let info = &hook.spec.hook.info;
    let kind = moment.event.kind();
    let run = HookRun {
        number: shared.next_run.fetch_add(1, Ordering::Relaxed),
        subject: moment.event.subject().map(Into::into),
        hook: Arc::clone(info),
        handler: hook.spec.handler.kind().to_owned(),
        background: hook.spec.background,
        kind,
    };
    let span = debug_span!("checkrein.hook", hook = %info.id, handler = %run.handler, event = %run.kind);
    async {
        let mut broken_observers = Vec::new();
        let mut tell = |what: &dyn Fn(&dyn crate::observer::Observer)| {
            for observer in &shared.observers {
                broken_observers.extend(shielded(|| what(&**observer)).err());
            }
        };
        tell(&|observer| observer.started(&run));
        let begun = Instant::now();
        let mut seen = Seen::default();
        let result = match &hook.handler {
            Ok(handler) => call(shared, hook, &**handler, moment, &mut seen).await,
            Err(failure) => Err(failure.clone()),
        };
        let took = begun.elapsed();
        let record = record(&run, &result, &seen, took);
        match &result {
            Ok(opinion) => debug!(name: "checkrein.hook.finished", decision = %opinion.decision(), took_us = took.as_micros() as u64),
            Err(failure) => warn!(name: "checkrein.hook.failed", kind = %failure.kind, "{info} failed: {}", failure.message),
        }
        tell(&|observer| observer.finished(&run, &record, took));
        Done { result, record, broken_observers }
    }
    .instrument(span)
    .await
}

/// Calls the handler and reads what it gives back.
async fn call(
    shared: &Shared,
    hook: &LoadedHook,
    handler: &dyn Handler,
    moment: &Arc<Moment>,
    seen: &mut Seen,
) -> Result<Opinion, Failure> {
    // Waiting for a turn is not the hook's fault, so its time starts afterwards.
    let _turn = if handler.is_limited() { shared.running.acquire().await.ok() } else { None };
    let timeout = hook.spec.timeout.unwrap_or_else(|| native::timeout(moment.event.kind().contract().time));
    let deadline = Instant::now() + timeout.min(FOREVER);
    let call = Call { hook: Arc::clone(&hook.spec.hook.info), deadline, moment: Arc::clone(moment) };
    let future = Shielded(handler_future(handler, &call)?);
    let too_long = || Failure::new(FailureKind::Timeout, format!("took longer than {timeout:?} and was ended"));
    let reply = match tokio::time::timeout_at((deadline + handler.wind_up()).into(), future).await {
        Ok(reply) => reply?,
        Err(_) => return Err(too_long()),
    };
    match &reply {
        Reply::Process(process) => {
            seen.exit_code = match process.exit {
                ProcessExit::Code(code) => Some(code),
                ProcessExit::Signal(_) => None,
            };
            seen.stdout = Some(process.stdout.clone());
            seen.stderr = Some(process.stderr.clone());
        }
        Reply::Http(http) => seen.stdout = Some(http.body.clone()),
        _ => {}
    }
    native::read(&moment.event, reply)
}

/// As good as never, and small enough to be added to any clock.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Making the future is foreign code as well.
fn handler_future<'a>(handler: &'a dyn Handler, call: &'a Call) -> Result<HandlerFuture<'a>, Failure> {
    shielded(|| handler.call(call)).map_err(|panic| Failure::new(FailureKind::Panic, panic))
}

fn record(run: &HookRun, result: &Result<Opinion, Failure>, seen: &Seen, took: Duration) -> HookRecord {
    let mut record = match result {
        Ok(opinion) => HookRecord::of_opinion(&run.hook, &run.handler, opinion),
        Err(failure) => HookRecord::of_failure(&run.hook, &run.handler, failure),
    };
    let kept = |captured: &Captured| {
        let shown = captured.bytes.len().min(KEPT);
        String::from_utf8_lossy(&captured.bytes[..shown]).into_owned()
    };
    let cut = |captured: &Option<Captured>| {
        captured.as_ref().is_some_and(|captured| captured.is_cut() || captured.bytes.len() > KEPT)
    };
    record.truncated = cut(&seen.stdout) || cut(&seen.stderr);
    record.exit_code = seen.exit_code;
    record.duration_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    record.stdout = seen.stdout.as_ref().map(kept);
    record.stderr = seen.stderr.as_ref().map(kept);
    record
}

/// A handler's future whose panics are failures.
struct Shielded<'a>(HandlerFuture<'a>);

impl Future for Shielded<'_> {
    type Output = Result<Reply, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // After a panic the future is not polled again, so nobody sees what it left half done.
        shielded(|| self.0.as_mut().poll(cx))
            .unwrap_or_else(|panic| Poll::Ready(Err(Failure::new(FailureKind::Panic, panic))))
    }
}
