//! [`Settlement`]: combines the opinions and failures of one event's hooks into a verdict.
//!
//! Engine, runner and dry runs use it. The result must never depend on the order in which concurrent hooks finish, and no
//! hook may weaken the decision of a managed hook.

mod rewrites;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::action::ActionKind;
use crate::contract::{BlockEffect, Contract, Target};
use crate::decision::Decision;
use crate::event::Event;
use crate::failure::{Failure, FailureKind, FailurePolicy};
use crate::json::RawJson;
use crate::kind::EventKind;
use crate::opinion::{Opinion, RewriteTexts};
use crate::rules::{BlockScope, ChainEnd, Compat, DecisionRule, Rules};
use crate::source::{HookInfo, Scope};
use crate::verdict::{Details, HookMessage, Reason, Rewritten, Verdict, Warning};
use rewrites::PendingRewrite;

/// Continuation of the chain after one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum ChainStep {
    /// Later hooks run.
    Next,
    /// Later hooks do not run.
    End,
}

/// Result of one hook, as input of [`settle`].
#[derive(Debug, Clone, Copy)]
pub struct HookResult<'a> {
    /// Hook.
    pub hook: &'a Arc<HookInfo>,
    /// Its opinion or its failure.
    pub result: Result<&'a Opinion, &'a Failure>,
}

/// Settles the results of one event's hooks, in config order. Stops where the rules end the chain.
///
/// ```
/// use std::sync::Arc;
/// use checkrein_core::payload::Prompt;
/// use checkrein_core::{Decision, Event, HookInfo, Opinion, HookResult, Rules, Source, settle};
///
/// let event = Event::prompt_submit(Prompt::new("deploy to production"));
/// let hooks = ["lint", "freeze"].map(|id| Arc::new(HookInfo::new(id, Source::here())));
/// let verdict = settle(&Rules::NATIVE, &event, &[
///     HookResult { hook: &hooks[0], result: Ok(&Opinion::allow()) },
///     HookResult { hook: &hooks[1], result: Ok(&Opinion::deny("code freeze until Monday")) },
/// ]);
/// assert_eq!(verdict.decision(), Decision::Deny);
/// assert_eq!(verdict.reason(), Some("code freeze until Monday"));
/// ```
pub fn settle(rules: &Rules, event: &Event, results: &[HookResult<'_>]) -> Verdict {
    let mut settlement = Settlement::new(rules, event);
    for (position, hook_result) in results.iter().enumerate() {
        let step = match hook_result.result {
            Ok(opinion) => settlement.push(position, hook_result.hook, opinion),
            Err(failure) => settlement.push_failure(position, hook_result.hook, failure),
        };
        if step == ChainStep::End {
            break;
        }
    }
    settlement.finish()
}

/// Accumulator of the opinions on one event.
///
/// Concurrent hooks may be pushed as they finish: each has its position in config order, and the result does not depend on
/// the order of pushing. Pipelined hooks must be pushed in the order in which they run.
#[derive(Debug)]
pub struct Settlement<'a> {
    rules: Rules,
    event: &'a Event,
    kind: EventKind,
    decided: Vec<DecisionEntry>,
    /// Rewrites of the original that are not composed yet.
    pending: Vec<PendingRewrite>,
    /// Values after the pipelined and composed rewrites so far.
    current: BTreeMap<Target, RawJson>,
    /// Hooks that rewrote a target, with their texts about it.
    rewriters: Vec<(usize, Target, Arc<HookInfo>, Option<RewriteTexts>)>,
    context: Vec<(usize, HookMessage)>,
    messages: Vec<(usize, HookMessage)>,
    warnings: Vec<(usize, Warning)>,
    failures: Vec<(usize, (Arc<HookInfo>, Failure))>,
    stop_reasons: Vec<(usize, String)>,
    first_messages: Vec<(usize, String)>,
    metadata: Vec<(usize, (String, RawJson))>,
    suppress_output: bool,
    cancelled: bool,
    /// `true` until a hook returns an opinion, fails or causes a warning.
    is_empty: bool,
}

/// Hook with a decision or a rewrite.
#[derive(Debug)]
struct DecisionEntry {
    position: usize,
    hook: Arc<HookInfo>,
    decision: Decision,
    reason: Option<String>,
    /// `true` if the decision comes from the failure policy.
    is_failure: bool,
}

