//! Callbacks in the host's own process: an engine without I/O.
//!
//! A [`Runner`] calls the callbacks of an event one after the other, in the order of registration, and settles by
//! [`Rules::NATIVE`]:
//!
//! - The strongest decision wins; every callback runs. Each sees what those before it have rewritten.
//! - A deny means what the event's contract says: it refuses a tool call, is feedback after it, and keeps an agent that
//!   wants to stop going.
//! - A callback that panics or returns an error **fails closed at a gate**: the verdict is a deny that names the
//!   callback. Elsewhere it is a warning. [`HookInfo::on_failure`] chooses otherwise.
//!
//! ```
//! use checkrein_core::payload::ToolCall;
//! use checkrein_core::{Decision, Event, EventKind, Opinion, RawJson, Runner};
//!
//! let runner = Runner::new();
//! runner.on(EventKind::PreToolUse, "no-rm", |fire| {
//!     let command = fire.event.tool_input().and_then(|input| input.field("command"));
//!     match command.as_ref().and_then(RawJson::as_text) {
//!         Some(command) if command.starts_with("rm ") => Opinion::deny("deleting is not for agents"),
//!         _ => Opinion::none(),
//!     }
//! });
//!
//! let input: RawJson = r#"{"command": "rm -r src"}"#.parse()?;
//! let verdict = runner.fire(&Event::pre_tool_use(ToolCall::new("Bash", input)));
//! assert_eq!(verdict.decision(), Decision::Deny);
//! assert_eq!(verdict.reason(), Some("deleting is not for agents"));
//! # Ok::<(), checkrein_core::JsonError>(())
//! ```
//!
//! An empty runner is the no-op: it can be fired from everywhere without a check, and costs next to nothing. Panics
//! are caught only in programs that unwind; with `panic = "abort"` a panic ends the program, as always.
//!
//! A runner keeps nothing between two fires. A host that refuses stops must count them itself; the engine of the
//! `checkrein` crate has a limit.
//!
//! # Rules of other callback runners
//!
//! [`Rules::FIRST_DECISION`] is the preset for hosts that rely on "the first decision wins, and a broken callback never
//! stops anything": `Runner::builder().rules(Rules::FIRST_DECISION)`.

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

/// The error of a callback that cannot do its work.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// One fire, as a callback sees it. A callback can look at the event; only its opinion changes what happens.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Fire<'a> {
    /// The event, with what callbacks before this one have rewritten.
    pub event: &'a Event,
    /// What tells that the host has given up on it, if it can.
    pub cancel: Option<&'a CancelToken>,
}

impl<'a> Fire<'a> {
    /// A fire that cannot be cancelled.
    pub fn new(event: &'a Event) -> Self {
        Self { event, cancel: None }
    }

    /// Whether the host has given up on the event.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }
}

/// Return types of callbacks: an opinion, nothing, or either in a `Result`.
pub trait IntoReply {
    /// The opinion, or why there is none.
    ///
    /// # Errors
    /// What the handler returned as its error.
    fn into_reply(self) -> Result<Opinion, HandlerError>;
}

impl IntoReply for Opinion {
    #[inline]
    fn into_reply(self) -> Result<Opinion, HandlerError> {
        Ok(self)
    }
}

/// Watches, and says nothing.
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

/// Calls handlers in the process. Cheap to clone; clones share their handlers. See the [module](self).
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
    /// A runner without handlers that logs to standard error.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A runner with other settings.
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder { log: Log::Stderr, rules: Rules::NATIVE, observer: None, handlers: Vec::new() }
    }

    /// Registers a handler for one kind of event, behind those there are. `name` is for logs and reasons.
    ///
    /// Can be called from any thread, also from a handler: it applies from the next fire on.
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

    /// Takes a handler out again, from the next fire on. Tells whether it was still there.
    pub fn remove(&self, registration: &Registration) -> bool {
        self.shared.slots.remove(registration)
    }

    /// Whether a fire of this kind would call anything.
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

    /// As [`fire`](Self::fire), but builds the event only if something would be called.
    #[inline]
    pub fn fire_with(&self, kind: &EventKind, event: impl FnOnce() -> Event) -> Verdict {
        if self.has(kind) { self.fire(&event()) } else { Verdict::default() }
    }

    /// As [`fire`](Self::fire), until the token is cancelled.
    ///
    /// A cancelled fire ends between two handlers, and the verdict [says so](Verdict::is_cancelled). The first handler
    /// is called even if the token is cancelled already: it may have something to tidy up, and can see that it is. If
    /// the last handler decides in spite of it, or one that ends the chain, that has been decided.
    pub fn fire_until(&self, event: &Event, cancel: &CancelToken) -> Verdict {
        self.run_any(event, Some(cancel), &mut NoTrace)
    }

    /// As [`fire`](Self::fire), with everything that happened.
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

    /// Kept out of [`fire`](Self::fire), so that a fire without handlers stays as small as it is.
    #[inline(never)]
    fn run<T: Trace>(&self, slot: &Slot, event: &Event, cancel: Option<&CancelToken>, trace: &mut T) -> Verdict {
        let chain = Chain { rules: &self.shared.rules, fire: Fire { event, cancel } };
        let handlers = slot.handlers();
        let mut next = 0;
        let called = call_until_opinion(&chain.fire, &handlers, &mut next, trace);
        // Handlers that say nothing are the common case: there is nothing to settle, and nobody to tell.
        if called.is_none() && self.shared.observer.is_none() && !handlers.holds_others() {
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
        // Handlers that were taken out meanwhile may go now, and going is foreign code as well.
        let _ = catch_panic(|| drop(handlers));
        self.report(chain.fire.event, &verdict);
        verdict
    }

    /// Logs what has to be known of the handlers, and tells the observer.
    fn report(&self, event: &Event, verdict: &Verdict) {
        for warning in verdict.warnings() {
            self.shared.log.line(&format!("{}: {warning}", event.kind()));
        }
        if let Some(observer) = &self.shared.observer {
            let told = catch_panic(|| observer(event, verdict));
            if let Err(panic) = told {
                self.shared.log.line(&format!("{}: the observer panicked: {panic}", event.kind()));
            }
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

/// Settings of a [`Runner`].
pub struct RunnerBuilder {
    log: Log,
    rules: Rules,
    observer: Option<Observer>,
    handlers: Vec<(EventKind, Arc<HookInfo>, Handler)>,
}

impl RunnerBuilder {
    /// Adds a handler that stays as long as the runner. It costs a little less to call than one that is registered
    /// later, and comes before all of those.
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

    /// Writes log lines here instead of to standard error, each with one call and a line break at its end.
    #[must_use]
    pub fn log_to(mut self, writer: impl std::io::Write + Send + 'static) -> Self {
        self.log = Log::writer(writer);
        self
    }

    /// Gives log lines to this function instead, without a line break.
    #[must_use]
    pub fn log_with(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.log = Log::Function(Box::new(log));
        self
    }

    /// Logs nothing. Verdicts still carry every warning.
    #[must_use]
    pub fn discard_log(mut self) -> Self {
        self.log = Log::Discard;
        self
    }

    /// Settles by other rules than [`Rules::NATIVE`], such as [`Rules::FIRST_DECISION`]. Handlers are always called one
    /// after the other.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Tells this function of every fire and its verdict, also of fires that call nothing.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Event, &Verdict) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// The runner.
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
