//! [`Approval`]: a question that waits for the user, as everything that shows or answers it sees it.

use std::time::Duration;

use checkrein_core::RawJson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::ApprovalId;
use super::shown::Shown;

/// A question of hooks about a tool call, with its answer. It has no secret and no unbounded text: the input is in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Approval {
    /// Id, such as `7KQ2M-9XDTR`. The user types it.
    pub id: ApprovalId,
    /// State. It only moves forward.
    pub state: ApprovalState,
    /// Time of the request, in milliseconds since 1970.
    pub created: u64,
    /// Time from which no answer and no use is possible, in milliseconds since 1970.
    pub expires: u64,
    /// Time of the last change of the state, in milliseconds since 1970.
    pub changed: u64,
    /// Time until which the agent holds the call for an answer, in milliseconds since 1970. Absent if it never held the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<u64>,
    /// Outcome of the call without an answer.
    pub on_expiry: OnExpiry,
    /// Dialect name of the agent.
    pub agent: String,
    /// Session, if the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Sub-agent, if the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Id of the tool call, if the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<String>,
    /// Working directory of the call, if the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Directory of the project, as the agent's process has it. It can have any character that a path can have.
    pub project: String,
    /// Event in the agent's spelling.
    pub event: String,
    /// Tool.
    pub tool: String,
    /// SHA-256 of everything that the approval is bound to.
    pub digest: String,
    /// The call, for display: long values are cut, credentials are redacted, invisible characters are visible.
    pub shown: Shown,
    /// SHA-256 of `shown`.
    pub shown_digest: String,
    /// Questions of the hooks, in config order.
    pub reasons: Vec<ApprovalReason>,
    /// The call after the rewrites of hooks, for display. Absent if no hook rewrites it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<Shown>,
    /// Digest of the hooks that judge this event.
    pub policy_revision: String,
    /// Number of calls that have passed.
    pub uses: u64,
    /// Result of the edited call. Absent without an edited input, and until hooks have judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_outcome: Option<EditedOutcome>,
    /// Answers. The first one decides.
    pub answers: Vec<AnswerRecord>,
}

/// State of an approval: `pending`, then `approved`, `denied`, `expired` or `cancelled`. `approved` becomes `consumed` or
/// `expired`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalState {
    /// Waits for an answer.
    Pending,
    /// The next identical call passes.
    Approved,
    /// The call is denied.
    Denied,
    /// No answer came in time, or the grant was not used in time.
    Expired,
    /// The question has no more meaning.
    Cancelled,
    /// The call has passed.
    Consumed,
}

impl ApprovalState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Approved, Self::Denied, Self::Expired, Self::Cancelled, Self::Consumed];

    /// Returns the name, such as `pending`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Consumed => "consumed",
        }
    }

    /// Returns `true` if the state can change to `next`.
    pub fn can_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(next, Self::Approved | Self::Denied | Self::Expired | Self::Cancelled),
            Self::Approved => matches!(next, Self::Consumed | Self::Expired),
            Self::Denied | Self::Expired | Self::Cancelled | Self::Consumed => false,
        }
    }
}

/// Result of a call with the input that the user edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditedOutcome {
    /// `true` if the agent makes the edited call. `false`: it got a denial.
    pub has_passed: bool,
    /// Clause about the result, such as "a hook denied the edited call: no force".
    pub text: String,
}

/// Outcome of a call without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnExpiry {
    /// The call is denied.
    #[default]
    Deny,
}

/// Question of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalReason {
    /// Id of the hook.
    pub hook: String,
    /// File and line of the hook.
    pub source: String,
    /// Question. Empty if the hook gave none.
    pub text: String,
}

/// Decision of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may pass.
    Approve,
    /// The call is denied.
    Deny,
}

/// Calls that an approval covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One call.
    #[default]
    Once,
    /// Each identical call of the session.
    Session,
}

/// Means by which an answer arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Via {
    /// `checkrein approve` or `checkrein deny` at a terminal.
    Terminal,
    /// The live page.
    Page,
    /// A signed callback.
    Webhook,
}

impl Via {
    /// Returns the name, such as `page`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Page => "page",
            Self::Webhook => "webhook",
        }
    }
}

/// An answer to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Decision.
    pub decision: Decision,
    /// Means.
    pub via: Via,
    /// Name of the person or the service.
    pub by: String,
    /// Reason, which the model reads after a denial.
    pub reason: Option<String>,
    /// Input that replaces the one of the call. The hooks judge it before it is used.
    pub edited_input: Option<RawJson>,
    /// Calls that pass.
    pub scope: Scope,
}

impl Answer {
    /// Approval of one call.
    pub fn approve(via: Via, by: impl Into<String>) -> Self {
        Self { decision: Decision::Approve, via, by: by.into(), reason: None, edited_input: None, scope: Scope::Once }
    }

    /// Denial.
    pub fn deny(via: Via, by: impl Into<String>, reason: Option<String>) -> Self {
        Self { decision: Decision::Deny, reason, ..Self::approve(via, by) }
    }
}

/// An answer that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AnswerRecord {
    /// Name of the person or the service.
    pub by: String,
    /// Means.
    pub via: Via,
    /// Time, in milliseconds since 1970.
    pub at: u64,
    /// Decision.
    pub decision: Decision,
    /// Reason, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Input that replaces the one of the call, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_input: Option<Shown>,
    /// Calls that pass.
    pub scope: Scope,
}

impl Approval {
    /// Time that is left. Zero if the approval has ended.
    pub fn left(&self) -> Duration {
        match self.state {
            ApprovalState::Pending | ApprovalState::Approved => {
                Duration::from_millis(self.expires.saturating_sub(super::store::now()))
            }
            _ => Duration::ZERO,
        }
    }

    /// Time for which the agent still holds the call. `None`: it does not wait, so the call must be repeated after the answer.
    pub fn waits(&self) -> Option<Duration> {
        let until = self.waits_until.filter(|_| self.state == ApprovalState::Pending)?;
        let left = until.checked_sub(super::store::now()).filter(|left| *left > 0)?;
        Some(Duration::from_millis(left).min(self.left()))
    }

    /// Returns the answer that decided.
    pub fn winner(&self) -> Option<&AnswerRecord> {
        self.answers.first()
    }

    /// Returns one sentence about the state, for an answer that comes too late.
    pub fn outcome(&self) -> String {
        let by = |text: &str| match self.winner() {
            Some(answer) => format!("{text} by {}", super::shown::short(&answer.by)),
            None => text.to_owned(),
        };
        if let Some(edited) = &self.edited_outcome {
            return format!("{} with an edited input, and {}", by("was approved"), edited.text);
        }
        let is_edited = self.winner().is_some_and(|answer| answer.edited_input.is_some());
        match self.state {
            ApprovalState::Pending => "waits for an answer".to_owned(),
            ApprovalState::Approved if is_edited => {
                format!("{}, and the hooks judge the edited call when the agent repeats it", by("was edited"))
            }
            ApprovalState::Consumed if is_edited => {
                format!("{}, and the hooks judge the edited call", by("was edited"))
            }
            ApprovalState::Approved => by("was approved"),
            ApprovalState::Denied => by("was denied"),
            ApprovalState::Consumed => format!("{}, and the call has passed", by("was approved")),
            ApprovalState::Expired => "has expired".to_owned(),
            ApprovalState::Cancelled => "was cancelled".to_owned(),
        }
    }
}
