//! [`Action`]: the host's next step after an event.
//!
//! Settling computes it from a decision and the contract of the event. Hosts match it instead of interpreting decisions.

use crate::contract::{BlockEffect, Contract};
use crate::decision::Decision;

/// The host's next step after an event. Returned by [`Verdict::action`](crate::Verdict::action).
///
/// The meaning of a decision depends on the event. Before a tool call, a deny refuses the call. After the call, it is
/// feedback. When an agent is about to stop, it makes the agent continue. The action is the decision with the event's
/// [contract](crate::Contract) applied, so a host matches it once.
///
/// The reason is empty only for [`Ask`](Self::Ask), if the hook gave none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Action<'a> {
    /// Proceed. If the [decision](crate::Verdict::decision) is [`Allow`](Decision::Allow), do not ask the user;
    /// otherwise apply the host's own permission rules.
    Proceed,
    /// Ask the user first.
    Ask {
        /// Text for the user.
        reason: &'a str,
    },
    /// Refuse the operation and give the reason to the model.
    Refuse {
        /// Text for the model.
        reason: &'a str,
    },
    /// Proceed and give the reason to the model: the operation has already happened.
    Feedback {
        /// Text for the model.
        reason: &'a str,
    },
    /// Do not stop: continue the agent loop with the reason as the next prompt.
    Continue {
        /// The next prompt.
        reason: &'a str,
    },
    /// Refuse the operation and end the agent loop.
    EndLoop {
        /// Reason for the end.
        reason: &'a str,
    },
    /// Drop the event: the host cancelled it, and there is no decision.
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
    /// Returns the meaning of a decision at events with this contract.
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
