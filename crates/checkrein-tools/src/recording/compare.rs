//! Where two verdicts differ.

use checkrein_core::{HookRecord, RawJson, Record, VerdictRecord};
use serde::Serialize;

/// Something that was otherwise then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Difference {
    /// What it is about: `decision`, `reason`, `input`.
    pub field: &'static str,
    /// What it was then. Nothing: there was none.
    pub then: Option<String>,
    /// What it is now.
    pub now: Option<String>,
}

/// How a part of a verdict is read, and compared.
enum ComparedPart {
    Text(fn(&VerdictRecord) -> Option<String>),
    Json(fn(&VerdictRecord) -> Option<&RawJson>),
}

/// What counts: all that an agent would do otherwise. How long hooks took and what they printed besides does not.
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

/// Where they differ, in a fixed order.
pub(super) fn differences(then: &VerdictRecord, now: &VerdictRecord) -> Vec<Difference> {
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

/// The hooks that say something else than then, those that are new or gone included, in their order now. What a hook made of
/// something is only known together with what others made of it, so all that rewrote what differs are named.
pub(super) fn other_hooks(then: &Record, now: &Record, differences: &[Difference]) -> Vec<String> {
    let rewrote = |hook: &HookRecord| {
        let differs = |target: &String| differences.iter().any(|difference| difference.field == target.as_str());
        hook.rewrote.iter().any(differs)
    };
    let says = |hook: &HookRecord| {
        let decision = hook.decision.filter(|decision| *decision != checkrein_core::Decision::NoOpinion);
        let texts = (hook.reason.clone(), hook.context.clone(), hook.system_messages.clone());
        (decision, hook.failure, hook.rewrote.clone(), texts)
    };
    let said = |record: &Record, id: &str| -> Vec<_> {
        let of_id = record.hooks.iter().filter(|hook| hook.id == id).map(says);
        // One that was silent might as well not have been there.
        of_id.filter(|said| *said != Default::default()).collect()
    };
    let mut ids: Vec<String> = Vec::new();
    for hook in now.hooks.iter().chain(&then.hooks) {
        if !ids.contains(&hook.id) && (rewrote(hook) || said(then, &hook.id) != said(now, &hook.id)) {
            ids.push(hook.id.clone());
        }
    }
    ids
}
