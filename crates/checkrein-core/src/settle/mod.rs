//! From opinions to a verdict: a fold, one opinion at a time.

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
use crate::opinion::Opinion;
use crate::rules::{BlockScope, ChainEnd, Compat, DecisionRule, Rules};
use crate::source::{HookInfo, Scope};
use crate::verdict::{Details, HookMessage, Reason, Rewritten, Verdict, Warning};
use rewrites::PendingRewrite;

/// Whether the hooks behind shall run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum ChainStep {
    /// They shall.
    Next,
    /// They shall not: this hook has ended the chain.
    End,
}

/// What came of one hook, for settling many at once.
#[derive(Debug, Clone, Copy)]
pub struct HookResult<'a> {
    /// The hook.
    pub hook: &'a Arc<HookInfo>,
    /// What it said, or why it could not.
    pub result: Result<&'a Opinion, &'a Failure>,
}

/// Settles the outcomes of one event's hooks, in config order: the fold of [`Settlement::push`] over them. Ends where
/// the rules end the chain.
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
pub fn settle(rules: &Rules, event: &Event, outcomes: &[HookResult<'_>]) -> Verdict {
    let mut settlement = Settlement::new(rules, event);
    for (position, outcome) in outcomes.iter().enumerate() {
        let step = match outcome.result {
            Ok(opinion) => settlement.push(position, outcome.hook, opinion),
            Err(failure) => settlement.push_failure(position, outcome.hook, failure),
        };
        if step == ChainStep::End {
            break;
        }
    }
    settlement.finish()
}

/// Opinions on one event that are becoming a verdict.
///
/// Hooks that run side by side may be pushed as they finish: each brings its position in config order, and what comes
/// out is the same whatever the order of pushing. Hooks that see what others have rewritten are pushed as they run.
#[derive(Debug)]
pub struct Settlement<'a> {
    rules: Rules,
    event: &'a Event,
    kind: EventKind,
    decided: Vec<DecisionEntry>,
    /// Rewrites of the original that are not settled yet.
    pending: Vec<PendingRewrite>,
    /// What pipelined rewrites have made of it so far.
    current: BTreeMap<Target, RawJson>,
    context: Vec<(usize, HookMessage)>,
    messages: Vec<(usize, HookMessage)>,
    warnings: Vec<(usize, Warning)>,
    failures: Vec<(usize, (Arc<HookInfo>, Failure))>,
    stop_reasons: Vec<(usize, String)>,
    first_messages: Vec<(usize, String)>,
    metadata: Vec<(usize, (String, RawJson))>,
    suppress_output: bool,
    cancelled: bool,
    /// Whether nobody has said anything yet.
    quiet: bool,
}

/// A hook that decided or rewrote something.
#[derive(Debug)]
struct DecisionEntry {
    position: usize,
    hook: Arc<HookInfo>,
    decision: Decision,
    reason: Option<String>,
    /// Whether it decided by failing.
    by_failing: bool,
}

impl<'a> Settlement<'a> {
    /// Of no opinions yet.
    pub fn new(rules: &Rules, event: &'a Event) -> Self {
        Self {
            rules: *rules,
            event,
            kind: event.kind(),
            decided: Vec::new(),
            pending: Vec::new(),
            current: BTreeMap::new(),
            context: Vec::new(),
            messages: Vec::new(),
            warnings: Vec::new(),
            failures: Vec::new(),
            stop_reasons: Vec::new(),
            first_messages: Vec::new(),
            metadata: Vec::new(),
            suppress_output: false,
            cancelled: false,
            quiet: true,
        }
    }

    /// What the next hook sees in place of the original, if anything was rewritten for it.
    pub fn current(&self, target: Target) -> Option<&RawJson> {
        self.current.get(&target)
    }

    /// The event with all chained rewrites so far: the next hook in order sees it. `None` if there are none.
    pub fn rewritten_event(&self) -> Option<Event> {
        let mut rewritten = None;
        for (target, value) in &self.current {
            let event = rewritten.as_ref().unwrap_or(self.event);
            rewritten = event.rewritten(*target, value).or(rewritten);
        }
        rewritten
    }

