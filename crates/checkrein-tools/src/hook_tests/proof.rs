//! Detects cases whose expectations hold although no hook has answered.
//!
//! A guard that fails closed denies, and one that is not approved has no opinion. Neither result shows that the guard works.

use checkrein_core::{FailureKind, HookOutcome, Record};

use super::case::{Case, Check, Expected};

/// Reason why a case proves nothing: every selected hook failed, and the case does not expect a failure.
pub(super) fn why_not(case: &Case, record: &Record) -> Option<String> {
    let mut failures = Vec::new();
    for hook in &record.hooks {
        if hook.outcome != HookOutcome::Failure {
            return None;
        }
        failures.push(match hook.failure {
            Some(FailureKind::Untrusted) => format!("`{}` is not approved", hook.id),
            Some(kind) => format!("`{}` failed ({kind}: {})", hook.id, hook.detail.as_deref().unwrap_or_default()),
            None => format!("`{}` failed", hook.id),
        });
    }
    let has_started = record.hooks.iter().any(|hook| hook.failure != Some(FailureKind::Untrusted));
    if failures.is_empty() || case.expect.iter().any(|expected| expects_failure(expected, has_started)) {
        return None;
    }
    Some(format!(
        "the expected result proves nothing, because no hook answered: {}; if that is intended, expect it with `hooks: \
         {{NAME: {{failure: KIND}}}}`",
        failures.join(", ")
    ))
}

/// `true` if the expectation is about a failure: its kind, its text or the exit code. `has_started`: it is about a hook that
/// ran.
fn expects_failure(expected: &Expected, has_started: bool) -> bool {
    match &expected.check {
        Check::Failure(kind) => kind.is_some(),
        Check::Reason(reason) => reason.is_some(),
        Check::Warnings(warnings) => !warnings.is_empty(),
        Check::ExitCode(_) | Check::Stdout(_) | Check::Stderr(_) => true,
        Check::Ran(names) => has_started && !names.is_empty(),
        Check::Hook(_, all) => all.iter().any(|expected| expects_failure(expected, has_started)),
        _ => false,
    }
}
