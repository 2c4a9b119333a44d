//! Whose rules settle.

use checkrein_core::{EventKind, Failure, FailureKind, FailurePolicy, Rules};
use checkrein_dialects::{Dialect, HookSpec};

#[derive(Debug, Clone, Copy)]
pub(super) enum RuleSource {
    /// An agent's.
    Dialect(&'static Dialect),
    /// The host's own.
    Custom(Rules),
}

impl RuleSource {
    pub(super) fn at(&self, kind: &EventKind) -> Rules {
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

    pub(super) fn stop_cap(&self) -> u32 {
        match self {
            Self::Dialect(dialect) => dialect.stop_cap,
            Self::Custom(_) => checkrein_dialects::agents::native::DIALECT.stop_cap,
        }
    }

    /// The failure with what the hook's own dialect does about it, unless the hook or the host has said something else.
    pub(super) fn with_effect(&self, failure: Failure, hook: &HookSpec, kind: &EventKind) -> Failure {
        // It was a gate of its user once, whoever says now what is done when it fails.
        if failure.kind == FailureKind::Untrusted && failure.effect.is_none() {
            let effect = if kind.contract().is_gate() { FailurePolicy::Closed } else { FailurePolicy::Open };
            return failure.with_effect(effect);
        }
        if failure.effect.is_some() || matches!(self, Self::Custom(_)) {
            return failure;
        }
        // Where its agent lets no hook have a say in this.
        if let Some(effect) = hook.dialect.row(kind).and_then(|row| row.failure_policy) {
            return failure.with_effect(effect);
        }
        let info = &hook.info;
        let said = info.on_failure.is_some() || (failure.kind == FailureKind::Timeout && info.on_timeout.is_some());
        if said {
            return failure;
        }
        let effect = hook.dialect.failure_effect(kind, failure.kind);
        failure.with_effect(effect)
    }
}
