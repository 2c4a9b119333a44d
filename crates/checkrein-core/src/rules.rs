//! How opinions settle, as data.

use crate::failure::FailureTable;

/// How the hooks of one event run and how their opinions become one verdict.
///
/// [`Rules::NATIVE`] are checkrein's own. Dialects have others, because an agent author who moves to checkrein
/// must be able to keep what users rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Which decision wins.
    pub settle: DecisionRule,
    /// Which hook sees what, and when it runs.
    pub order: RunOrder,
    /// What keeps the hooks behind from running.
    pub chain_end: ChainEnd,
    /// What becomes of several rewrites of the same original.
    pub concurrent_rewrites: ConcurrentRewrites,
    /// Where a deny counts.
    pub blocks: BlockScope,
    /// Whether an agent's rules are followed where they let a later allow cancel a deny.
    pub compat: Compat,
    /// What is done about failures.
    pub failures: FailureTable,
}

impl Rules {
    /// checkrein's own: the strongest decision wins; rewriters run first, one on the result of the other, then all
    /// others side by side on what came out; gates that fail are closed.
    pub const NATIVE: Self = Self {
        settle: DecisionRule::Strongest,
        order: RunOrder::Phased,
        chain_end: ChainEnd::Never,
        concurrent_rewrites: ConcurrentRewrites::Compose,
        blocks: BlockScope::Contract,
        compat: Compat::Safe,
        failures: FailureTable::native(),
    };

    /// The rules of a plain callback runner: the first callback that blocks or rewrites ends the chain, a callback that
    /// fails counts as silent, and a deny applies only at gates. An allow does not end the chain, so a guard behind it
    /// still runs.
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

    /// The name in records: that of the preset, or `custom`.
    pub(crate) fn name(&self) -> &'static str {
        match *self {
            Self::NATIVE => "native",
            Self::FIRST_DECISION => "first_decision",
            _ => "custom",
        }
    }

    /// The same with another rule for which decision wins.
    #[must_use]
    pub const fn settle(mut self, settle: DecisionRule) -> Self {
        self.settle = settle;
        self
    }

    /// The same in another order.
    #[must_use]
    pub const fn order(mut self, order: RunOrder) -> Self {
        self.order = order;
        self
    }

    /// The same with another end of the chain.
    #[must_use]
    pub const fn chain_end(mut self, chain_end: ChainEnd) -> Self {
        self.chain_end = chain_end;
        self
    }

    /// The same with another rule for several rewrites of the same original.
    #[must_use]
    pub const fn side_by_side(mut self, side_by_side: ConcurrentRewrites) -> Self {
        self.concurrent_rewrites = side_by_side;
        self
    }

    /// The same with another say in where a deny counts.
    #[must_use]
    pub const fn blocks(mut self, blocks: BlockScope) -> Self {
        self.blocks = blocks;
        self
    }

    /// The same with another faithfulness.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// The same with another table of failures.
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

/// Which decision wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionRule {
    /// The strongest, whatever the order.
    Strongest,
    /// The first in config order that decides or rewrites anything.
    FirstDecision,
    /// A deny if there is one, else the last allow. Nothing else counts.
    AnyDenyElseLastAllow,
    /// A deny if there is one. Nothing else counts.
    AnyBlock,
    /// The last in config order. Lets a later allow cancel a deny under [`Compat::Exact`] only.
    LastWriter,
}

/// Which hook sees what, and when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunOrder {
    /// One after the other, each on the original.
    Sequential,
    /// All at once, each on the original.
    Parallel,
    /// One after the other, each on what the one before made of it.
    Pipeline,
    /// Those that declared rewrites as a pipeline, then all others at once on what came out.
    Phased,
}

/// What keeps the hooks behind from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainEnd {
    /// Nothing.
    Never,
    /// The first that decides or rewrites anything.
    FirstDecision,
    /// The first deny, halt or rewrite.
    FirstBlockOrRewrite,
    /// The first deny or halt.
    FirstBlock,
    /// The first deny or halt, and the first failure or cancellation.
    FirstBlockOrFailure,
    /// The first deny or halt that carries metadata of this name, for agents that know a deny behind which others still
    /// run and one behind which they do not. And the first failure that closes something.
    FirstTagged(&'static str),
    /// The same, and the first failure or cancellation.
    FirstMarkedOrFailure(&'static str),
}

/// What becomes of several rewrites of the same original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConcurrentRewrites {
    /// Changes to different fields come together; different values for one field are a conflict.
    Compose,
    /// The last in config order wins.
    LastInOrder,
    /// The first in config order wins.
    FirstInOrder,
}

/// Where a deny counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockScope {
    /// Wherever the kind's contract gives it a meaning.
    Contract,
    /// Only where something can still be refused.
    Gates,
}

/// Whether an agent's rules are followed where they are not safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compat {
    /// No: a deny stands, and the verdict says that the agent would have dropped it.
    Safe,
    /// Yes.
    Exact,
}
