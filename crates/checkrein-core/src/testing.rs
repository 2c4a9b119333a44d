//! Help for those who test what they build on the [`Runner`].
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
//! // Stands for the code under test.
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

/// What a scripted handler returns.
pub type Scripted = Result<Opinion, HandlerError>;

/// A handler that says nothing.
pub fn go_on() -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::none())
}

/// A handler that always has this opinion.
pub fn answer(opinion: Opinion) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    move |_| Ok(opinion.clone())
}

/// A handler that allows.
pub fn allow() -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::allow())
}

/// A handler that denies, for this reason.
pub fn deny(reason: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::deny(reason))
}

/// A handler that puts this in place of a tool's input.
pub fn modify_input(input: RawJson) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::rewrite_input(input))
}

/// A handler that puts this in place of the prompt.
pub fn modify_prompt(prompt: &str) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    answer(Opinion::rewrite_prompt(prompt))
}

/// A handler that returns an error.
pub fn fail(error: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    let error = error.into();
    move |_| Err(error.clone().into())
}

/// A handler that panics. The panic hook of the program prints it to standard error, as it does with every panic.
pub fn panic(message: impl Into<String>) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    let message = message.into();
    #[expect(clippy::panic, reason = "this is what it is for")]
    move |_| std::panic::panic_any(message.clone())
}

/// A handler that takes this long, or until it is cancelled, and then says nothing.
pub fn slow(time: Duration) -> impl Fn(&Fire<'_>) -> Scripted + Send + Sync + 'static {
    const LOOK: Duration = Duration::from_millis(5);
    move |fire| {
        let mut left = time;
        while !left.is_zero() && !fire.is_cancelled() {
            let pause = left.min(LOOK);
            std::thread::sleep(pause);
            left -= pause;
        }
        Ok(Opinion::none())
    }
}

/// A runner that answers events of one kind with one opinion, and logs nothing. Whatever text the opinion holds
/// arrives as it is.
#[track_caller]
pub fn fixed_runner(kind: EventKind, opinion: Opinion) -> Runner {
    let runner = Runner::builder().discard_log().build();
    runner.on(kind, "fixed", answer(opinion));
    runner
}

/// One fire that a [`Recorder`] saw.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fired {
    /// The event, as it was fired.
    pub event: Event,
    /// What it came to.
    pub verdict: Verdict,
}

/// Keeps every fire of its runners, in the order in which they ended. Clones share what they keep.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    fired: Arc<Mutex<Vec<Fired>>>,
    log: Arc<Mutex<Vec<String>>>,
}

#[expect(clippy::needless_pass_by_value, reason = "assertions read better with a plain kind")]
impl Recorder {
    /// Has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A runner whose fires are kept, and its log lines as well.
    pub fn runner(&self) -> Runner {
        self.watch(Runner::builder())
    }

    /// As [`runner`](Self::runner), with other settings. Takes the place of the builder's log and observer.
    pub fn watch(&self, builder: RunnerBuilder) -> Runner {
        let (fired, log) = (Arc::clone(&self.fired), Arc::clone(&self.log));
        builder
            .log_with(move |line| lock(&log).push(line.to_owned()))
            .observe(move |event, verdict| {
                lock(&fired).push(Fired { event: event.clone(), verdict: verdict.clone() });
            })
            .build()
    }

    /// Every fire so far.
    pub fn fired(&self) -> Vec<Fired> {
        lock(&self.fired).clone()
    }

    /// Every fire of this kind so far.
    pub fn fired_of(&self, kind: &EventKind) -> Vec<Fired> {
        self.fired().into_iter().filter(|fired| fired.event.kind() == *kind).collect()
    }

    /// Every log line so far.
    pub fn log(&self) -> Vec<String> {
        lock(&self.log).clone()
    }

