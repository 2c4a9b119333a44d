//! [`Decision`]: allow, deny and the other decisions, ordered by strength.
//!
//! Opinions and verdicts contain one. Its effect depends on the event: hosts use [`Verdict::action`](crate::Verdict::action)
//! instead of interpreting decisions themselves.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::did_you_mean::closest_match;

/// Decision of a hook, or of all hooks together. Stronger decisions are greater.
///
/// ```
/// use checkrein_core::Decision;
///
/// assert!(Decision::Halt > Decision::Deny);
/// assert!(Decision::Allow > Decision::NoOpinion);
/// assert_eq!(Decision::default(), Decision::NoOpinion);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// No decision. Unlike [`Allow`](Self::Allow), the host proceeds as if there were no hook.
    #[default]
    NoOpinion,
    /// Proceed without asking the user.
    Allow,
    /// Ask the user.
    Ask,
    /// Wait for an external answer.
    Defer,
    /// Refuse the operation.
    Deny,
    /// Refuse the operation and stop the agent.
    Halt,
}

impl Decision {
    /// All decisions, weakest first.
    pub const ALL: [Self; 6] = [Self::NoOpinion, Self::Allow, Self::Ask, Self::Defer, Self::Deny, Self::Halt];

    /// Returns the name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoOpinion => "no_opinion",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
            Self::Halt => "halt",
        }
    }

    /// `true` for a deny and a halt.
    pub fn is_block(self) -> bool {
        self >= Self::Deny
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error: the word is not a decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown decision `{word}`{}", hint(.word))]
pub struct UnknownDecision {
    word: String,
}

fn hint(word: &str) -> String {
    closest_match(word, Decision::ALL.map(Decision::name))
        .map(|name| format!(", did you mean `{name}`?"))
        .unwrap_or_default()
}

impl FromStr for Decision {
    type Err = UnknownDecision;

    fn from_str(word: &str) -> Result<Self, UnknownDecision> {
        Self::ALL
            .into_iter()
            .find(|decision| decision.name() == word)
            .ok_or_else(|| UnknownDecision { word: word.to_owned() })
    }
}
