//! [`Record`]: the serializable log of one event.
//!
//! The audit log, observers, recordings and `run --json` use it. Field names are a stable format: old records must stay
//! readable.

use serde::{Deserialize, Serialize};

use crate::contract::Target;
use crate::decision::Decision;
use crate::event::Event;
use crate::failure::{Failure, FailureKind};
use crate::json::RawJson;
use crate::opinion::Opinion;
use crate::source::{HookInfo, Scope};
use crate::told::ToldRecord;
use crate::verdict::Verdict;

/// Log of one event: the verdict and the result of each hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Record {
    /// Kind of the event.
    pub event: String,
    /// Dialect whose rules settled the event.
    pub dialect: String,
    /// Session identifier, if the event has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Subject that matchers were compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Verdict of the event.
    pub verdict: VerdictRecord,
    /// Answer that the agent received. `None`: no agent, or an old record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ToldRecord>,
    /// Result of each selected hook, in config order.
    pub hooks: Vec<HookRecord>,
    /// `true` if the agent delivered the event before: no hook ran, and the answer is the one to the first delivery.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    /// Number of rules that were evaluated and do not apply. `hooks` does not contain them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub silent_rules: u32,
    /// Approval of the user that let the call pass the questions of hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRecord>,
}

/// Approval of a call by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalRecord {
    /// Id, such as `7KQ2M-9XDTR`.
    pub id: String,
    /// Name of the person or the service.
    pub by: String,
    /// Means by which the answer arrived: `terminal`, `page` or `webhook`.
    pub via: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Record {
    /// Creates the record of an event and its verdict. Hooks come with their positions, in config order. A hook whose
    /// opinion became a failure in settling is recorded as failed.
    pub fn new(
        event: &Event,
        dialect: impl Into<String>,
        verdict: &Verdict,
        mut hooks: Vec<(usize, HookRecord)>,
    ) -> Self {
        for (position, info, failure) in verdict.placed_failures() {
            let rejected = hooks
                .iter_mut()
                .find(|(index, hook)| *index == position && hook.id == info.id && hook.outcome == HookOutcome::Opinion);
            if let Some((_, hook)) = rejected {
                hook.outcome = HookOutcome::Failure;
                hook.failure = Some(failure.kind);
                hook.detail = Some(failure.message.clone());
            }
        }
        Self {
            event: event.kind().name().to_owned(),
            dialect: dialect.into(),
            session_id: event.envelope.session_id.clone(),
            subject: event.subject().map(std::borrow::Cow::into_owned),
            verdict: VerdictRecord::new(event, verdict),
            told: None,
            hooks: hooks.into_iter().map(|(_, hook)| hook).collect(),
            repeat: false,
            silent_rules: 0,
            approval: None,
        }
    }

    /// Creates the record of an event that was delivered before, with the decision about its first delivery.
    pub fn for_repeat(event: &Event, dialect: impl Into<String>, decision: Decision, reason: Option<String>) -> Self {
        let mut record = Self::new(event, dialect, &Verdict::default(), Vec::new());
        (record.verdict.decision, record.verdict.reason, record.repeat) = (decision, reason, true);
        record
    }
}

/// Serializable form of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictRecord {
    /// Decision of all hooks together.
    pub decision: Decision,
    /// Reason of the decision.
    pub reason: Option<String>,
    /// Decisions of all hooks.
    pub reasons: Vec<ReasonRecord>,
    /// Context for the model.
    pub context: Vec<String>,
    /// Messages for the user.
    pub system_messages: Vec<String>,
    /// Text that the user sees when the agent stops.
    pub stop_reason: Option<String>,
    /// Tool input of the event.
    pub original_input: Option<RawJson>,
    /// Tool input after the rewrites that the agent received.
    pub effective_input: Option<RawJson>,
    /// Prompt of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_prompt: Option<String>,
    /// Prompt after rewrites.
    pub effective_prompt: Option<String>,
    /// Output of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_output: Option<RawJson>,
    /// Output after the rewrites that the agent received.
    pub effective_output: Option<RawJson>,
    /// Conversation for the model, if it was rewritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_messages: Option<RawJson>,
    /// Summary from a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// First user message of the session, from a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_user_message: Option<String>,
    /// `true` if a hook asked to hide its output from the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suppress_output: bool,
    /// Metadata from hooks for the host.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub metadata: std::collections::BTreeMap<String, RawJson>,
    /// Warnings about the hooks.
    pub warnings: Vec<String>,
    /// `true` if the host cancelled the event.
    pub cancelled: bool,
}