    /// Takes what the hook at this place in config order said.
    ///
    /// An opinion with a rewrite that the event does not allow is a failure as a whole: who allows a rewritten input has
    /// not allowed the original. Only a deny in it counts all the same.
    ///
    /// The reply of a dry-run hook changes nothing.
    pub fn push(&mut self, position: usize, hook: &Arc<HookInfo>, opinion: &Opinion) -> ChainStep {
        if opinion.is_none() || hook.dry_run {
            return if self.cancelled { ChainStep::End } else { ChainStep::Next };
        }
        self.quiet = false;
        let rewrites = self.check_rewrites(hook, opinion.rewrites());
        let refused = rewrites.is_err();
        let said = Some(opinion.decision()).filter(|decision| !refused || decision.is_block()).unwrap_or_default();
        let decision = self.admitted(position, hook, said);
        let rewrote = rewrites.as_ref().is_ok_and(|rewrites| !rewrites.is_empty());
        if decision != Decision::NoOpinion || rewrote {
            self.decided.push(DecisionEntry {
                position,
                hook: Arc::clone(hook),
                decision,
                reason: opinion.reason().map(str::to_owned),
                by_failing: false,
            });
        }
        let effect = match rewrites {
            Ok(rewrites) => {
                self.take_rewrites(position, hook, rewrites);
                None
            }
            Err(message) => Some(self.fail(position, hook, Failure::new(FailureKind::Schema, message))),
        };
        self.take_words(position, hook, opinion);
        let marked = match self.rules.chain_end {
            ChainEnd::FirstTagged(mark) | ChainEnd::FirstMarkedOrFailure(mark) => {
                decision.is_block() && opinion.metadata().any(|(name, _)| name == mark)
            }
            ChainEnd::Never
            | ChainEnd::FirstDecision
            | ChainEnd::FirstBlock
            | ChainEnd::FirstBlockOrRewrite
            | ChainEnd::FirstBlockOrFailure => false,
        };
        if marked { ChainStep::End } else { self.step(decision, rewrote, effect) }
    }

    /// Takes that the hook at this place in config order failed. The failure of a dry-run hook changes nothing.
    pub fn push_failure(&mut self, position: usize, hook: &Arc<HookInfo>, failure: &Failure) -> ChainStep {
        if hook.dry_run {
            return if self.cancelled { ChainStep::End } else { ChainStep::Next };
        }
        self.quiet = false;
        let effect = self.fail(position, hook, failure.clone());
        self.step(Decision::NoOpinion, false, Some(effect))
    }

