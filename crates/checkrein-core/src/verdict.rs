use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::action::{Action, ActionKind};
use crate::contract::Target;
use crate::decision::Decision;
use crate::failure::{Failure, FailureKind, FailurePolicy};
use crate::json::RawJson;
use crate::source::HookInfo;

/// What all opinions on one event come to. The host acts on it.
///
/// The default is what a fire without hooks gives: no opinion, nothing changed.
// Small, because most fires have no hooks: all that an opinion can add is behind one pointer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    pub(crate) decision: Decision,
    pub(crate) action: ActionKind,
    pub(crate) cancelled: bool,
    pub(crate) details: Option<Box<Details>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// Which of `reasons` belongs to the decision.
    pub(crate) winner: Option<usize>,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) context: Vec<HookMessage>,
    pub(crate) messages: Vec<HookMessage>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) failures: Vec<(usize, Arc<HookInfo>, Failure)>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) suppress_output: bool,
    pub(crate) first_user_message: Option<String>,
    pub(crate) rewrites: BTreeMap<Target, Rewritten>,
    pub(crate) metadata: BTreeMap<String, RawJson>,
}

impl Details {
    /// Whether there is nothing in it: the same as by default.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            winner,
            reasons,
            context,
            messages,
            warnings,
            failures,
            stop_reason,
            suppress_output,
            first_user_message,
            rewrites,
            metadata,
        } = self;
        let nobody_spoke = winner.is_none() && reasons.is_empty() && failures.is_empty() && warnings.is_empty();
        let nothing_was_said = context.is_empty() && messages.is_empty() && metadata.is_empty() && rewrites.is_empty();
        let no_text = stop_reason.is_none() && first_user_message.is_none();
        nobody_spoke && nothing_was_said && no_text && !suppress_output
    }
}

/// Why a hook decided as it did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// What it decided.
    pub decision: Decision,
    /// Why.
    pub text: String,
}

/// Something that a hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookMessage {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// What it said.
    pub text: String,
}

/// Something that its user should know: a failure, or part of an opinion that could not be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// If it is about a failure, what went wrong and what was done about it.
    pub failure: Option<(FailureKind, FailurePolicy)>,
    /// What happened and what was done about it. Does not name the hook.
    pub text: String,
    /// Whether it is about how things are set up and not about this event, so that it will be the same at the next.
    pub persistent: bool,
}

/// ``hook `ID` (FILE:LINE): TEXT``.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.hook, self.text)
    }
}

/// What became of something that hooks rewrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// What it was, if there was something.
    pub original: Option<RawJson>,
    /// What it is now.
    pub effective: RawJson,
}

