//! Names of spans, metrics and attributes. They are a stable interface: dashboards use them.

use checkrein_core::{HookOutcome, HookRecord};
use checkrein_tools::decision_log::DecisionEntry;
use opentelemetry::KeyValue;

/// Span of an event, followed by the kind of the event.
pub(super) const EVENT: &str = "checkrein.event";
/// Event of a span: a hook.
pub(super) const HOOK: &str = "checkrein.hook";

/// Histogram of the durations of hooks, in seconds.
pub(super) const HOOK_DURATION: &str = "checkrein.hook.duration";
/// Counter of answered events by decision.
pub(super) const DECISIONS: &str = "checkrein.decisions";
/// Counter of failed hooks by kind.
pub(super) const HOOK_FAILURES: &str = "checkrein.hook.failures";

pub(super) const ATTRIBUTE_EVENT: &str = "checkrein.event";
pub(super) const ATTRIBUTE_AGENT: &str = "checkrein.agent";
pub(super) const ATTRIBUTE_DECISION: &str = "checkrein.decision";
pub(super) const ATTRIBUTE_HOOK: &str = "checkrein.hook";
pub(super) const ATTRIBUTE_OUTCOME: &str = "checkrein.outcome";
pub(super) const ATTRIBUTE_FAILURE: &str = "checkrein.failure";

/// Returns the attributes of an event's span. They contain no input and no text that a model or a hook wrote.
pub(super) fn event_attributes(entry: &DecisionEntry) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(ATTRIBUTE_EVENT, entry.event.clone()),
        KeyValue::new(ATTRIBUTE_AGENT, entry.agent.clone()),
        KeyValue::new(ATTRIBUTE_DECISION, entry.verdict.to_string()),
        KeyValue::new("checkrein.repeat", entry.repeat),
    ];
    let optional = [
        ("checkrein.decided_by", &entry.by),
        ("checkrein.subagent", &entry.subagent),
        // Names of the conventions for generative AI: agents use the same ones.
        ("gen_ai.tool.name", &entry.tool),
        ("gen_ai.tool.call.id", &entry.call),
        ("gen_ai.conversation.id", &entry.session),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            attributes.push(KeyValue::new(name, value.clone()));
        }
    }
    attributes
}

/// Returns the attributes of a hook.
pub(super) fn hook_attributes(hook: &HookRecord) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(ATTRIBUTE_HOOK, hook.id.clone()),
        KeyValue::new("checkrein.handler", hook.handler.clone()),
        KeyValue::new(ATTRIBUTE_OUTCOME, outcome(hook.outcome)),
        KeyValue::new("checkrein.dry_run", hook.dry_run),
    ];
    if let Some(decision) = hook.decision {
        attributes.push(KeyValue::new(ATTRIBUTE_DECISION, decision.to_string()));
    }
    if let Some(kind) = hook.failure {
        attributes.push(KeyValue::new(ATTRIBUTE_FAILURE, kind.name()));
    }
    if let Some(duration) = hook.duration_ms {
        attributes.push(KeyValue::new("checkrein.duration_ms", i64::try_from(duration).unwrap_or(i64::MAX)));
    }
    attributes
}

/// Returns the name of an outcome.
pub(super) fn outcome(outcome: HookOutcome) -> &'static str {
    match outcome {
        HookOutcome::Opinion => "opinion",
        HookOutcome::Failure => "failure",
        HookOutcome::Skipped => "skipped",
    }
}
