//! [`Runner`]: runs callbacks in the host's process. An engine without I/O.
//!
//! A [`Runner`] calls the callbacks of an event sequentially, in the order of registration, and settles by
//! [`Rules::NATIVE`]:
//!
//! - Every callback runs, and the strongest decision wins. Each callback sees the rewrites of those before it.
//! - The contract of the event defines the effect of a deny. Before a tool call it refuses the call, after the call it is
//!   feedback, and at a stop it makes the agent continue.
//! - A callback that panics or returns an error **fails closed at a gate**: the verdict is a deny that names the
//!   callback. At other events the failure is a warning. [`HookInfo::on_failure`] overrides this.
//!
//! ```
//! use checkrein_core::payload::ToolCall;
//! use checkrein_core::{Decision, Event, EventKind, Opinion, RawJson, Runner};
//!
//! let runner = Runner::new();
//! runner.on(EventKind::PreToolUse, "no-rm", |fire| {
//!     let command = fire.event.tool_input().and_then(|input| input.field("command"));
//!     match command.as_ref().and_then(RawJson::as_text) {
//!         Some(command) if command.starts_with("rm ") => Opinion::deny("agents may not delete files"),
//!         _ => Opinion::none(),
//!     }
//! });
//!
//! let input: RawJson = r#"{"command": "rm -r src"}"#.parse()?;
//! let verdict = runner.fire(&Event::pre_tool_use(ToolCall::new("Bash", input)));
//! assert_eq!(verdict.decision(), Decision::Deny);
//! assert_eq!(verdict.reason(), Some("agents may not delete files"));
//! # Ok::<(), checkrein_core::JsonError>(())
//! ```
//!
//! Firing an empty runner costs a few nanoseconds, so no check is needed before it. Panics are caught only in programs that
//! unwind; with `panic = "abort"` a panic ends the program.
//!
//! A runner keeps no state between fires. A host whose callbacks deny stops must limit them itself. The engine of the
//! `checkrein` crate has a limit.
//!
//! # Rules of other callback runners
//!
//! [`Rules::FIRST_DECISION`] is the preset for hosts that rely on other rules: the first decision wins, and a failed
//! callback never blocks. Use `Runner::builder().rules(Rules::FIRST_DECISION)`.

mod chain;
mod handlers;
mod log;

use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::event::Event;
use crate::kind::EventKind;
use crate::opinion::Opinion;
use crate::panic::catch_panic;
use crate::record::Record;
use crate::rules::Rules;
use crate::source::{HookInfo, Source};
use crate::verdict::Verdict;
use chain::{Called, Chain, NoTrace, RecordTrace, Trace, call_until_opinion};
pub use handlers::Registration;
use handlers::{Handler, Handlers, Slot, Slots};
use log::Log;

/// Error of a callback.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// Argument of a callback. The event is read-only; only the returned opinion has an effect.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Fire<'a> {
    /// Event, with the rewrites of earlier callbacks.
    pub event: &'a Event,
    /// Cancellation token, if the fire can be cancelled.
    pub cancel: Option<&'a CancelToken>,
}

impl<'a> Fire<'a> {
    /// Creates a fire that cannot be cancelled.
    pub fn new(event: &'a Event) -> Self {
        Self { event, cancel: None }
    }

    /// `true` if the host has cancelled the event.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }
}

/// Return types of callbacks: an opinion, nothing, or either in a `Result`.
pub trait IntoReply {
    /// Converts the return value.
    ///
    /// # Errors
    /// The error that the callback returned.
    fn into_reply(self) -> Result<Opinion, HandlerError>;
}

impl IntoReply for Opinion {
    #[inline]
    fn into_reply(self) -> Result<Opinion, HandlerError> {
        Ok(self)
    }
}

/// Empty opinion, for callbacks that only observe.
impl IntoReply for () {
    #[inline]
    fn into_reply(self) -> Result<Opinion, HandlerError> {
        Ok(Opinion::none())
    }
}

impl<T: IntoReply, E: Into<HandlerError>> IntoReply for Result<T, E> {
    #[inline]
    fn into_reply(self) -> Result<Opinion, HandlerError> {
        self.map_err(Into::into)?.into_reply()
    }
}

