//! [`Rules`]: the order in which hooks run, and the way their opinions become a verdict, as data.
//!
//! Engine, runner and settling follow them; dialects define one set per agent.

use crate::contract::{BlockEffect, Contract};
use crate::failure::{FailurePolicy, FailureTable};

/// Rules for running the hooks of one event and for settling their opinions.
///
/// [`Rules::NATIVE`] are checkrein's own. Dialects have others, so that an agent that moves to checkrein can keep the
/// behaviour its users rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Rule for the decision that wins.
    pub settle: DecisionRule,
    /// Order of the hooks, and the input of each.
    pub order: RunOrder,
    /// Result of a hook that prevents later hooks from running.
    pub chain_end: ChainEnd,
    /// Rule for concurrent hooks that rewrite the same value.
    pub concurrent_rewrites: ConcurrentRewrites,
    /// Events at which a deny applies.
    pub blocks: BlockScope,
    /// Handling of agent rules that let a later allow cancel a deny.
    pub compat: Compat,
    /// Policies for failures.
    pub failures: FailureTable,
}

impl Rules {
    /// checkrein's own rules. The strongest decision wins. Hooks that declare rewrites run first, each on the result of the
    /// previous one; then all others run concurrently on the final result. Failures at gates are closed.
    pub const NATIVE: Self = Self {
        settle: DecisionRule::Strongest,
        order: RunOrder::Phased,
        chain_end: ChainEnd::Never,
        concurrent_rewrites: ConcurrentRewrites::Compose,
        blocks: BlockScope::Contract,
        compat: Compat::Safe,
        failures: FailureTable::native(),
    };

    /// The rules of a plain callback runner. The first callback that blocks or rewrites ends the chain. A callback that
    /// fails is ignored, and a deny applies only at gates. An allow does not end the chain, so a later guard still runs.
    ///
    /// These rules fail open. They are for hosts that move from such a runner and rely on them; [`Rules::NATIVE`] is the
    /// safe choice.
    ///
    /// ```
    /// use checkrein_core::payload::ToolCall;
    /// use checkrein_core::{Decision, Event, EventKind, Opinion, RawJson, Rules, Runner};
    ///
    /// let runner = Runner::builder().rules(Rules::FIRST_DECISION).discard_log().build();
    /// runner.on(EventKind::PreToolUse, "broken", |_| -> Result<Opinion, std::fmt::Error> { Err(std::fmt::Error) });
    /// runner.on(EventKind::PreToolUse, "first", |_| Opinion::deny("not today"));
    /// runner.on(EventKind::PreToolUse, "never called", |_| Opinion::deny("not tomorrow"));
    ///
    /// let verdict = runner.fire(&Event::pre_tool_use(ToolCall::new("Bash", RawJson::default())));
    /// assert_eq!(verdict.decision(), Decision::Deny);
    /// assert_eq!(verdict.reason(), Some("not today"));
    /// ```
    pub const FIRST_DECISION: Self = Self {
        settle: DecisionRule::Strongest,
        order: RunOrder::Sequential,
        chain_end: ChainEnd::FirstBlockOrRewrite,
        concurrent_rewrites: ConcurrentRewrites::FirstInOrder,
        blocks: BlockScope::Gates,
        compat: Compat::Safe,
        failures: FailureTable::open(),
    };