impl<'a> Settlement<'a> {
    /// Creates a settlement without opinions.
    pub fn new(rules: &Rules, event: &'a Event) -> Self {
        Self {
            rules: *rules,
            event,
            kind: event.kind(),
            decided: Vec::new(),
            pending: Vec::new(),
            current: BTreeMap::new(),
            rewriters: Vec::new(),
            context: Vec::new(),
            messages: Vec::new(),
            warnings: Vec::new(),
            failures: Vec::new(),
            stop_reasons: Vec::new(),
            first_messages: Vec::new(),
            metadata: Vec::new(),
            suppress_output: false,
            cancelled: false,
            is_empty: true,
        }
    }

    /// Returns the value that the next hook sees in place of the original, if the target was rewritten.
    pub fn current(&self, target: Target) -> Option<&RawJson> {
        self.current.get(&target)
    }

    /// Returns the event with all rewrites so far, as the next hook sees it. `None` if there are none.
    pub fn rewritten_event(&self) -> Option<Event> {
        let mut rewritten = None;
        for (target, value) in &self.current {
            let event = rewritten.as_ref().unwrap_or(self.event);
            rewritten = event.rewritten(*target, value).or(rewritten);
        }
        rewritten
    }

    /// Adds the opinion of the hook at this position in config order.
    ///
    /// An opinion with a rewrite that the event does not allow is a failure: an allow of the rewritten input is not an allow
    /// of the original. Only a deny or halt in it still applies.
    ///
    /// The reply of a dry-run hook changes nothing.
    pub fn push(&mut self, position: usize, hook: &Arc<HookInfo>, opinion: &Opinion) -> ChainStep {
        if opinion.is_none() || hook.dry_run {
            return if self.cancelled { ChainStep::End } else { ChainStep::Next };
        }
        self.is_empty = false;
        let rewrites = self.check_rewrites(hook, opinion.rewrites());
        let returned =
            if rewrites.is_ok() || opinion.decision().is_block() { opinion.decision() } else { Decision::NoOpinion };
        let decision = self.admit_decision(position, hook, returned);
        let rewrote = rewrites.as_ref().is_ok_and(|rewrites| !rewrites.is_empty());
        if decision != Decision::NoOpinion || rewrote {
            self.decided.push(DecisionEntry {
                position,
                hook: Arc::clone(hook),
                decision,
                reason: opinion.reason().map(str::to_owned),
                is_failure: false,
            });
        }
        let effect = match rewrites {
            Ok(rewrites) => {
                self.take_rewrites(position, hook, rewrites);
                self.take_rewrite_texts(position, hook, opinion.rewrites());
                None
            }
            Err(message) => Some(self.fail(position, hook, Failure::new(FailureKind::Schema, message))),
        };
        self.take_texts(position, hook, opinion);
        let has_tag = |tag| opinion.metadata().any(|(name, _)| name == tag);
        if decision.is_block() && self.rules.chain_end.tag().is_some_and(has_tag) {
            ChainStep::End
        } else {
            self.step(decision, rewrote, effect)
        }
    }

    /// Adds the failure of the hook at this position in config order. The failure of a dry-run hook changes nothing.
    pub fn push_failure(&mut self, position: usize, hook: &Arc<HookInfo>, failure: &Failure) -> ChainStep {
        if hook.dry_run {
            return if self.cancelled { ChainStep::End } else { ChainStep::Next };
        }
        self.is_empty = false;
        let effect = self.fail(position, hook, failure.clone());
        self.step(Decision::NoOpinion, false, Some(effect))
    }

    /// Returns the continuation of the chain after a hook with this decision, rewrite or failure.
    fn step(&self, decision: Decision, rewrote: bool, failed: Option<FailurePolicy>) -> ChainStep {
        let blocks = decision.is_block() || failed == Some(FailurePolicy::Closed);
        let decides = decision != Decision::NoOpinion || failed.is_some_and(|effect| effect != FailurePolicy::Open);
        let ends = match self.rules.chain_end {
            _ if self.cancelled => true,
            ChainEnd::Never => false,
            ChainEnd::FirstDecision => decides || rewrote,
            ChainEnd::FirstBlockOrRewrite => blocks || rewrote,
            ChainEnd::FirstBlock => blocks,
            ChainEnd::FirstBlockOrFailure => blocks || failed.is_some(),
            ChainEnd::FirstTagged(_) => failed == Some(FailurePolicy::Closed),
            ChainEnd::FirstTaggedOrFailure(_) => failed.is_some(),
        };
        if ends { ChainStep::End } else { ChainStep::Next }
    }