/// Runs callbacks in the host's process. Cheap to clone; clones share their handlers. See the [module](self).
#[derive(Clone)]
pub struct Runner {
    shared: Arc<Shared>,
}

struct Shared {
    slots: Slots,
    log: Log,
    rules: Rules,
    observer: Option<Observer>,
}

type Observer = Box<dyn Fn(&Event, &Verdict) + Send + Sync>;

impl Runner {
    /// Creates a runner without handlers that logs to standard error.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Creates a builder for a runner with other settings.
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder { log: Log::Stderr, rules: Rules::NATIVE, observer: None, handlers: Vec::new() }
    }

    /// Registers a handler for one kind of event, after the existing handlers. `name` is used in logs and reasons.
    ///
    /// May be called from any thread and from a handler. It takes effect at the next fire.
    #[track_caller]
    pub fn on<F, R>(&self, kind: EventKind, name: impl Into<String>, handler: F) -> Registration
    where
        F: Fn(&Fire<'_>) -> R + Send + Sync + 'static,
        R: IntoReply,
    {
        self.on_with(kind, HookInfo::new(name, Source::here()), handler)
    }

    /// As [`on`](Self::on), with its own source, failure policy or dry-run setting. Every callback may rewrite.
    pub fn on_with<F, R>(&self, kind: EventKind, info: HookInfo, handler: F) -> Registration
    where
        F: Fn(&Fire<'_>) -> R + Send + Sync + 'static,
        R: IntoReply,
    {
        let handler: Handler = Box::new(move |fire| handler(fire).into_reply());
        self.shared.slots.register(kind, Arc::new(info.rewrites()), handler)
    }

    /// Removes a handler. It takes effect at the next fire. Returns `true` if the handler was registered.
    pub fn remove(&self, registration: &Registration) -> bool {
        self.shared.slots.remove(registration)
    }

    /// `true` if a fire of this kind would call a handler or the observer.
    #[inline]
    pub fn has(&self, kind: &EventKind) -> bool {
        match kind.index() {
            Some(index) => self.shared.slots.named(index).is_active(),
            None => {
                self.shared.observer.is_some()
                    || self.shared.slots.custom(kind.name()).is_some_and(|slot| slot.is_active())
            }
        }
    }

    /// Calls the handlers of the event's kind.
    #[inline]
    pub fn fire(&self, event: &Event) -> Verdict {
        match event.payload.kind_index() {
            Some(index) => {
                let slot = self.shared.slots.named(index);
                if slot.is_active() { self.run(slot, event, None, &mut NoTrace) } else { Verdict::default() }
            }
            None => self.run_any(event, None, &mut NoTrace),
        }
    }

    /// As [`fire`](Self::fire), but builds the event only if [`has`](Self::has) is `true`.
    #[inline]
    pub fn fire_with(&self, kind: &EventKind, event: impl FnOnce() -> Event) -> Verdict {
        if self.has(kind) { self.fire(&event()) } else { Verdict::default() }
    }

    /// As [`fire`](Self::fire), until the token is cancelled.
    ///
    /// A cancelled fire ends between two handlers, and the verdict is [cancelled](Verdict::is_cancelled). The first handler
    /// is called even if the token is already cancelled, so that it can clean up. A decision of the last handler, or of one
    /// that ends the chain, is kept.
    pub fn fire_until(&self, event: &Event, cancel: &CancelToken) -> Verdict {
        self.run_any(event, Some(cancel), &mut NoTrace)
    }

    /// As [`fire`](Self::fire), with a record of all calls.
    pub fn fire_recorded(&self, event: &Event) -> (Verdict, Record) {
        let mut trace = RecordTrace::default();
        let verdict = self.run_any(event, None, &mut trace);
        let record = Record::new(event, self.shared.rules.name(), &verdict, trace.into_records());
        (verdict, record)
    }

    #[inline(never)]
    fn run_any<T: Trace>(&self, event: &Event, cancel: Option<&CancelToken>, trace: &mut T) -> Verdict {
        match event.payload.kind_index() {
            Some(index) => self.run(self.shared.slots.named(index), event, cancel, trace),
            None => match self.shared.slots.custom(event.kind().name()) {
                Some(slot) => self.run(&slot, event, cancel, trace),
                None => self.run(&Slot::default(), event, cancel, trace),
            },
        }
    }

    /// Not inlined into [`fire`](Self::fire), to keep a fire without handlers small.
    #[inline(never)]
    fn run<T: Trace>(&self, slot: &Slot, event: &Event, cancel: Option<&CancelToken>, trace: &mut T) -> Verdict {
        let chain = Chain { rules: &self.shared.rules, fire: Fire { event, cancel } };
        let handlers = slot.handlers();
        let mut next = 0;
        let called = call_until_opinion(&chain.fire, &handlers, &mut next, trace);
        // Fast path of the most frequent case: no opinions, no observer and no handlers to drop.
        if called.is_none() && self.shared.observer.is_none() && !handlers.may_drop_handlers() {
            return chain.no_opinion();
        }
        self.conclude(&chain, handlers, next, called, trace)
    }

    #[inline(never)]
    fn conclude<T: Trace>(
        &self,
        chain: &Chain<'_>,
        handlers: Handlers<'_>,
        next: usize,
        called: Option<Called>,
        trace: &mut T,
    ) -> Verdict {
        let verdict = match called {
            None => chain.no_opinion(),
            Some(called) => chain.settle(&handlers, next, called, trace),
        };
        // This may drop handlers that were removed during the fire, and their `Drop` is foreign code.
        let _ = catch_panic(|| drop(handlers));
        self.report(chain.fire.event, &verdict);
        verdict
    }

    /// Logs the warnings and calls the observer.
    fn report(&self, event: &Event, verdict: &Verdict) {
        for warning in verdict.warnings() {
            self.shared.log.line(&format!("{}: {warning}", event.kind()));
        }
        if let Some(observer) = &self.shared.observer
            && let Err(panic) = catch_panic(|| observer(event, verdict))
        {
            self.shared.log.line(&format!("{}: the observer panicked: {panic}", event.kind()));
        }
    }
}

impl Default for Runner {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("handlers", &self.shared.slots.count()).finish_non_exhaustive()
    }
}

