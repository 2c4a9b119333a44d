use crate::contract::{BlockEffect, Contract};
use crate::decision::Decision;

/// The host's next step after an event. Made by [`Verdict::action`](crate::Verdict::action).
///
/// A decision means different things at different events: a deny refuses a tool call, is feedback after the call, and
/// keeps an agent going that wants to stop. The action is the decision with the event's
/// [contract](crate::Contract) applied, so a host matches it once.
///
/// The reason is empty only for [`Ask`](Self::Ask), if the hook gave none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Action<'a> {
    /// Go on. If the [decision](crate::Verdict::decision) is [`Allow`](Decision::Allow), without asking the user;
    /// otherwise by the host's own permission rules.
    Proceed,
    /// Ask the user first.
    Ask {
        /// Why.
        reason: &'a str,
    },
    /// Do not do what was about to happen, and give the reason to the model.
    Refuse {
        /// Why.
        reason: &'a str,
    },
    /// Go on, and give the reason to the model: it has happened already.
    Feedback {
        /// Text for the model.
        reason: &'a str,
    },
    /// Do not stop: continue the agent loop with the reason as the next prompt.
    Continue {
        /// The next prompt.
        reason: &'a str,
    },
    /// Do not do what was about to happen, and end the agent loop.
    EndLoop {
        /// Why.
        reason: &'a str,
    },
    /// Drop the event: the host has cancelled it, and nothing is decided.
    Cancelled,
}

/// An [`Action`] without its reason, small enough for every verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ActionKind {
    #[default]
    Proceed,
    Ask,
    Refuse,
    Feedback,
    Continue,
    EndLoop,
}

impl ActionKind {
    /// The meaning of a decision at events with this contract.
    pub(crate) fn new(contract: &Contract, decision: Decision) -> Self {
        match decision {
            Decision::NoOpinion | Decision::Allow => Self::Proceed,
            Decision::Ask | Decision::Defer if contract.is_gate() => Self::Ask,
            Decision::Ask | Decision::Defer => Self::Proceed,
            Decision::Halt if contract.halt || contract.block == BlockEffect::Continue => Self::EndLoop,
            Decision::Deny | Decision::Halt => match contract.block {
                BlockEffect::Ignored => Self::Proceed,
                BlockEffect::Refuse => Self::Refuse,
                BlockEffect::Feedback => Self::Feedback,
                BlockEffect::EndLoop => Self::EndLoop,
                BlockEffect::Continue => Self::Continue,
            },
        }
    }

    pub(crate) fn with_reason(self, reason: &str) -> Action<'_> {
        match self {
            Self::Proceed => Action::Proceed,
            Self::Ask => Action::Ask { reason },
            Self::Refuse => Action::Refuse { reason },
            Self::Feedback => Action::Feedback { reason },
            Self::Continue => Action::Continue { reason },
            Self::EndLoop => Action::EndLoop { reason },
        }
    }
}