    /// That an event of this kind was fired.
    ///
    /// # Panics
    /// If none was; the message shows what was fired.
    #[track_caller]
    pub fn assert_fired(&self, kind: EventKind) {
        if self.fired_of(&kind).is_empty() {
            self.complain(&format!("no {kind} event was fired"));
        }
    }

    /// That no event of this kind was fired.
    ///
    /// # Panics
    /// If one was; the message shows what was fired.
    #[track_caller]
    pub fn assert_not_fired(&self, kind: EventKind) {
        if !self.fired_of(&kind).is_empty() {
            self.complain(&format!("a {kind} event was fired"));
        }
    }

    /// That so many events of this kind were fired.
    ///
    /// # Panics
    /// If it was another number; the message shows what was fired.
    #[track_caller]
    pub fn assert_count(&self, kind: EventKind, expected: usize) {
        let found = self.fired_of(&kind).len();
        if found != expected {
            self.complain(&format!("{found} {kind} events were fired, not {expected}"));
        }
    }

    /// That these kinds were fired in this order, and no others.
    ///
    /// # Panics
    /// If not; the message shows what was fired.
    #[track_caller]
    pub fn assert_sequence(&self, expected: &[EventKind]) {
        let found: Vec<_> = self.fired().iter().map(|fired| fired.event.kind()).collect();
        if found != expected {
            let names: Vec<_> = expected.iter().map(EventKind::name).collect();
            self.complain(&format!("the events were not {}", names.join(", ")));
        }
    }

    /// That the last event of this kind came to this decision.
    ///
    /// # Panics
    /// If it came to another, or there was none; the message shows what was fired.
    #[track_caller]
    pub fn assert_decision(&self, kind: EventKind, expected: Decision) {
        match self.fired_of(&kind).last() {
            None => self.complain(&format!("no {kind} event was fired")),
            Some(fired) if fired.verdict.decision() != expected => {
                let found = fired.verdict.decision();
                self.complain(&format!("the last {kind} event came to {found}, not {expected}"));
            }
            Some(_) => {}
        }
    }

    /// Everything that was fired, a line each.
    pub fn transcript(&self) -> String {
        let fired = self.fired();
        if fired.is_empty() {
            return "  nothing was fired\n".to_owned();
        }
        fired.iter().enumerate().fold(String::new(), |mut text, (at, fired)| {
            let _ = write!(text, "  {}. {}", at + 1, fired.event.kind());
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
    #[expect(clippy::panic, reason = "an assertion is there to panic")]
    fn complain(&self, what: &str) {
        panic!("{what}\nwhat was fired:\n{}", self.transcript());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[doc(hidden)]
/// Reads bytes as an event and, if they are one, writes and reads it again. For fuzzing: must not panic, whatever the
/// bytes.
pub fn exercise_event(bytes: &[u8]) {
    let Ok(event) = Event::from_json_bytes(bytes) else {
        return;
    };
    let again = Event::from_json(&event.to_json());
    assert_eq!(again.as_ref(), Ok(&event), "an event changed by being written and read");
    let _ = event.subject();
    let _ = Runner::new().fire(&event);
}

#[doc(hidden)]
/// Compiles bytes as a pattern in every grammar and compares it with more of them. For fuzzing: must not panic,
/// whatever the bytes.
pub fn exercise_matcher(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, subject) = text.split_once('\n').unwrap_or((&text, "Bash"));
    for grammar in
        [Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT]
    {
        if let Ok(matcher) = Matcher::compile(&grammar, Some(pattern)) {
            let hook = HookSelector::for_kind(HookInfo::new("fuzz", Source::of(Scope::Code)), EventKind::PreToolUse);
            let hooks = HookSet::new(vec![hook.matching(matcher)]);
            let event = Event::pre_tool_use(ToolCall::new(subject, RawJson::default()));
            let by_looking = hooks.explain(&event).chosen().count();
            assert_eq!(hooks.select(&event).count(), by_looking, "the index chooses otherwise");
        }
    }
}