impl VerdictRecord {
    fn new(event: &Event, verdict: &Verdict) -> Self {
        let effective = |target| {
            verdict
                .rewritten(target)
                .map_or_else(|| event.original(target), |rewritten| Some(rewritten.effective.clone()))
        };
        let text = |json: RawJson| json.as_text().map(std::borrow::Cow::into_owned);
        Self {
            decision: verdict.decision(),
            reason: verdict.reason().map(shortened),
            reasons: verdict
                .reasons()
                .iter()
                .map(|reason| ReasonRecord {
                    hook: reason.hook.id.clone(),
                    decision: reason.decision,
                    text: shortened(&reason.text),
                })
                .collect(),
            context: verdict.context().iter().map(|message| shortened(&message.text)).collect(),
            system_messages: verdict.messages().iter().map(|message| message.text.clone()).collect(),
            stop_reason: verdict.stop_reason().map(str::to_owned),
            original_input: event.original(Target::Input),
            effective_input: effective(Target::Input),
            original_prompt: event.original(Target::Prompt).and_then(text),
            effective_prompt: effective(Target::Prompt).and_then(text),
            original_output: event.original(Target::Output),
            effective_output: effective(Target::Output),
            effective_messages: verdict.effective_messages().cloned(),
            summary: verdict.summary().map(std::borrow::Cow::into_owned),
            first_user_message: verdict.first_user_message().map(str::to_owned),
            suppress_output: verdict.suppresses_output(),
            metadata: verdict.metadata().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            warnings: verdict.warnings().iter().map(ToString::to_string).collect(),
            cancelled: verdict.is_cancelled(),
        }
    }
}

/// Limits the length of a text, because a hook can print any amount.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 16 * 1024;
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes in total)", &text[..end], text.len()),
    }
}

/// Decision of one hook, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReasonRecord {
    /// Id of the hook.
    pub hook: String,
    /// Decision.
    pub decision: Decision,
    /// Reason. Empty if the hook gave none.
    pub text: String,
}

/// Result of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookRecord {
    /// Id of the hook.
    pub id: String,
    /// Source of the hook.
    pub source: SourceRecord,
    /// Type of the handler.
    pub handler: String,
    /// Outcome of the run.
    pub outcome: HookOutcome,
    /// Decision, if the hook returned an opinion.
    pub decision: Option<Decision>,
    /// Reason of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Names of the rewritten targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<String>,
    /// Context for the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// Messages for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_messages: Vec<String>,
    /// Kind of failure, if the hook failed.
    pub failure: Option<FailureKind>,
    /// Message of the failure, or the reason why the hook did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Exit code, for processes.
    pub exit_code: Option<i32>,
    /// HTTP status, for endpoints that responded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// Standard output.
    pub stdout: Option<String>,
    /// Standard error.
    pub stderr: Option<String>,
    /// Size of the standard output in bytes, if not all was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_bytes: Option<u64>,
    /// Size of the standard error in bytes, if not all was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_bytes: Option<u64>,
    /// `true` if not all output was kept.
    pub truncated: bool,
    /// Processes that the hook started and left running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// Names of host variables that checkrein withheld, although the agent would have passed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// `true` if the hook ran as a dry run: its result had no effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Effect that a dry-run hook would have had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would: Option<DryRunRecord>,
}

