//! One fire of a [`Runner`](super::Runner): calls its handlers in order and settles their opinions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::handlers::Handlers;
use super::{Fire, HandlerError};
use crate::event::Event;
use crate::failure::Failure;
use crate::opinion::Opinion;
use crate::panic::Panic;
use crate::record::HookRecord;
use crate::rules::Rules;
use crate::settle::{ChainStep, Settlement};
use crate::source::HookInfo;
use crate::verdict::Verdict;

/// One fire.
pub(super) struct Chain<'a> {
    pub(super) rules: &'a Rules,
    pub(super) fire: Fire<'a>,
}

/// Result of one handler.
type Reply = Result<Opinion, Failure>;

impl Chain<'_> {
    /// Returns the verdict without any opinion.
    #[inline]
    pub(super) fn no_opinion(&self) -> Verdict {
        Verdict { cancelled: self.fire.is_cancelled(), ..Verdict::default() }
    }

    /// Settles, starting with the first handler that returned an opinion or failed.
    pub(super) fn settle<T: Trace>(
        &self,
        handlers: &Handlers<'_>,
        mut next: usize,
        first: Called,
        trace: &mut T,
    ) -> Verdict {
        let mut settlement = Settlement::new(self.rules, self.fire.event);
        let mut rewritten: Option<Event> = None;
        let mut called = Some(first);
        let mut ended = false;
        while let Some(reply) = called.map(Called::into_reply) {
            let position = next - 1;
            let Some(hook) = handlers.get(position).map(|handler| &handler.info) else { break };
            let step = match &reply {
                Ok(opinion) => settlement.push(position, hook, opinion),
                Err(failure) => settlement.push_failure(position, hook, failure),
            };
            trace.called(hook, &reply);
            if step == ChainStep::End {
                ended = true;
                break;
            }
            if self.fire.is_cancelled() {
                break;
            }
            if reply.is_ok_and(|opinion| !opinion.rewrites().is_empty()) {
                rewritten = settlement.rewritten_event();
            }
            let event = rewritten.as_ref().unwrap_or(self.fire.event);
            let fire = Fire { event, cancel: self.fire.cancel };
            called = call_until_opinion(&fire, handlers, &mut next, trace);
        }
        let complete = ended || (next == handlers.len() && settlement.has_decided());
        if self.fire.is_cancelled() && !complete {
            settlement.cancel();
        }
        while let Some(handler) = handlers.get(next) {
            trace.skipped(&handler.info);
            next += 1;
        }
        settlement.finish()
    }
}

/// Calls handlers from `next` on until one returns an opinion or fails. Sets `next` to the handler after the last that was
/// called.
///
/// All handlers before a panic share one unwind boundary.
#[inline(always)]
pub(super) fn call_until_opinion<T: Trace>(
    fire: &Fire<'_>,
    handlers: &Handlers<'_>,
    next: &mut usize,
    trace: &mut T,
) -> Option<Called> {
    let mut called = None;
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let mut before = 0;
        for list in handlers.lists() {
            for handler in list.get(*next - before..).unwrap_or_default() {
                let reply = (handler.handler)(fire);
                *next += 1;
                match reply {
                    Ok(opinion) if opinion.is_none() => trace.called(&handler.info, &Ok(opinion)),
                    reply => {
                        called = Some(Called::Returned(reply));
                        return;
                    }
                }
                if fire.is_cancelled() {
                    return;
                }
            }
            before += list.len();
        }
    }));
    if let Err(panic) = unwound {
        *next += 1;
        called = Some(Called::Panicked(panic));
    }
    called
}

/// End of a handler call.
pub(super) enum Called {
    Returned(Result<Opinion, HandlerError>),
    Panicked(Box<dyn Any + Send>),
}

impl Called {
    fn into_reply(self) -> Reply {
        match self {
            Self::Returned(reply) => reply.map_err(Failure::from_error),
            Self::Panicked(panic) => Err(Panic::new(panic).into()),
        }
    }
}

/// Receiver of the calls of one fire.
pub(super) trait Trace {
    fn called(&mut self, hook: &HookInfo, reply: &Reply);
    fn skipped(&mut self, hook: &HookInfo);
}

/// Trace that ignores the calls.
pub(super) struct NoTrace;

impl Trace for NoTrace {
    #[inline]
    fn called(&mut self, _hook: &HookInfo, _reply: &Reply) {}
    #[inline]
    fn skipped(&mut self, _hook: &HookInfo) {}
}

/// Handler type of callbacks in records.
const HANDLER: &str = "callback";

/// Trace that records the calls.
#[derive(Default)]
pub(super) struct RecordTrace(Vec<(usize, HookRecord)>);

impl RecordTrace {
    pub(super) fn into_records(self) -> Vec<(usize, HookRecord)> {
        self.0
    }

    /// Adds a record. Each handler is added once and in order, so its index is its position.
    fn add(&mut self, record: HookRecord) {
        self.0.push((self.0.len(), record));
    }
}

impl Trace for RecordTrace {
    fn called(&mut self, hook: &HookInfo, reply: &Reply) {
        let record = match reply {
            Ok(opinion) => HookRecord::from_opinion(hook, HANDLER, opinion),
            Err(failure) => HookRecord::from_failure(hook, HANDLER, failure),
        };
        self.add(record);
    }

    fn skipped(&mut self, hook: &HookInfo) {
        self.add(HookRecord::for_skipped(hook, HANDLER, "an earlier hook ended the chain"));
    }
}
