//! Source of the rules that settle an event: an agent's dialect or the host.

use checkrein_core::{EventKind, Failure, FailureKind, FailurePolicy, Rules};
use checkrein_dialects::{Dialect, HookSpec};

#[derive(Debug, Clone, Copy)]
pub(super) enum RuleSource {
    /// Rules of an agent. They can differ per event.
    Dialect(&'static Dialect),
    /// Rules of the host, for all events.
    Custom(Rules),
}

impl RuleSource {
    /// Returns the rules for events of this kind.
    pub(super) fn rules_for(&self, kind: &EventKind) -> Rules {
        match self {
            Self::Dialect(dialect) => dialect.rules_at(kind),
            Self::Custom(rules) => *rules,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Dialect(dialect) => dialect.name,
            Self::Custom(_) => "custom",
        }
    }

    /// Name of the agent's dialect.
    pub(super) fn agent(&self) -> Option<&'static str> {
        match self {
            Self::Dialect(dialect) => Some(dialect.name),
            Self::Custom(_) => None,
        }
    }

    pub(super) fn stop_cap(&self) -> u32 {
        match self {
            Self::Dialect(dialect) => dialect.stop_cap,
            Self::Custom(_) => checkrein_dialects::agents::native::DIALECT.stop_cap,
        }
    }

    /// Sets the failure policy of the hook's own dialect, unless the hook or the host sets another one.
    pub(super) fn with_effect(&self, failure: Failure, hook: &HookSpec, kind: &EventKind) -> Failure {
        // A changed hook was approved as a gate, so its new entry must not open that gate.
        if failure.kind == FailureKind::Untrusted && failure.effect.is_none() {
            let effect = if kind.contract().is_gate() { FailurePolicy::Closed } else { FailurePolicy::Open };
            return failure.with_effect(effect);
        }
        if failure.effect.is_some() || matches!(self, Self::Custom(_)) {
            return failure;
        }
        // The agent has a fixed policy at this event.
        if let Some(effect) = hook.dialect.row(kind).and_then(|row| row.failure_policy) {
            return failure.with_effect(effect);
        }
        let info = &hook.info;
        let is_set = info.on_failure.is_some() || (failure.kind == FailureKind::Timeout && info.on_timeout.is_some());
        if is_set {
            return failure;
        }
        let effect = match hook.can_guard() {
            true => hook.dialect.failure_effect(kind, failure.kind),
            false => FailurePolicy::Open,
        };
        failure.with_effect(effect)
    }
}
