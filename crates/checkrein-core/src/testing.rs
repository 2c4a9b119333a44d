//! Test helpers for code that uses a [`Runner`]: scripted handlers, and a [`Recorder`] with assertions.
//!
//! ```
//! use checkrein_core::payload::Stop;
//! use checkrein_core::testing::{self, Recorder};
//! use checkrein_core::{Decision, Event, EventKind};
//!
//! let recorder = Recorder::new();
//! let runner = recorder.runner();
//! runner.on(EventKind::PreToolUse, "guard", testing::deny("not in tests"));
//!
//! // The code under test.
//! runner.fire(&Event::stop(Stop::new()));
//!
//! recorder.assert_fired(EventKind::Stop);
//! recorder.assert_not_fired(EventKind::PreToolUse);
//! recorder.assert_decision(EventKind::Stop, Decision::NoOpinion);
//! ```

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::decision::Decision;
use crate::event::Event;
use crate::hook::HookSelector;
use crate::json::RawJson;
use crate::kind::EventKind;
use crate::matcher::{Grammar, Matcher};
use crate::opinion::Opinion;
use crate::payload::ToolCall;
use crate::runner::{Fire, HandlerError, Runner, RunnerBuilder};
use crate::select::HookSet;
use crate::source::{HookInfo, Scope, Source};
use crate::verdict::Verdict;

/// Return type of scripted handlers.
pub type Scripted = Result<Opinion, HandlerError>;

/// Returns a handler without an opinion.
pub fn no_opinion() -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::none())
}

/// Returns a handler that always has this opinion.
pub fn answer(opinion: Opinion) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    move |_| Ok(opinion.clone())
}

/// Returns a handler that allows.
pub fn allow() -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::allow())
}

/// Returns a handler that denies, for this reason.
pub fn deny(reason: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::deny(reason))
}

/// Returns a handler that replaces the tool input.
pub fn modify_input(input: RawJson) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::rewrite_input(input))
}

/// Returns a handler that replaces the prompt.
pub fn modify_prompt(prompt: &str) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::rewrite_prompt(prompt))
}

/// Returns a handler that fails with an error.
pub fn fail(error: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    let error = error.into();
    move |_| Err(error.clone().into())
}

/// Returns a handler that panics. The panic hook of the program prints the message to standard error.
pub fn panic(message: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    let message = message.into();
    #[expect(clippy::panic, reason = "the purpose of this function")]
    move |_| std::panic::panic_any(message.clone())
}

/// Returns a handler without an opinion that takes this time, or until it is cancelled.
pub fn slow(time: Duration) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    move |fire| {
        let mut remaining = time;
        while !remaining.is_zero() && !fire.is_cancelled() {
            let pause = remaining.min(POLL_INTERVAL);
            std::thread::sleep(pause);
            remaining -= pause;
        }
        Ok(Opinion::none())
    }
}

/// Returns a runner that answers events of one kind with one opinion, without a log. The texts of the opinion are not
/// changed.
#[track_caller]
pub fn fixed_runner(kind: EventKind, opinion: Opinion) -> Runner {
    let runner = Runner::builder().discard_log().build();
    runner.on(kind, "fixed", answer(opinion));
    runner
}

/// One fire in a [`Recorder`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fired {
    /// Event.
    pub event: Event,
    /// Verdict.
    pub verdict: Verdict,
}

/// Recorder of all fires of its runners, in the order in which they ended. Clones share the recorded fires.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    fired: Arc<Mutex<Vec<Fired>>>,
    log: Arc<Mutex<Vec<String>>>,
}

#[expect(clippy::needless_pass_by_value, reason = "assertions read better with a plain kind")]
impl Recorder {
    /// Creates an empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a runner whose fires and log lines are recorded.
    pub fn runner(&self) -> Runner {
        self.watch(Runner::builder())
    }

    /// As [`runner`](Self::runner), with other settings. Replaces the builder's log and observer.
    pub fn watch(&self, builder: RunnerBuilder) -> Runner {
        let (fired, log) = (Arc::clone(&self.fired), Arc::clone(&self.log));
        builder
            .log_with(move |line| lock(&log).push(line.to_owned()))
            .observe(move |event, verdict| {
                lock(&fired).push(Fired { event: event.clone(), verdict: verdict.clone() });
            })
            .build()
    }

    /// Returns all fires so far.
    pub fn fired(&self) -> Vec<Fired> {
        lock(&self.fired).clone()
    }

    /// Returns all fires of this kind so far.
    pub fn fired_for(&self, kind: &EventKind) -> Vec<Fired> {
        self.fired().into_iter().filter(|fired| fired.event.kind() == *kind).collect()
    }

