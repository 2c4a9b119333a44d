//! Everything that happened for one event, in a form to keep.

use serde::{Deserialize, Serialize};

use crate::contract::Target;
use crate::decision::Decision;
use crate::event::Event;
use crate::failure::{Failure, FailureKind};
use crate::json::RawJson;
use crate::opinion::Opinion;
use crate::source::{HookInfo, Scope};
use crate::verdict::Verdict;

/// Everything that happened for one event: the audit line, the trace, the answer to "why".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Record {
    /// The kind of the event.
    pub event: String,
    /// The dialect whose rules settled it.
    pub dialect: String,
    /// The session, if the event said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What matchers were compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What it came to.
    pub verdict: VerdictRecord,
    /// What became of each hook that was chosen, in config order.
    pub hooks: Vec<HookRecord>,
}

impl Record {
    /// Of an event and what it came to. Hooks come with their positions, in config order; those whose opinion turned out
    /// to be a failure when it was settled are shown as having failed.
    pub fn new(
        event: &Event,
        dialect: impl Into<String>,
        verdict: &Verdict,
        mut hooks: Vec<(usize, HookRecord)>,
    ) -> Self {
        for (position, info, failure) in verdict.placed_failures() {
            let refused = hooks
                .iter_mut()
                .find(|(at, hook)| *at == position && hook.id == info.id && hook.outcome == HookOutcome::Opinion);
            if let Some((_, hook)) = refused {
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
            hooks: hooks.into_iter().map(|(_, hook)| hook).collect(),
        }
    }
}

/// A verdict, in a form to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictRecord {
    /// What shall happen.
    pub decision: Decision,
    /// Why.
    pub reason: Option<String>,
    /// Everything that hooks decided.
    pub reasons: Vec<ReasonRecord>,
    /// What to tell the model.
    pub context: Vec<String>,
    /// What to tell the user.
    pub system_messages: Vec<String>,
    /// What the user reads when the agent stops.
    pub stop_reason: Option<String>,
    /// What the tool would have been called with.
    pub original_input: Option<RawJson>,
    /// What it is called with.
    pub effective_input: Option<RawJson>,
    /// What the user said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_prompt: Option<String>,
    /// What the user shall have said.
    pub effective_prompt: Option<String>,
    /// What the tool gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_output: Option<RawJson>,
    /// What the model sees of the output.
    pub effective_output: Option<RawJson>,
    /// The conversation that the model is sent, if it was rewritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_messages: Option<RawJson>,
    /// The summary that a hook wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What to say as the user, first of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_user_message: Option<String>,
    /// Whether a hook asked to keep its output from the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suppress_output: bool,
    /// What hooks told the host.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub metadata: std::collections::BTreeMap<String, RawJson>,
    /// What the user should know of the hooks themselves.
    pub warnings: Vec<String>,
    /// Whether the fire was given up.
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
            reason: verdict.reason().map(kept),
            reasons: verdict
                .reasons()
                .iter()
                .map(|reason| ReasonRecord {
                    hook: reason.hook.id.clone(),
                    decision: reason.decision,
                    text: kept(&reason.text),
                })
                .collect(),
            context: verdict.context().iter().map(|said| kept(&said.text)).collect(),
            system_messages: verdict.messages().iter().map(|said| said.text.clone()).collect(),
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

/// Text as records keep it: a record must stay small, however much a hook prints.
fn kept(text: &str) -> String {
    const KEPT: usize = 16 * 1024;
    match text.char_indices().nth(KEPT) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes in all)", &text[..at], text.len()),
    }
}

/// Why a hook decided as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReasonRecord {
    /// What the hook is called.
    pub hook: String,
    /// What it decided.
    pub decision: Decision,
    /// Why; empty if it did not say.
    pub text: String,
}

