//! [`Verdict`]: the combined answer of all hooks to one event.
//!
//! [`Settlement`](crate::Settlement) creates it, hosts act on it, and dialects render it for agents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::action::{Action, ActionKind};
use crate::contract::Target;
use crate::decision::Decision;
use crate::failure::{Failure, FailureKind, FailurePolicy};
use crate::json::RawJson;
use crate::opinion::RewriteTexts;
use crate::source::HookInfo;

/// Combined answer of all hooks to one event.
///
/// The default is the verdict of a fire without hooks: no opinion and no changes.
// Small, because most fires have no hooks: everything that an opinion can add is behind one pointer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    pub(crate) decision: Decision,
    pub(crate) action: ActionKind,
    pub(crate) cancelled: bool,
    pub(crate) details: Option<Box<Details>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// Index in `reasons` of the hook that made the decision.
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
    /// `true` if it is equal to the default.
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
        let has_results = winner.is_some() || !reasons.is_empty() || !failures.is_empty() || !warnings.is_empty();
        let has_additions = !context.is_empty() || !messages.is_empty() || !metadata.is_empty() || !rewrites.is_empty();
        let has_texts = stop_reason.is_some() || first_user_message.is_some();
        !has_results && !has_additions && !has_texts && !suppress_output
    }
}

/// Decision of one hook, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// Hook.
    pub hook: Arc<HookInfo>,
    /// Decision.
    pub decision: Decision,
    /// Reason. Empty if the hook gave none.
    pub text: String,
}

/// Text from a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookMessage {
    /// Hook.
    pub hook: Arc<HookInfo>,
    /// Text.
    pub text: String,
    /// Target whose rewrite the text reports. The text is wrong if the host cannot apply that rewrite.
    pub reports: Option<Target>,
}

/// Warning about a hook: a failure, or a part of its opinion that was ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Hook.
    pub hook: Arc<HookInfo>,
    /// Kind of failure and the policy that was applied, if the warning is about a failure.
    pub failure: Option<(FailureKind, FailurePolicy)>,
    /// Problem and its effect. Does not name the hook.
    pub text: String,
    /// `true` if the warning is about the setup, so that it will occur at each event.
    pub persistent: bool,
}

/// ``hook `ID` (FILE:LINE): TEXT``. The text of a failure is the rest of a sentence: ``hook `ID` (FILE:LINE) failed …``.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.failure.is_some() { "" } else { ":" };
        write!(f, "{}{colon} {}", self.hook, self.text)
    }
}

/// Value that hooks rewrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// Value of the event, if it had one.
    pub original: Option<RawJson>,
    /// Value after all rewrites.
    pub effective: RawJson,
    /// Hooks that rewrote it, in config order, with their texts about it.
    pub by: Vec<(Arc<HookInfo>, Option<RewriteTexts>)>,
}

impl Verdict {
    /// Returns the host's next step: the decision with the contract of the event's kind applied.
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

    /// Returns the winning decision. Its meaning depends on the kind of event: see [`action`](Self::action).
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// `true` if the host cancelled the event before all hooks finished. Neither a deny nor an allow.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Adds the failure of an observer. The decision does not change.
    #[must_use]
    pub fn with_observer_failure(mut self, hook: Arc<HookInfo>, failure: Failure) -> Self {
        let details = self.details.get_or_insert_default();
        let text = format!("{}, after the decision", failure.sentence());
        details.warnings.push(Warning {
            hook: Arc::clone(&hook),
            failure: Some((failure.kind, FailurePolicy::Open)),
            text,
            persistent: false,
        });
        details.failures.push((usize::MAX, hook, failure.with_effect(FailurePolicy::Open)));
        self
    }

    /// Drops the decision, and adds a warning for the hook that made it.
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

    /// Returns the questions of hooks, if the decision is to ask and the user's answer decides alone. `None` if a failed hook asks
    /// too: its own answer is unknown.
    pub fn questions(&self) -> Option<impl Iterator<Item = &Reason>> {
        let asks_after_failure =
            |warning: &Warning| warning.failure.is_some_and(|(_, effect)| effect == FailurePolicy::Ask);
        if self.decision != Decision::Ask || self.warnings().iter().any(asks_after_failure) {
            return None;
        }
        Some(self.reasons().iter().filter(|reason| reason.decision == Decision::Ask))
    }