    /// Returns all log lines so far.
    pub fn log(&self) -> Vec<String> {
        lock(&self.log).clone()
    }

    /// Asserts that an event of this kind was fired.
    ///
    /// # Panics
    /// If none was fired. The message lists the fired events.
    #[track_caller]
    pub fn assert_fired(&self, kind: EventKind) {
        if self.fired_for(&kind).is_empty() {
            self.fail(&format!("no {kind} event was fired"));
        }
    }

    /// Asserts that no event of this kind was fired.
    ///
    /// # Panics
    /// If one was fired. The message lists the fired events.
    #[track_caller]
    pub fn assert_not_fired(&self, kind: EventKind) {
        if !self.fired_for(&kind).is_empty() {
            self.fail(&format!("a {kind} event was fired"));
        }
    }

    /// Asserts the number of fired events of this kind.
    ///
    /// # Panics
    /// If the number differs. The message lists the fired events.
    #[track_caller]
    pub fn assert_count(&self, kind: EventKind, expected: usize) {
        let found = self.fired_for(&kind).len();
        if found != expected {
            self.fail(&format!("{found} {kind} events were fired, not {expected}"));
        }
    }

    /// Asserts that exactly these kinds were fired, in this order.
    ///
    /// # Panics
    /// If not. The message lists the fired events.
    #[track_caller]
    pub fn assert_sequence(&self, expected: &[EventKind]) {
        let found: Vec<_> = self.fired().iter().map(|fired| fired.event.kind()).collect();
        if found != expected {
            let names: Vec<_> = expected.iter().map(EventKind::name).collect();
            self.fail(&format!("the events were not {}", names.join(", ")));
        }
    }

    /// Asserts the decision of the last event of this kind.
    ///
    /// # Panics
    /// If the decision differs or no such event was fired. The message lists the fired events.
    #[track_caller]
    pub fn assert_decision(&self, kind: EventKind, expected: Decision) {
        match self.fired_for(&kind).last() {
            None => self.fail(&format!("no {kind} event was fired")),
            Some(fired) if fired.verdict.decision() != expected => {
                let found = fired.verdict.decision();
                self.fail(&format!("the decision of the last {kind} event was {found}, not {expected}"));
            }
            Some(_) => {}
        }
    }

    /// Lists the fired events, one per line.
    pub fn transcript(&self) -> String {
        let fired = self.fired();
        if fired.is_empty() {
            return "  none\n".to_owned();
        }
        fired.iter().enumerate().fold(String::new(), |mut text, (index, fired)| {
            let _ = write!(text, "  {}. {}", index + 1, fired.event.kind());
            if let Some(subject) = fired.event.subject() {
                let _ = write!(text, " {subject}");
            }
            let _ = write!(text, ": {}", fired.verdict.decision());
            if let Some(reason) = fired.verdict.reason() {
                let _ = write!(text, " ({reason})");
            }
            if fired.verdict.is_cancelled() {
                text.push_str(", cancelled");
            }
            text.push('\n');
            text
        })
    }

    #[track_caller]
    #[expect(clippy::panic, reason = "a failed assertion panics")]
    fn fail(&self, message: &str) {
        panic!("{message}\nfired events:\n{}", self.transcript());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[doc(hidden)]
/// Reads bytes as an event, then writes it and reads it again. For fuzzing: must not panic on any bytes.
pub fn exercise_event(bytes: &[u8]) {
    let Ok(event) = Event::from_json_bytes(bytes) else {
        return;
    };
    let again = Event::from_json(&event.to_json());
    assert_eq!(again.as_ref(), Ok(&event), "the event changed when it was written and read again");
    let _ = event.subject();
    let _ = Runner::new().fire(&event);
}

#[doc(hidden)]
/// Compiles the first line as a pattern in every grammar and matches it with the rest. For fuzzing: must not panic on any
/// bytes.
pub fn exercise_matcher(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, subject) = text.split_once('\n').unwrap_or((&text, "Bash"));
    for grammar in
        [Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT]
    {
        if let Ok(matcher) = Matcher::compile(&grammar, Some(pattern)) {
            let hook =
                HookSelector::for_kind(HookInfo::new("fuzz", Source::for_scope(Scope::Code)), EventKind::PreToolUse);
            let hooks = HookSet::new(vec![hook.matching(matcher)]);
            let event = Event::pre_tool_use(ToolCall::new(subject, RawJson::default()));
            let explained = hooks.explain(&event).chosen().count();
            assert_eq!(hooks.select(&event).count(), explained, "`select` and `explain` differ");
        }
    }
}