/// What became of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookRecord {
    /// What it is called.
    pub id: String,
    /// Where it comes from.
    pub source: SourceRecord,
    /// What kind of handler does its work.
    pub handler: String,
    /// How it went.
    pub outcome: HookOutcome,
    /// What it decided, if it had an opinion.
    pub decision: Option<Decision>,
    /// Why it decided so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it rewrote, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<String>,
    /// What it told the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// What it told the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_messages: Vec<String>,
    /// What went wrong, if it failed.
    pub failure: Option<FailureKind>,
    /// More of it: what the failure says, or why it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The exit code, if it was a process.
    pub exit_code: Option<i32>,
    /// The status, if it was an HTTP endpoint that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it printed.
    pub stdout: Option<String>,
    /// What it complained about.
    pub stderr: Option<String>,
    /// How many bytes it printed, if that is more than was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_bytes: Option<u64>,
    /// How many bytes it complained with, if that is more than was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_bytes: Option<u64>,
    /// Whether it printed more than was kept.
    pub truncated: bool,
    /// Processes that it has started and left running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// Names of the host's variables that it did not get, although its agent would have passed them on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// `true` if the hook ran as a dry run: its decision and its failure had no effect.
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
    /// What it alone comes to: what it decided, or what is done about its failure.
    pub decision: Decision,
    /// Why, in the words that the agent would have been told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it would have rewritten, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// What the verdict would have been with it.
    pub verdict: Decision,
    /// Whether that is another verdict: another decision, rewrite or context.
    pub differs: bool,
}

impl DryRunRecord {
    /// Of the verdict that it alone comes to, the one with it, and the one that counts.
    pub fn new(alone: &Verdict, with_it: &Verdict, without: &Verdict) -> Self {
        let rewrites = |verdict: &Verdict, target: Target| verdict.rewritten(target).map(|to| to.effective.clone());
        let context = |verdict: &Verdict| verdict.context().iter().map(|said| said.text.clone()).collect::<Vec<_>>();
        let rewritten = Target::ALL.into_iter().filter(|target| alone.rewritten(*target).is_some());
        Self {
            decision: alone.decision(),
            reason: alone.reason().map(kept),
            rewrites: rewritten.map(|target| target.name().to_owned()).collect(),
            verdict: with_it.decision(),
            differs: with_it.decision() != without.decision()
                || context(with_it) != context(without)
                || Target::ALL.into_iter().any(|target| rewrites(with_it, target) != rewrites(without, target)),
        }
    }
}

impl HookRecord {
    /// Of a hook that had its say.
    pub fn of_opinion(hook: &HookInfo, handler: impl Into<String>, opinion: &Opinion) -> Self {
        Self {
            decision: Some(opinion.decision()),
            reason: opinion.reason().map(kept),
            rewrote: opinion.rewrites().iter().map(|rewrite| rewrite.target.name().to_owned()).collect(),
            context: opinion.contexts().iter().map(|text| kept(text)).collect(),
            system_messages: opinion.messages().iter().map(|text| kept(text)).collect(),
            ..Self::new(hook, handler, HookOutcome::Opinion)
        }
    }

    /// Of a hook that failed.
    pub fn of_failure(hook: &HookInfo, handler: impl Into<String>, failure: &Failure) -> Self {
        Self {
            failure: Some(failure.kind),
            detail: Some(failure.message.clone()),
            ..Self::new(hook, handler, HookOutcome::Failure)
        }
    }

    /// Of a hook that did not run, for this reason.
    pub fn of_skipped(hook: &HookInfo, handler: impl Into<String>, why: impl Into<String>) -> Self {
        Self { detail: Some(why.into()), ..Self::new(hook, handler, HookOutcome::Skipped) }
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

/// Where a hook comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceRecord {
    /// The file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Whose it is.
    pub scope: Scope,
}

/// How it went with a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    /// It had its say, if only to say nothing.
    Opinion,
    /// It failed.
    Failure,
    /// It did not run: one before it had ended the chain.
    Skipped,
}
