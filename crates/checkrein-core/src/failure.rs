//! [`Failure`] of a hook, and the policies that turn failures into decisions.
//!
//! Handlers and dialects create failures; settling applies the policies. A failure must never be treated as an allow.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::Contract;
use crate::panic::catch_panic;

macro_rules! failure_kinds {
    ($( $(#[$doc:meta])+ $variant:ident $name:ident )+) => {
        /// Kind of failure of a hook.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum FailureKind {
            $( $(#[$doc])+ $variant, )+
        }

        impl FailureKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// Returns the name, as in records.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => stringify!($name), )+
                }
            }
        }
    };
}

failure_kinds! {
    /// The process could not be started.
    Spawn spawn
    /// The sandbox cannot be set up on this machine, or the process exceeded a limit.
    Sandbox sandbox
    /// An exit code that the dialect does not expect.
    Exit exit
    /// The process was terminated by a signal.
    Signal signal
    /// The hook exceeded its timeout.
    Timeout timeout
    /// The host cancelled the event. Neither a deny nor an allow.
    Cancelled cancelled
    /// The output exceeds the limit.
    OutputCap output_cap
    /// The output should be JSON and is not.
    Parse parse
    /// The output is JSON that the event does not allow.
    Schema schema
    /// The HTTP status is not a success.
    HttpStatus http_status
    /// The HTTP endpoint could not be reached.
    HttpNet http_net
    /// The user has not approved the hook.
    Untrusted untrusted
    /// Two hooks rewrote the same value differently.
    Conflict conflict
    /// The callback panicked.
    Panic panic
    /// The callback returned an error.
    Error error
    /// The handler is not registered.
    UnknownHandler unknown_handler
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Failure of a hook: it ran without a valid answer, or could not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
#[non_exhaustive]
pub struct Failure {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Description of the failure.
    pub message: String,
    /// Policy for this failure. Overrides the hook's policy and the [`FailureTable`].
    pub effect: Option<FailurePolicy>,
    /// Reason of the deny if the hook fails closed. Replaces the generated text.
    pub reason: Option<String>,
}

impl Failure {
    /// Creates a failure whose policy comes from the hook or the [`FailureTable`].
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), effect: None, reason: None }
    }

    /// Creates the failure of a callback that returned this error.
    pub fn from_error(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        // `Display` of a foreign error can panic.
        let text = catch_panic(move || error.to_string());
        Self::new(FailureKind::Error, text.unwrap_or_else(|panic| format!("the error message panicked: {panic}")))
    }

    /// Returns the failure as the end of a sentence about the hook: `failed with exit code 7`.
    pub(crate) fn sentence(&self) -> String {
        let message = &self.message;
        match self.kind {
            FailureKind::Untrusted => format!("was not run: {message}"),
            FailureKind::Timeout | FailureKind::Signal => message.clone(),
            FailureKind::Exit => format!("failed with {message}"),
            FailureKind::Panic => format!("panicked: {message}"),
            _ => format!("failed: {message}"),
        }
    }

    /// Sets the policy, overriding the hook's policy and the table.
    #[must_use]
    pub fn with_effect(mut self, effect: FailurePolicy) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Sets the reason of the deny if the hook fails closed.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// Decision that a failure becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// No decision, with a warning.
    Open,
    /// Deny.
    Closed,
    /// Ask the user.
    Ask,
}

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Ask => "ask",
        })
    }
}

/// Policy for each kind of failure, at gates and at other events.
///
/// ```
/// use checkrein_core::{EventKind, FailureKind, FailurePolicy, FailureTable};
///
/// let table = FailureTable::native().at_gates(FailureKind::Timeout, FailurePolicy::Ask);
/// let gate = EventKind::PreToolUse.contract();
/// assert_eq!(table.effect(FailureKind::Timeout, gate), FailurePolicy::Ask);
/// assert_eq!(table.effect(FailureKind::Exit, gate), FailurePolicy::Closed);
/// assert_eq!(table.effect(FailureKind::Exit, EventKind::Notification.contract()), FailurePolicy::Open);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureTable {
    gates: [FailurePolicy; FailureKind::ALL.len()],
    others: [FailurePolicy; FailureKind::ALL.len()],
}

impl FailureTable {
    /// Creates a table that is closed at gates and open at other events.
    pub const fn native() -> Self {
        Self {
            gates: [FailurePolicy::Closed; FailureKind::ALL.len()],
            others: [FailurePolicy::Open; FailureKind::ALL.len()],
        }
    }

    /// Creates a table that is open for all failures.
    pub const fn open() -> Self {
        Self {
            gates: [FailurePolicy::Open; FailureKind::ALL.len()],
            others: [FailurePolicy::Open; FailureKind::ALL.len()],
        }
    }

    /// Creates a table with one policy for all failures at all events.
    pub const fn every(effect: FailurePolicy) -> Self {
        Self { gates: [effect; FailureKind::ALL.len()], others: [effect; FailureKind::ALL.len()] }
    }

    /// Sets the policy for one kind of failure at gates.
    #[must_use]
    pub const fn at_gates(mut self, kind: FailureKind, effect: FailurePolicy) -> Self {
        self.gates[kind as usize] = effect;
        self
    }

    /// Sets the policy for one kind of failure at events that are not gates.
    #[must_use]
    pub const fn elsewhere(mut self, kind: FailureKind, effect: FailurePolicy) -> Self {
        self.others[kind as usize] = effect;
        self
    }

    /// Returns the policy for a kind of failure at events with this contract.
    pub fn effect(&self, kind: FailureKind, contract: &Contract) -> FailurePolicy {
        let table = if contract.is_gate() { &self.gates } else { &self.others };
        table[kind as usize]
    }
}