    /// Returns the name in records: that of the preset, or `custom`.
    pub(crate) fn name(&self) -> &'static str {
        match *self {
            Self::NATIVE => "native",
            Self::FIRST_DECISION => "first_decision",
            _ => "custom",
        }
    }

    /// Sets the rule for the decision that wins.
    #[must_use]
    pub const fn settle(mut self, settle: DecisionRule) -> Self {
        self.settle = settle;
        self
    }

    /// Sets the order of the hooks.
    #[must_use]
    pub const fn order(mut self, order: RunOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets the result that ends the chain.
    #[must_use]
    pub const fn chain_end(mut self, chain_end: ChainEnd) -> Self {
        self.chain_end = chain_end;
        self
    }

    /// Sets the rule for concurrent hooks that rewrite the same value.
    #[must_use]
    pub const fn concurrent_rewrites(mut self, concurrent_rewrites: ConcurrentRewrites) -> Self {
        self.concurrent_rewrites = concurrent_rewrites;
        self
    }

    /// Sets the events at which a deny applies.
    #[must_use]
    pub const fn blocks(mut self, blocks: BlockScope) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets the handling of unsafe agent rules.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Sets the policies for failures.
    #[must_use]
    pub const fn failures(mut self, failures: FailureTable) -> Self {
        self.failures = failures;
        self
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::NATIVE
    }
}

/// Rule for the decision that wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionRule {
    /// The strongest decision, in any order.
    Strongest,
    /// The first hook in config order with a decision or a rewrite.
    FirstDecision,
    /// A deny or halt if there is one, else the last allow. Other decisions are ignored.
    AnyDenyElseLastAllow,
    /// A deny or halt if there is one. Other decisions are ignored.
    AnyBlock,
    /// The last decision in config order. A later allow cancels a deny under [`Compat::Exact`] only.
    LastWriter,
}

/// Order of the hooks, and the input of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunOrder {
    /// Sequential, each on the original event.
    Sequential,
    /// Concurrent, each on the original event.
    Parallel,
    /// Sequential, each on the event as rewritten by the previous hook.
    Pipeline,
    /// Hooks that declare rewrites as a pipeline, then all others concurrently on the result.
    Phased,
}

/// Result of a hook that prevents later hooks from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainEnd {
    /// None.
    Never,
    /// The first decision or rewrite.
    FirstDecision,
    /// The first deny, halt or rewrite.
    FirstBlockOrRewrite,
    /// The first deny or halt.
    FirstBlock,
    /// The first deny or halt, and the first failure or cancellation.
    FirstBlockOrFailure,
    /// The first deny or halt with metadata of this name, and the first failure that is closed. For agents with two kinds
    /// of deny: one ends the chain, the other does not.
    FirstTagged(&'static str),
    /// The first deny or halt with metadata of this name, and the first failure or cancellation.
    FirstTaggedOrFailure(&'static str),
}

impl BlockScope {
    /// Returns the effect of a failure at an event with this contract: open at events that a failed hook cannot block.
    pub fn possible_effect(self, effect: FailurePolicy, contract: &Contract) -> FailurePolicy {
        let possible = match contract.block {
            BlockEffect::Refuse => true,
            // A failed hook must not keep an agent running that wants to stop.
            BlockEffect::Ignored | BlockEffect::Continue => false,
            BlockEffect::Feedback | BlockEffect::EndLoop => effect != FailurePolicy::Ask && self == Self::Contract,
        };
        if possible { effect } else { FailurePolicy::Open }
    }
}

impl ChainEnd {
    /// Returns the name of the metadata that marks a deny that ends the chain.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Self::FirstTagged(tag) | Self::FirstTaggedOrFailure(tag) => Some(tag),
            Self::Never
            | Self::FirstDecision
            | Self::FirstBlockOrRewrite
            | Self::FirstBlock
            | Self::FirstBlockOrFailure => None,
        }
    }
}

/// Rule for concurrent hooks that rewrite the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConcurrentRewrites {
    /// Changes of different fields are combined; different values for one field are a conflict.
    Compose,
    /// The last in config order wins.
    LastInOrder,
    /// The first in config order wins.
    FirstInOrder,
}

/// Events at which a deny applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockScope {
    /// Events whose contract defines an effect of a deny.
    Contract,
    /// Gates only.
    Gates,
}

/// Handling of unsafe agent rules: those that let a later allow cancel a deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compat {
    /// Unsafe rules are not followed: a deny is kept, and a warning says that the agent would have dropped it.
    Safe,
    /// Unsafe rules are followed.
    Exact,
}