/// Builder of a [`Runner`].
pub struct RunnerBuilder {
    log: Log,
    rules: Rules,
    observer: Option<Observer>,
    handlers: Vec<(EventKind, Arc<HookInfo>, Handler)>,
}

impl RunnerBuilder {
    /// Adds a permanent handler. It runs before all handlers that are registered later, and costs a little less to call.
    #[must_use]
    #[track_caller]
    pub fn on<F, R>(mut self, kind: EventKind, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(&Fire<'_>) -> R + Send + Sync + 'static,
        R: IntoReply,
    {
        let info = Arc::new(HookInfo::new(name, Source::here()).rewrites());
        self.handlers.push((kind, info, Box::new(move |fire| handler(fire).into_reply())));
        self
    }

    /// Writes log lines to this writer instead of standard error. Each line is one call and ends with a line break.
    #[must_use]
    pub fn log_to(mut self, writer: impl std::io::Write + Send + 'static) -> Self {
        self.log = Log::writer(writer);
        self
    }

    /// Passes log lines to this function instead, without a line break.
    #[must_use]
    pub fn log_with(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.log = Log::Function(Box::new(log));
        self
    }

    /// Disables the log. Verdicts still contain all warnings.
    #[must_use]
    pub fn discard_log(mut self) -> Self {
        self.log = Log::Discard;
        self
    }

    /// Settles by other rules than [`Rules::NATIVE`], such as [`Rules::FIRST_DECISION`]. Handlers are always called
    /// sequentially.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Calls this function for every fire and its verdict, including fires without handlers.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Event, &Verdict) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Creates the runner.
    pub fn build(self) -> Runner {
        Runner {
            shared: Arc::new(Shared {
                slots: Slots::new(self.observer.is_some(), self.handlers),
                log: self.log,
                rules: self.rules,
                observer: self.observer,
            }),
        }
    }
}

impl fmt::Debug for RunnerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnerBuilder").field("rules", &self.rules).finish_non_exhaustive()
    }
}
