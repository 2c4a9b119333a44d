//! Comparison of a recorded verdict with a new one.

use checkrein_core::{HookRecord, RawJson, Record, VerdictRecord};
use serde::Serialize;

/// Difference between a recorded verdict and the new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Difference {
    /// Part of the verdict: `decision`, `reason`, `input`.
    pub field: &'static str,
    /// Recorded value, if there was one.
    pub then: Option<String>,
    /// New value, if there is one.
    pub now: Option<String>,
}

/// Accessor for a part of a verdict. JSON is compared by value.
enum ComparedPart {
    Text(fn(&VerdictRecord) -> Option<String>),
    Json(fn(&VerdictRecord) -> Option<&RawJson>),
}

/// Compared parts: everything that affects the agent. Times and other output of hooks are not compared.
const PARTS: &[(&str, ComparedPart)] = &[
    ("decision", ComparedPart::Text(|verdict| Some(verdict.decision.name().to_owned()))),
    ("reason", ComparedPart::Text(|verdict| verdict.reason.clone())),
    ("stop_reason", ComparedPart::Text(|verdict| verdict.stop_reason.clone())),
    ("input", ComparedPart::Json(|verdict| verdict.effective_input.as_ref())),
    ("prompt", ComparedPart::Text(|verdict| verdict.effective_prompt.clone())),
    ("output", ComparedPart::Json(|verdict| verdict.effective_output.as_ref())),
    ("messages", ComparedPart::Json(|verdict| verdict.effective_messages.as_ref())),
    ("summary", ComparedPart::Text(|verdict| verdict.summary.clone())),
    ("first_user_message", ComparedPart::Text(|verdict| verdict.first_user_message.clone())),
    ("context", ComparedPart::Text(|verdict| joined(&verdict.context))),
    ("system_messages", ComparedPart::Text(|verdict| joined(&verdict.system_messages))),
];

fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Differences between two events: their verdicts, in the order of [`PARTS`], and the decision that the agent received.
pub(super) fn differences(then: &Record, now: &Record) -> Vec<Difference> {
    let told = |record: &Record| record.told.as_ref().map(|told| told.decision.name().to_owned());
    let is_verdict = |record: &Record| told(record).as_deref() == Some(record.verdict.decision.name());
    let mut differences = verdict_differences(&then.verdict, &now.verdict);
    // Agents usually receive the verdict, whose difference is enough.
    if told(then) != told(now) && !(is_verdict(then) && is_verdict(now)) {
        differences.push(Difference { field: "told", then: told(then), now: told(now) });
    }
    differences
}

fn verdict_differences(then: &VerdictRecord, now: &VerdictRecord) -> Vec<Difference> {
    let differ = |(field, part): &(&'static str, ComparedPart)| {
        let (then, now) = match part {
            ComparedPart::Text(read) => (read(then), read(now)),
            ComparedPart::Json(read) => match (read(then), read(now)) {
                (Some(then), Some(now)) if then.semantically_eq(now) => return None,
                (then, now) => (then.map(ToString::to_string), now.map(ToString::to_string)),
            },
        };
        (then != now).then_some(Difference { field, then, now })
    };
    PARTS.iter().filter_map(differ).collect()
}

/// Hooks with another reply than in the recording, including new and removed hooks, in their new order. The record holds only
/// the combined result of all rewrites, so every hook that rewrote a part that differs is included.
pub(super) fn changed_hooks(then: &Record, now: &Record, differences: &[Difference]) -> Vec<String> {
    let rewrote = |hook: &HookRecord| {
        let differs = |target: &String| differences.iter().any(|difference| difference.field == target.as_str());
        hook.rewrote.iter().any(differs)
    };
    let reply = |hook: &HookRecord| {
        let decision = hook.decision.filter(|decision| *decision != checkrein_core::Decision::NoOpinion);
        let texts = (hook.reason.clone(), hook.context.clone(), hook.system_messages.clone());
        (decision, hook.failure, hook.rewrote.clone(), texts)
    };
    let replies = |record: &Record, id: &str| -> Vec<_> {
        let all = record.hooks.iter().filter(|hook| hook.id == id).map(reply);
        // A hook without an opinion is equivalent to a missing hook.
        all.filter(|reply| *reply != Default::default()).collect()
    };
    let mut ids: Vec<String> = Vec::new();
    for hook in now.hooks.iter().chain(&then.hooks) {
        if !ids.contains(&hook.id) && (rewrote(hook) || replies(then, &hook.id) != replies(now, &hook.id)) {
            ids.push(hook.id.clone());
        }
    }
    ids
}