    /// `true` if a hook has decided or rewritten.
    pub(crate) fn has_decided(&self) -> bool {
        !self.decided.is_empty()
    }

    /// Marks the event as cancelled by the host.
    pub fn cancel(&mut self) {
        self.cancelled = true;
    }

    fn contract(&self) -> &'a Contract {
        self.event.payload.contract()
    }

    /// Composes the rewrites of concurrent hooks, so that later hooks see the result ([`current`](Self::current)).
    pub fn compose_rewrites(&mut self) {
        self.settle_pending();
    }

    /// Adds a warning about the hook at this position. The decision does not change.
    pub fn warn(&mut self, position: usize, hook: &Arc<HookInfo>, text: String) {
        self.warn_with(position, hook, text, false);
    }

    /// As [`warn`](Self::warn), for a problem of the setup that occurs at each event.
    pub fn warn_persistent(&mut self, position: usize, hook: &Arc<HookInfo>, text: String) {
        self.warn_with(position, hook, text, true);
    }

    fn warn_with(&mut self, position: usize, hook: &Arc<HookInfo>, text: String, persistent: bool) {
        if hook.dry_run {
            return;
        }
        self.is_empty = false;
        let hook = Arc::clone(hook);
        self.warnings.push((position, Warning { hook, failure: None, text, persistent }));
    }

    /// Records a failure and applies its policy.
    fn fail(&mut self, position: usize, hook: &Arc<HookInfo>, failure: Failure) -> FailurePolicy {
        let effect = if failure.kind == FailureKind::Cancelled {
            self.cancelled = true;
            FailurePolicy::Open
        } else {
            self.failure_policy(hook, &failure)
        };
        let (decision, effect_text) = match effect {
            _ if failure.kind == FailureKind::Cancelled => (Decision::NoOpinion, "no decision"),
            FailurePolicy::Open => (Decision::NoOpinion, "ignored"),
            FailurePolicy::Closed => (Decision::Deny, "blocked"),
            FailurePolicy::Ask => (Decision::Ask, "the user is asked"),
        };
        let text = match failure.kind {
            // No key of the hook changes the effect of these.
            FailureKind::Untrusted if effect == FailurePolicy::Open => failure.sentence(),
            FailureKind::Untrusted | FailureKind::Cancelled => format!("{}; {effect_text}", failure.sentence()),
            FailureKind::Timeout => format!("{}; {effect_text} (on_timeout: {effect})", failure.sentence()),
            _ => format!("{}; {effect_text} (on_failure: {effect})", failure.sentence()),
        };
        if decision != Decision::NoOpinion {
            self.decided.push(DecisionEntry {
                position,
                hook: Arc::clone(hook),
                decision,
                reason: failure.reason.clone().or_else(|| {
                    let advice = self.advice(hook, failure.kind);
                    Some(format!("{hook} {text}{advice}"))
                }),
                is_failure: true,
            });
        }
        let warning = Warning {
            hook: Arc::clone(hook),
            failure: Some((failure.kind, effect)),
            text,
            // The approval of a hook does not depend on the event.
            persistent: failure.kind == FailureKind::Untrusted && effect == FailurePolicy::Open,
        };
        if effect != FailurePolicy::Open || !hook.log_only_failures {
            self.warnings.push((position, warning));
        }
        self.failures.push((position, (Arc::clone(hook), failure)));
        effect
    }

    /// Returns the next step for the model that reads the reason. Empty for hooks that are not in a hook file.
    fn advice(&self, hook: &HookInfo, failure: FailureKind) -> String {
        if hook.source.file.is_none() || hook.source.scope == Scope::Code {
            return String::new();
        }
        if failure == FailureKind::Untrusted {
            return "; ask the user to review and approve the hook".to_owned();
        }
        let kind = &self.kind;
        format!("; ask the user to fix the hook (details: `checkrein check`, `checkrein run {kind}`)")
    }

    /// Returns the policy of the failure, else of the hook, else of the table. Open at events that cannot be blocked.
    fn failure_policy(&self, hook: &HookInfo, failure: &Failure) -> FailurePolicy {
        let on_timeout = if failure.kind == FailureKind::Timeout { hook.on_timeout } else { None };
        let effect = failure
            .effect
            .or(on_timeout)
            .or(hook.on_failure)
            .unwrap_or_else(|| self.rules.failures.effect(failure.kind, self.contract()));
        self.rules.blocks.possible_effect(effect, self.contract())
    }

    /// Returns the decision if the event supports it. Otherwise adds a warning and returns no opinion.
    fn admit_decision(&mut self, position: usize, hook: &Arc<HookInfo>, decision: Decision) -> Decision {
        let contract = self.contract();
        let gate = contract.is_gate();
        let blocks = match self.rules.blocks {
            BlockScope::Contract => contract.block != BlockEffect::Ignored,
            BlockScope::Gates => gate,
        };
        let is_supported = match decision {
            Decision::NoOpinion => true,
            // An allow at an event that cannot be blocked has no effect and needs no warning.
            Decision::Allow if !blocks => return Decision::NoOpinion,
            Decision::Allow => true,
            Decision::Ask | Decision::Defer => gate,
            Decision::Deny => blocks,
            Decision::Halt => contract.halt || blocks,
        };
        if is_supported {
            return decision;
        }
        let kind = &self.kind;
        let cause = match decision {
            Decision::Ask | Decision::Defer => format!("which `{kind}` does not support"),
            _ if contract.block == BlockEffect::Ignored => format!("but `{kind}` cannot be blocked"),
            _ => format!("which these rules ignore at `{kind}`"),
        };
        self.warn(position, hook, format!("returned `{decision}`, {cause}; ignored"));
        Decision::NoOpinion
    }

    /// Adds everything that is neither a decision nor a rewrite.
    fn take_texts(&mut self, position: usize, hook: &Arc<HookInfo>, opinion: &Opinion) {
        let message = |text: &String| {
            let hook = Arc::clone(hook);
            (position, HookMessage { hook, text: text.clone(), reports: None })
        };
        self.messages.extend(opinion.messages().iter().map(message));
        for text in opinion.warnings() {
            self.warn(position, hook, text.clone());
        }
        if self.contract().context.is_supported() {
            self.context.extend(opinion.contexts().iter().map(message));
        } else if !opinion.contexts().is_empty() {
            let text = format!("returned context for the model, which `{}` does not support; dropped", self.kind);
            self.warn(position, hook, text);
        }
        if let Some(text) = opinion.first_user_message() {
            if self.contract().context == crate::contract::ContextUse::FirstMessage {
                self.first_messages.push((position, text.to_owned()));
            } else {
                let text = format!("returned a first user message, which `{}` does not support; dropped", self.kind);
                self.warn(position, hook, text);
            }
        }
        if let Some(text) = opinion.stop_reason() {
            self.stop_reasons.push((position, text.to_owned()));
        }
        self.suppress_output |= opinion.suppresses_output();
        self.metadata.extend(opinion.metadata().map(|(name, value)| (position, (name.to_owned(), value.clone()))));
    }

    /// Returns the verdict.
    pub fn finish(mut self) -> Verdict {
        if self.is_empty {
            return Verdict { cancelled: self.cancelled, ..Verdict::default() };
        }
        self.settle_pending();
        self.decided.sort_by_key(|decided| decided.position);
        // Opinions from before the cancellation are kept, but decide nothing.
        let winner = if self.cancelled { None } else { self.winner() };
        let decision = winner.map_or(Decision::NoOpinion, |index| self.decided[index].decision);
        self.rewriters.sort_by_key(|(position, ..)| *position);
        let rewrites = std::mem::take(&mut self.current)
            .into_iter()
            .map(|(target, effective)| {
                let original = self.event.original(target);
                let by = self.rewriters.iter().filter(|(_, own, ..)| *own == target);
                let by = by.map(|(_, _, hook, texts)| (Arc::clone(hook), texts.clone())).collect();
                (target, Rewritten { original, effective, by })
            })
            .collect();
        // Hooks that only rewrote are not in `reasons`.
        let winner = winner.and_then(|index| {
            let has_decision = |decided: &&DecisionEntry| decided.decision != Decision::NoOpinion;
            has_decision(&&self.decided[index]).then(|| self.decided[..index].iter().filter(has_decision).count())
        });
        let details = Details {
            winner,
            reasons: self.decided.into_iter().filter_map(into_reason).collect(),
            context: sorted_by_position(self.context),
            messages: sorted_by_position(self.messages),
            warnings: sorted_by_position(self.warnings),
            failures: sorted_failures(self.failures),
            stop_reason: sorted_by_position(self.stop_reasons).into_iter().next(),
            suppress_output: self.suppress_output,
            first_user_message: Some(sorted_by_position(self.first_messages).join("\n"))
                .filter(|text| !text.is_empty()),
            rewrites,
            metadata: sorted_by_position(self.metadata).into_iter().collect(),
        };
        let action = ActionKind::new(self.event.payload.contract(), decision);
        let details = (!details.is_empty()).then(|| Box::new(details));
        Verdict { decision, action, cancelled: self.cancelled, details }
    }

    /// Returns the index of the winning decision. `decided` must be in config order.
    fn winner(&mut self) -> Option<usize> {
        let strongest = |wanted: fn(Decision) -> bool| self.strongest(|decided| wanted(decided.decision));
        let last = |wanted: fn(Decision) -> bool| self.decided.iter().rposition(|decided| wanted(decided.decision));
        let any_decision = |decision| decision != Decision::NoOpinion;
        let winner = match self.rules.settle {
            DecisionRule::Strongest => strongest(any_decision),
            DecisionRule::FirstDecision => (!self.decided.is_empty()).then_some(0),
            DecisionRule::AnyDenyElseLastAllow => {
                strongest(Decision::is_block).or_else(|| last(|decision| decision == Decision::Allow))
            }
            DecisionRule::AnyBlock => strongest(Decision::is_block),
            DecisionRule::LastWriter => {
                let last = last(any_decision);
                let block = strongest(Decision::is_block);
                match (self.rules.compat, block.zip(last)) {
                    (Compat::Safe, Some((block, last)))
                        if self.decided[last].decision < self.decided[block].decision =>
                    {
                        self.keep_block(block, last);
                        Some(block)
                    }
                    _ => last,
                }
            }
        };
        let winner = match self.rules.compat {
            Compat::Exact => winner,
            Compat::Safe => self.raise_to_failures(winner),
        };
        self.raise_to_managed(winner)
    }

    /// Returns the winner, or the strongest decision above an allow of a managed hook if that is stronger. This applies
    /// under all rules.
    fn raise_to_managed(&self, winner: Option<usize>) -> Option<usize> {
        let winning = winner.map_or(Decision::NoOpinion, |index| self.decided[index].decision).max(Decision::Allow);
        self.strongest(|decided| decided.hook.is_managed() && decided.decision > winning).or(winner)
    }

    /// Returns the index of the strongest wanted decision; of equals the first.
    fn strongest(&self, wanted: impl Fn(&DecisionEntry) -> bool) -> Option<usize> {
        let wanted = self.decided.iter().enumerate().filter(|(_, decided)| wanted(decided));
        wanted.max_by_key(|(index, decided)| (decided.decision, usize::MAX - index)).map(|(index, _)| index)
    }

    /// Returns the winner, or the strongest decision of a failure if that is stronger. So a failure policy applies whatever
    /// the decisions of other hooks.
    fn raise_to_failures(&self, winner: Option<usize>) -> Option<usize> {
        let winning = winner.map_or(Decision::NoOpinion, |index| self.decided[index].decision);
        self.strongest(|decided| decided.is_failure && decided.decision > winning).or(winner)
    }

    /// Adds a warning that the agent would have let `last` cancel `block`.
    fn keep_block(&mut self, block: usize, last: usize) {
        let (block, last) = (&self.decided[block], &self.decided[last]);
        let text = format!(
            "returned `{}`, which in this agent would cancel the `{}` of {}; the `{}` is kept (compat = \"exact\" follows \
             the agent)",
            last.decision, block.decision, block.hook, block.decision
        );
        let (position, hook) = (last.position, Arc::clone(&last.hook));
        self.warn(position, &hook, text);
    }
}

/// Converts a decision into a reason. A block always has a text: without one, a model cannot correct its call.
fn into_reason(decided: DecisionEntry) -> Option<Reason> {
    let DecisionEntry { hook, decision, reason, .. } = decided;
    if decision == Decision::NoOpinion {
        return None;
    }
    let text = match reason.filter(|text| !text.trim().is_empty()) {
        Some(text) => text,
        None if decision.is_block() => format!("{hook} returned `{decision}` without a reason"),
        None => String::new(),
    };
    Some(Reason { hook, decision, text })
}

/// Sorts failures into config order and keeps the positions.
fn sorted_failures(mut failures: Vec<(usize, (Arc<HookInfo>, Failure))>) -> Vec<(usize, Arc<HookInfo>, Failure)> {
    failures.sort_by_key(|(position, _)| *position);
    failures.into_iter().map(|(position, (hook, failure))| (position, hook, failure)).collect()
}

fn sorted_by_position<T>(mut items: Vec<(usize, T)>) -> Vec<T> {
    items.sort_by_key(|(position, _)| *position);
    items.into_iter().map(|(_, item)| item).collect()
}
