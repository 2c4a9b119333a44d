//! What can go wrong with a hook, and what is done about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::Contract;
use crate::panic::catch_panic;

macro_rules! failure_kinds {
    ($( $(#[$doc:meta])+ $variant:ident $name:ident )+) => {
        /// What can go wrong with a hook.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum FailureKind {
            $( $(#[$doc])+ $variant, )+
        }

        impl FailureKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The name, as in records.
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
    /// What is to be kept from the process cannot be kept from it here, or it went past a limit.
    Sandbox sandbox
    /// An exit code that the dialect does not expect.
    Exit exit
    /// The process was ended by a signal.
    Signal signal
    /// The deadline passed.
    Timeout timeout
    /// The host gave up on the event. Neither a deny nor an allow.
    Cancelled cancelled
    /// More output than is read.
    OutputCap output_cap
    /// Output that should be JSON and is not.
    Parse parse
    /// JSON that the event does not allow.
    Schema schema
    /// An HTTP status that is no success.
    HttpStatus http_status
    /// The HTTP endpoint could not be reached.
    HttpNet http_net
    /// A hook that its user has not approved.
    Untrusted untrusted
    /// Two hooks that rewrote the same thing differently.
    Conflict conflict
    /// A callback that panicked.
    Panic panic
    /// A callback that returned an error.
    Error error
    /// A handler that nobody has registered.
    UnknownHandler unknown_handler
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A reply that could not become an opinion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
#[non_exhaustive]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The same in words.
    pub message: String,
    /// What is done about it, whatever the tables say.
    pub effect: Option<FailurePolicy>,
    /// Why something does not happen if the failure closes it, in the hook's own words.
    pub reason: Option<String>,
}

impl Failure {
    /// A failure whose effect the tables decide.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), effect: None, reason: None }
    }

    /// The failure of a callback that returned this error.
    pub fn from_error(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        // The text of an error is foreign code as well.
        let text = catch_panic(move || error.to_string());
        Self::new(FailureKind::Error, text.unwrap_or_else(|panic| format!("an error whose text panicked: {panic}")))
    }

    /// Settles what is done about it, whatever the tables say.
    #[must_use]
    pub fn with_effect(mut self, effect: FailurePolicy) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Says in the hook's own words why something does not happen if the failure closes it.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// What is done about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// Go on, with a warning.
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

/// What is done about each kind of failure, at gates and elsewhere.
///
/// ```
/// use checkrein_core::{Effect, EventKind, FailureKind, FailureTable};
///
/// let table = FailureTable::native().at_gates(FailureKind::Timeout, Effect::Ask);
/// let gate = EventKind::PreToolUse.contract();
/// assert_eq!(table.effect(FailureKind::Timeout, gate), Effect::Ask);
/// assert_eq!(table.effect(FailureKind::Exit, gate), Effect::Closed);
/// assert_eq!(table.effect(FailureKind::Exit, EventKind::Notification.contract()), Effect::Open);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureTable {
    gates: [FailurePolicy; FailureKind::ALL.len()],
    others: [FailurePolicy; FailureKind::ALL.len()],
}

impl FailureTable {
    /// Gates are closed, all else is open.
    pub const fn native() -> Self {
        Self {
            gates: [FailurePolicy::Closed; FailureKind::ALL.len()],
            others: [FailurePolicy::Open; FailureKind::ALL.len()],
        }
    }

    /// Everything goes on, with a warning.
    pub const fn open() -> Self {
        Self {
            gates: [FailurePolicy::Open; FailureKind::ALL.len()],
            others: [FailurePolicy::Open; FailureKind::ALL.len()],
        }
    }

    /// The same whatever fails, and wherever.
    pub const fn every(effect: FailurePolicy) -> Self {
        Self { gates: [effect; FailureKind::ALL.len()], others: [effect; FailureKind::ALL.len()] }
    }

    /// The same with another effect at gates.
    #[must_use]
    pub const fn at_gates(mut self, kind: FailureKind, effect: FailurePolicy) -> Self {
        self.gates[kind as usize] = effect;
        self
    }

    /// The same with another effect where nothing waits for leave.
    #[must_use]
    pub const fn elsewhere(mut self, kind: FailureKind, effect: FailurePolicy) -> Self {
        self.others[kind as usize] = effect;
        self
    }

    /// What is done about a failure of this kind at events with this contract.
    pub fn effect(&self, kind: FailureKind, contract: &Contract) -> FailurePolicy {
        let table = if contract.is_gate() { &self.gates } else { &self.others };
        table[kind as usize]
    }
}
