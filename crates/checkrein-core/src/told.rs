//! [`ToldRecord`]: the answer that an agent received, beside the verdict in a [`Record`].
//!
//! Agents do not support every part of a verdict. The audit log, recordings and replays show both, so that a log never claims an
//! effect that did not happen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::Target;
use crate::decision::Decision;
use crate::json::RawJson;
use crate::record::{Record, shortened};

/// Answer that an agent received. It differs from the verdict where the agent does not support a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToldRecord {
    /// Decision in the answer.
    pub decision: Decision,
    /// Reason in the answer, if it differs from the verdict's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Names of the rewritten targets in the answer. The verdict has their new values as `effective_…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// Parts of the verdict that the agent does not support, with their replacements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Parts of an answer, as input of [`Record::with_told`].
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// Decision.
    pub decision: Decision,
    /// Reason of the decision.
    pub reason: Option<&'a str>,
    /// New values.
    pub rewrites: &'a BTreeMap<Target, RawJson>,
    /// Messages for the user.
    pub messages: &'a [String],
    /// Parts of the verdict that the agent does not support.
    pub notes: &'a [String],
}

impl Record {
    /// Adds the answer that the agent received. A rewritten value that the agent did not receive is not effective: after a
    /// block there is no effective value, and otherwise it is the original.
    #[must_use]
    pub fn with_told(mut self, told: Told<'_>) -> Self {
        let verdict = &mut self.verdict;
        let effective = |target, original: Option<&RawJson>, settled: Option<RawJson>| match told.rewrites.get(&target)
        {
            Some(value) => Some(value.clone()),
            None if settled.as_ref() == original => settled,
            None if told.decision.is_block() => None,
            None => original.cloned(),
        };
        let text = |target, original: Option<&str>, settled: Option<&str>| {
            let [original, settled] = [original, settled].map(|text| text.map(RawJson::string));
            let value = effective(target, original.as_ref(), settled);
            value.and_then(|json| json.as_text().map(std::borrow::Cow::into_owned))
        };
        verdict.effective_input =
            effective(Target::Input, verdict.original_input.as_ref(), verdict.effective_input.take());
        verdict.effective_output =
            effective(Target::Output, verdict.original_output.as_ref(), verdict.effective_output.take());
        verdict.effective_messages = effective(Target::Messages, None, verdict.effective_messages.take());
        verdict.effective_prompt =
            text(Target::Prompt, verdict.original_prompt.as_deref(), verdict.effective_prompt.as_deref());
        verdict.summary = text(Target::Summary, None, verdict.summary.as_deref());
        verdict.system_messages = told.messages.to_vec();
        // A message must not report a rewrite that the agent did not receive.
        for hook in self.hooks.iter_mut().filter(|hook| !hook.dry_run) {
            hook.system_messages.retain(|text| told.messages.iter().any(|sent| shortened(sent) == *text));
        }
        self.told = Some(ToldRecord {
            decision: told.decision,
            reason: told.reason.map(shortened).filter(|reason| verdict.reason.as_ref() != Some(reason)),
            rewrites: told.rewrites.keys().map(|target| target.name().to_owned()).collect(),
            notes: told.notes.iter().map(|note| shortened(note)).collect(),
        });
        self
    }
}