    /// Removes metadata from hooks.
    #[must_use]
    pub fn without_metadata(mut self, name: &str) -> Self {
        if let Some(details) = &mut self.details {
            details.metadata.remove(name);
        }
        self
    }

    /// Returns the reason of the hook that made the decision.
    pub fn reason(&self) -> Option<&str> {
        let details = self.details.as_ref()?;
        let text = details.reasons.get(details.winner?)?.text.as_str();
        if text.is_empty() { None } else { Some(text) }
    }

    /// Returns the hook that made the decision.
    pub fn decided_by(&self) -> Option<&HookInfo> {
        let details = self.details.as_ref()?;
        Some(&details.reasons.get(details.winner?)?.hook)
    }

    /// Returns the decisions of all hooks, in config order.
    pub fn reasons(&self) -> &[Reason] {
        self.details.as_ref().map_or(&[], |details| &details.reasons)
    }

    /// Returns the context for the model, in config order.
    pub fn context(&self) -> &[HookMessage] {
        self.details.as_ref().map_or(&[], |details| &details.context)
    }

    /// Returns the messages for the user, in config order.
    pub fn messages(&self) -> &[HookMessage] {
        self.details.as_ref().map_or(&[], |details| &details.messages)
    }

    /// Returns warnings about the hooks, in config order. They are for the person who maintains the hooks.
    pub fn warnings(&self) -> &[Warning] {
        self.details.as_ref().map_or(&[], |details| &details.warnings)
    }

    /// Returns all failures, in config order.
    pub fn failures(&self) -> impl Iterator<Item = (&HookInfo, &Failure)> {
        self.placed_failures().map(|(_, hook, failure)| (hook, failure))
    }

    /// Returns all failures with the positions of their hooks.
    pub(crate) fn placed_failures(&self) -> impl Iterator<Item = (usize, &HookInfo, &Failure)> {
        let failures = self.details.iter().flat_map(|details| &details.failures);
        failures.map(|(position, hook, failure)| (*position, &**hook, failure))
    }

    /// Returns the text that the user sees when the agent stops.
    pub fn stop_reason(&self) -> Option<&str> {
        self.details.as_ref()?.stop_reason.as_deref()
    }

    /// `true` if a hook asked to hide its output from the user.
    pub fn suppresses_output(&self) -> bool {
        self.details.as_ref().is_some_and(|details| details.suppress_output)
    }

    /// Returns the first user message of the session, if a hook supplied one.
    pub fn first_user_message(&self) -> Option<&str> {
        self.details.as_ref()?.first_user_message.as_deref()
    }

    /// Returns the original and the new value of `target`. `None`: no hook rewrote it.
    pub fn rewritten(&self, target: Target) -> Option<&Rewritten> {
        self.details.as_ref()?.rewrites.get(&target)
    }

    /// Returns the new tool input, if it was rewritten.
    pub fn effective_input(&self) -> Option<&RawJson> {
        self.effective(Target::Input)
    }

    /// Returns the new output, if it was rewritten.
    pub fn effective_output(&self) -> Option<&RawJson> {
        self.effective(Target::Output)
    }

    /// Returns the new conversation for the model, if it was rewritten.
    pub fn effective_messages(&self) -> Option<&RawJson> {
        self.effective(Target::Messages)
    }

    /// Returns the new prompt, if it was rewritten.
    pub fn effective_prompt(&self) -> Option<Cow<'_, str>> {
        self.effective(Target::Prompt)?.as_text()
    }

    /// Returns the summary that replaces the dropped messages, if a hook supplied one.
    pub fn summary(&self) -> Option<Cow<'_, str>> {
        self.effective(Target::Summary)?.as_text()
    }

    fn effective(&self, target: Target) -> Option<&RawJson> {
        self.rewritten(target).map(|rewritten| &rewritten.effective)
    }

    /// Returns the metadata from hooks, by name.
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