/// Effect that a dry-run hook would have had in force. The results of later hooks are those of the actual run, although the
/// hook might have rewritten their input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DryRunRecord {
    /// Decision of this hook alone: its own, or that of its failure policy.
    pub decision: Decision,
    /// Reason that the agent would have received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Names of the targets that it would have rewritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// Decision of the verdict with this hook.
    pub verdict: Decision,
    /// `true` if the hook would have changed the decision, a rewrite or the context.
    pub differs: bool,
}

impl DryRunRecord {
    /// Creates the record from three verdicts: of this hook alone, of all hooks with it, and of all hooks without it. The
    /// last one is in effect.
    pub fn new(alone: &Verdict, with_it: &Verdict, without: &Verdict) -> Self {
        let rewrites =
            |verdict: &Verdict, target: Target| verdict.rewritten(target).map(|rewritten| rewritten.effective.clone());
        let context =
            |verdict: &Verdict| verdict.context().iter().map(|message| message.text.clone()).collect::<Vec<_>>();
        let rewritten = Target::ALL.into_iter().filter(|target| alone.rewritten(*target).is_some());
        Self {
            decision: alone.decision(),
            reason: alone.reason().map(shortened),
            rewrites: rewritten.map(|target| target.name().to_owned()).collect(),
            verdict: with_it.decision(),
            differs: with_it.decision() != without.decision()
                || context(with_it) != context(without)
                || Target::ALL.into_iter().any(|target| rewrites(with_it, target) != rewrites(without, target)),
        }
    }
}

impl HookRecord {
    /// Creates the record of a hook that returned an opinion.
    pub fn from_opinion(hook: &HookInfo, handler: impl Into<String>, opinion: &Opinion) -> Self {
        Self {
            decision: Some(opinion.decision()),
            reason: opinion.reason().map(shortened),
            rewrote: opinion.rewrites().iter().map(|rewrite| rewrite.target.name().to_owned()).collect(),
            context: opinion.contexts().iter().map(|text| shortened(text)).collect(),
            system_messages: opinion
                .messages()
                .iter()
                .chain(opinion.rewrites().iter().filter_map(|rewrite| Some(&rewrite.texts.as_ref()?.done)))
                .map(|text| shortened(text))
                .collect(),
            ..Self::new(hook, handler, HookOutcome::Opinion)
        }
    }

    /// Creates the record of a hook that failed.
    pub fn from_failure(hook: &HookInfo, handler: impl Into<String>, failure: &Failure) -> Self {
        Self {
            failure: Some(failure.kind),
            detail: Some(failure.message.clone()),
            ..Self::new(hook, handler, HookOutcome::Failure)
        }
    }

    /// Creates the record of a hook that did not run, with the reason.
    pub fn for_skipped(hook: &HookInfo, handler: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { detail: Some(reason.into()), ..Self::new(hook, handler, HookOutcome::Skipped) }
    }

    fn new(hook: &HookInfo, handler: impl Into<String>, outcome: HookOutcome) -> Self {
        Self {
            id: hook.id.clone(),
            source: SourceRecord { file: hook.source.file.clone(), line: hook.source.line, scope: hook.source.scope },
            handler: handler.into(),
            outcome,
            decision: None,
            reason: None,
            rewrote: Vec::new(),
            context: Vec::new(),
            system_messages: Vec::new(),
            failure: None,
            detail: None,
            exit_code: None,
            status: None,
            duration_ms: None,
            stdout: None,
            stderr: None,
            stdout_bytes: None,
            stderr_bytes: None,
            truncated: false,
            left_running: Vec::new(),
            held_back: Vec::new(),
            dry_run: hook.dry_run,
            would: None,
        }
    }
}

/// Source of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceRecord {
    /// File.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Scope.
    pub scope: Scope,
}

/// Outcome of one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    /// The hook returned an opinion, which may be empty.
    Opinion,
    /// The hook failed.
    Failure,
    /// The hook was selected but did not run, for example because an earlier hook ended the chain.
    Skipped,
}
