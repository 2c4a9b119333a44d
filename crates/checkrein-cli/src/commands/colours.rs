//! Colours of decisions and outcomes, the same in every command.

use checkrein::Decision;
use checkrein::record::{HookOutcome, HookRecord};
use owo_colors::Style;

/// Of a decision.
pub fn of(decision: Decision) -> Style {
    match decision {
        Decision::NoOpinion => Style::new().dimmed(),
        Decision::Allow => Style::new().green(),
        Decision::Ask | Decision::Defer => Style::new().yellow(),
        Decision::Deny | Decision::Halt => Style::new().red(),
    }
}

/// What a hook came to, in one word.
pub fn label(hook: &HookRecord) -> (&'static str, Style) {
    match (hook.outcome, hook.decision) {
        (HookOutcome::Failure, _) => ("failed", Style::new().red()),
        (HookOutcome::Skipped, _) => ("skipped", Style::new().dimmed()),
        (_, Some(decision)) if decision != Decision::NoOpinion => (decision.name(), of(decision)),
        _ if !hook.rewrote.is_empty() => ("rewrites", Style::new().cyan()),
        _ if !hook.context.is_empty() => ("context", Style::new().cyan()),
        _ => ("-", Style::new().dimmed()),
    }
}