    /// Whether the chain goes on after a hook that decided and rewrote this, or whose failure had this effect.
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
            ChainEnd::FirstMarkedOrFailure(_) => failed.is_some(),
        };
        if ends { ChainStep::End } else { ChainStep::Next }
    }

    /// Whether anything has been decided or rewritten.
    pub(crate) fn has_decided(&self) -> bool {
        !self.decided.is_empty()
    }

    /// Takes that the host gave up on the event.
    pub fn cancel(&mut self) {
        self.cancelled = true;
    }

    fn contract(&self) -> &'a Contract {
        self.event.payload.contract()
    }

    /// Brings together what hooks that ran side by side have made of the event, so that those behind them see it
    /// ([`current`](Self::current)).
    pub fn compose_rewrites(&mut self) {
        self.settle_pending();
    }

    /// Takes something that the host should know about the hook at this place, and that decides nothing.
    pub fn warn(&mut self, position: usize, hook: &Arc<HookInfo>, text: String) {
        self.warn_with(position, hook, text, false);
    }

    /// The same for something that is so at every event.
    pub fn warn_persistent(&mut self, position: usize, hook: &Arc<HookInfo>, text: String) {
        self.warn_with(position, hook, text, true);
    }

    fn warn_with(&mut self, position: usize, hook: &Arc<HookInfo>, text: String, standing: bool) {
        if hook.dry_run {
            return;
        }
        self.quiet = false;
        let hook = Arc::clone(hook);
        self.warnings.push((position, Warning { hook, failure: None, text, persistent: standing }));
    }

    /// Records a failure and does about it what is to be done.
    fn fail(&mut self, position: usize, hook: &Arc<HookInfo>, failure: Failure) -> FailurePolicy {
        let effect = if failure.kind == FailureKind::Cancelled {
            self.cancelled = true;
            FailurePolicy::Open
        } else {
            self.effect_of(hook, &failure)
        };
        let (decision, done) = match effect {
            _ if failure.kind == FailureKind::Cancelled => (Decision::NoOpinion, "nothing is decided"),
            FailurePolicy::Open => (Decision::NoOpinion, "goes on without it, the hook fails open"),
            FailurePolicy::Closed => (Decision::Deny, "the hook fails closed"),
            FailurePolicy::Ask => (Decision::Ask, "the hook wants the user asked then"),
        };
        if decision != Decision::NoOpinion {
            self.decided.push(DecisionEntry {
                position,
                hook: Arc::clone(hook),
                decision,
                reason: failure.reason.clone().or_else(|| {
                    let look = self.where_to_look(hook);
                    Some(format!("{hook} failed ({failure}); {done}{look}"))
                }),
                by_failing: true,
            });
        }
        let warning = Warning {
            hook: Arc::clone(hook),
            failure: Some((failure.kind, effect)),
            text: format!("failed ({failure}); {done}"),
            // Nothing about the event makes a difference to whether its user has approved a hook.
            persistent: failure.kind == FailureKind::Untrusted && effect == FailurePolicy::Open,
        };
        if effect != FailurePolicy::Open || !hook.log_only_failures {
            self.warnings.push((position, warning));
        }
        self.failures.push((position, (Arc::clone(hook), failure)));
        effect
    }

    /// How to look into a failure, for hooks in hook files: the reader of the reason may not know of the program.
    fn where_to_look(&self, hook: &HookInfo) -> String {
        match hook.source.file {
            Some(_) if hook.source.scope != Scope::Code => {
                format!(" (`checkrein check` and `checkrein run {}` tell more)", self.event.kind())
            }
            _ => String::new(),
        }
    }

    /// The failure's own effect, else the hook's, else the table's; open where nothing can be closed.
    fn effect_of(&self, hook: &HookInfo, failure: &Failure) -> FailurePolicy {
        let on_timeout = hook.on_timeout.filter(|_| failure.kind == FailureKind::Timeout);
        let effect = failure
            .effect
            .or(on_timeout)
            .or(hook.on_failure)
            .unwrap_or_else(|| self.rules.failures.effect(failure.kind, self.contract()));
        let possible = match self.contract().block {
            BlockEffect::Refuse => true,
            // A failed hook must not keep an agent running that wants to stop.
            BlockEffect::Ignored | BlockEffect::Continue => false,
            BlockEffect::Feedback | BlockEffect::EndLoop => {
                effect != FailurePolicy::Ask && self.rules.blocks == BlockScope::Contract
            }
        };
        if possible { effect } else { FailurePolicy::Open }
    }

    /// The decision as far as the event has a use for it; what it has none for is a warning.
    fn admitted(&mut self, position: usize, hook: &Arc<HookInfo>, decision: Decision) -> Decision {
        let contract = self.contract();
        let gate = contract.is_gate();
        let blocks = match self.rules.blocks {
            BlockScope::Contract => contract.block != BlockEffect::Ignored,
            BlockScope::Gates => gate,
        };
        let useful = match decision {
            Decision::NoOpinion => true,
            // Where nothing waits for leave, leave means nothing, and does no harm.
            Decision::Allow if !blocks => return Decision::NoOpinion,
            Decision::Allow => true,
            Decision::Ask | Decision::Defer => gate,
            Decision::Deny => blocks,
            Decision::Halt => contract.halt || blocks,
        };
        if useful {
            return decision;
        }
        let why = match decision {
            Decision::Ask | Decision::Defer => "nobody waits for leave",
            _ if contract.block == BlockEffect::Ignored => "nothing is left to stop",
            _ => "these rules let nothing be stopped",
        };
        self.warn(position, hook, format!("said {decision}, but at {} {why}; ignored", self.kind));
        Decision::NoOpinion
    }

    /// All that is neither a decision nor a rewrite.
    fn take_words(&mut self, position: usize, hook: &Arc<HookInfo>, opinion: &Opinion) {
        let said = |text: &String| {
            let hook = Arc::clone(hook);
            (position, HookMessage { hook, text: text.clone() })
        };
        self.messages.extend(opinion.messages().iter().map(said));
        if self.contract().context.is_taken() {
            self.context.extend(opinion.contexts().iter().map(said));
        } else if !opinion.contexts().is_empty() {
            self.warn(position, hook, format!("has context for the model, but {} takes none; dropped", self.kind));
        }
        if let Some(text) = opinion.first_user_message() {
            if self.contract().context == crate::contract::ContextUse::FirstMessage {
                self.first_messages.push((position, text.to_owned()));
            } else {
                self.warn(
                    position,
                    hook,
                    format!("speaks as the user, but {} has no place for it; dropped", self.kind),
                );
            }
        }
        if let Some(text) = opinion.stop_reason() {
            self.stop_reasons.push((position, text.to_owned()));
        }
        self.suppress_output |= opinion.suppresses_output();
        self.metadata.extend(opinion.metadata().map(|(name, value)| (position, (name.to_owned(), value.clone()))));
    }

    /// The verdict.
    pub fn finish(mut self) -> Verdict {
        if self.quiet {
            return Verdict { cancelled: self.cancelled, ..Verdict::default() };
        }
        self.settle_pending();
        self.decided.sort_by_key(|decided| decided.position);
        // What hooks said before the host gave up is kept, but decides nothing.
        let winner = if self.cancelled { None } else { self.winner() };
        let decision = winner.map_or(Decision::NoOpinion, |at| self.decided[at].decision);
        let rewrites = std::mem::take(&mut self.current)
            .into_iter()
            .map(|(target, effective)| {
                let original = self.event.original(target);
                (target, Rewritten { original, effective })
            })
            .collect();
        // Those that only rewrote have no reason to show.
        let winner = winner.and_then(|at| {
            let spoke = |decided: &&DecisionEntry| decided.decision != Decision::NoOpinion;
            spoke(&&self.decided[at]).then(|| self.decided[..at].iter().filter(spoke).count())
        });
        let details = Details {
            winner,
            reasons: self.decided.into_iter().filter_map(reason_of).collect(),
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

    /// Whose decision the verdict is; `decided` is in config order.
    fn winner(&mut self) -> Option<usize> {
        let strongest = |wanted: fn(Decision) -> bool| self.strongest(|decided| wanted(decided.decision));
        let last = |wanted: fn(Decision) -> bool| self.decided.iter().rposition(|decided| wanted(decided.decision));
        let spoke = |decision| decision != Decision::NoOpinion;
        let winner = match self.rules.settle {
            DecisionRule::Strongest => strongest(spoke),
            DecisionRule::FirstDecision => (!self.decided.is_empty()).then_some(0),
            DecisionRule::AnyDenyElseLastAllow => {
                strongest(Decision::is_block).or_else(|| last(|decision| decision == Decision::Allow))
            }
            DecisionRule::AnyBlock => strongest(Decision::is_block),
            DecisionRule::LastWriter => {
                let last = last(spoke);
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
            Compat::Safe => self.strictest_failure(winner),
        };
        self.not_below_managed(winner)
    }

    /// What an administrator's hook holds back is held back at least as firmly, whatever rules an agent has and whoever else
    /// says something.
    fn not_below_managed(&self, winner: Option<usize>) -> Option<usize> {
        let so_far = winner.map_or(Decision::NoOpinion, |at| self.decided[at].decision).max(Decision::Allow);
        self.strongest(|decided| decided.hook.is_managed() && decided.decision > so_far).or(winner)
    }

    /// The strongest decision of these; of equals the first.
    fn strongest(&self, wanted: impl Fn(&DecisionEntry) -> bool) -> Option<usize> {
        let wanted = self.decided.iter().enumerate().filter(|(_, decided)| wanted(decided));
        wanted.max_by_key(|(at, decided)| (decided.decision, usize::MAX - at)).map(|(at, _)| at)
    }

    /// A hook that is to close or to ask when it fails does so, whatever others say and whoever comes first.
    fn strictest_failure(&self, winner: Option<usize>) -> Option<usize> {
        let so_far = winner.map_or(Decision::NoOpinion, |at| self.decided[at].decision);
        self.strongest(|decided| decided.by_failing && decided.decision > so_far).or(winner)
    }

    /// Says that an agent would have let `last` cancel `block`.
    fn keep_block(&mut self, block: usize, last: usize) {
        let (block, last) = (&self.decided[block], &self.decided[last]);
        let text = format!(
            "said {}, which in this agent would cancel the {} of {}; the {} stands (compat = \"exact\" follows the agent)",
            last.decision, block.decision, block.hook, block.decision
        );
        let (position, hook) = (last.position, Arc::clone(&last.hook));
        self.warn(position, &hook, text);
    }
}

/// A block always says why: a model that is not told cannot do better.
fn reason_of(decided: DecisionEntry) -> Option<Reason> {
    let DecisionEntry { hook, decision, reason, .. } = decided;
    if decision == Decision::NoOpinion {
        return None;
    }
    let text = match reason.filter(|text| !text.trim().is_empty()) {
        Some(text) => text,
        None if decision.is_block() => format!("{hook} said {decision} and gave no reason"),
        None => String::new(),
    };
    Some(Reason { hook, decision, text })
}

/// In config order, with the positions.
fn sorted_failures(mut failures: Vec<(usize, (Arc<HookInfo>, Failure))>) -> Vec<(usize, Arc<HookInfo>, Failure)> {
    failures.sort_by_key(|(position, _)| *position);
    failures.into_iter().map(|(position, (hook, failure))| (position, hook, failure)).collect()
}

fn sorted_by_position<T>(mut items: Vec<(usize, T)>) -> Vec<T> {
    items.sort_by_key(|(position, _)| *position);
    items.into_iter().map(|(_, item)| item).collect()
}