impl Verdict {
    /// The host's next step: the decision, with the contract of the event's kind applied.
    ///
    /// ```
    /// use checkrein_core::payload::{Stop, ToolCall};
    /// use checkrein_core::{Action, Event, EventKind, Opinion, RawJson, Runner};
    ///
    /// let runner = Runner::new();
    /// for kind in [EventKind::PreToolUse, EventKind::Stop] {
    ///     runner.on(kind, "tests", |_| Opinion::deny("run the tests first"));
    /// }
    /// let verdict = runner.fire(&Event::pre_tool_use(ToolCall::new("Deploy", RawJson::default())));
    /// assert_eq!(verdict.action(), Action::Refuse { reason: "run the tests first" });
    /// let verdict = runner.fire(&Event::stop(Stop::new()));
    /// assert_eq!(verdict.action(), Action::Continue { reason: "run the tests first" });
    /// ```
    pub fn action(&self) -> Action<'_> {
        if self.cancelled { Action::Cancelled } else { self.action.with_reason(self.reason().unwrap_or_default()) }
    }

    /// The strongest decision of all hooks. Its meaning depends on the kind of event: see [`action`](Self::action).
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Whether the fire was given up before all hooks had spoken. Neither a deny nor an allow.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// The same with a failure that came too late to have a say.
    #[must_use]
    pub fn with_observer_failure(mut self, hook: Arc<HookInfo>, failure: Failure) -> Self {
        let details = self.details.get_or_insert_default();
        let text = format!("failed ({failure}) when all was decided");
        details.warnings.push(Warning {
            hook: Arc::clone(&hook),
            failure: Some((failure.kind, FailurePolicy::Open)),
            text,
            persistent: false,
        });
        details.failures.push((usize::MAX, hook, failure.with_effect(FailurePolicy::Open)));
        self
    }

    /// The same with its decision dropped, and a warning by the hook that decided which says why.
    #[must_use]
    pub fn with_decision_dropped(mut self, why: impl Into<String>) -> Self {
        self.decision = Decision::NoOpinion;
        self.action = ActionKind::Proceed;
        if let Some(details) = &mut self.details
            && let Some(winner) = details.winner.take()
            && let Some(reason) = details.reasons.get(winner)
        {
            let hook = Arc::clone(&reason.hook);
            details.warnings.push(Warning { hook, failure: None, text: why.into(), persistent: false });
        }
        self
    }

    /// Why: the reason of the first hook, in config order, that decided as the verdict does.
    pub fn reason(&self) -> Option<&str> {
        let details = self.details.as_ref()?;
        let text = details.reasons.get(details.winner?)?.text.as_str();
        (!text.is_empty()).then_some(text)
    }

    /// The hook whose decision the verdict is.
    pub fn decided_by(&self) -> Option<&HookInfo> {
        let details = self.details.as_ref()?;
        Some(&details.reasons.get(details.winner?)?.hook)
    }

    /// Everything that hooks decided, in config order.
    pub fn reasons(&self) -> &[Reason] {
        self.details.as_ref().map_or(&[], |details| &details.reasons)
    }

    /// What to tell the model, in config order.
    pub fn context(&self) -> &[HookMessage] {
        self.details.as_ref().map_or(&[], |details| &details.context)
    }

    /// What to tell the user, in config order.
    pub fn messages(&self) -> &[HookMessage] {
        self.details.as_ref().map_or(&[], |details| &details.messages)
    }

    /// What the user should know of the hooks themselves, in config order.
    pub fn warnings(&self) -> &[Warning] {
        self.details.as_ref().map_or(&[], |details| &details.warnings)
    }

    /// Every failure, in config order.
    pub fn failures(&self) -> impl Iterator<Item = (&HookInfo, &Failure)> {
        self.placed_failures().map(|(_, hook, failure)| (hook, failure))
    }

    /// Every failure with the position of its hook.
    pub(crate) fn placed_failures(&self) -> impl Iterator<Item = (usize, &HookInfo, &Failure)> {
        let failures = self.details.iter().flat_map(|details| &details.failures);
        failures.map(|(position, hook, failure)| (*position, &**hook, failure))
    }

    /// What the user reads when the agent stops.
    pub fn stop_reason(&self) -> Option<&str> {
        self.details.as_ref()?.stop_reason.as_deref()
    }

    /// Whether a hook asked to keep its output from the user.
    pub fn suppresses_output(&self) -> bool {
        self.details.as_ref().is_some_and(|details| details.suppress_output)
    }

    /// What to say as the user, first of all.
    pub fn first_user_message(&self) -> Option<&str> {
        self.details.as_ref()?.first_user_message.as_deref()
    }

    /// What became of `target`, if a hook rewrote it. `None`: it is as it was.
    pub fn rewritten(&self, target: Target) -> Option<&Rewritten> {
        self.details.as_ref()?.rewrites.get(&target)
    }

    /// What the tool shall be called with, if that was rewritten.
    pub fn effective_input(&self) -> Option<&RawJson> {
        self.effective(Target::Input)
    }

    /// What the model shall see of the tool's output, if that was rewritten.
    pub fn effective_output(&self) -> Option<&RawJson> {
        self.effective(Target::Output)
    }

    /// The conversation to send to the model, if that was rewritten.
    pub fn effective_messages(&self) -> Option<&RawJson> {
        self.effective(Target::Messages)
    }

    /// What the user shall have said, if that was rewritten.
    pub fn effective_prompt(&self) -> Option<Cow<'_, str>> {
        self.effective(Target::Prompt)?.as_text()
    }

    /// The summary that stands for what compaction drops, if a hook wrote one.
    pub fn summary(&self) -> Option<Cow<'_, str>> {
        self.effective(Target::Summary)?.as_text()
    }

    fn effective(&self, target: Target) -> Option<&RawJson> {
        self.rewritten(target).map(|rewritten| &rewritten.effective)
    }

    /// What hooks told the host, by name.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.details.iter().flat_map(|details| details.metadata.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Verdict");
        debug.field("decision", &self.decision).field("action", &self.action);
        if self.cancelled {
            debug.field("cancelled", &true);
        }
        if let Some(details) = &self.details {
            debug.field("details", details);
        }
        debug.finish()
    }
}
