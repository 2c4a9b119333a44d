//! Colors of decisions and results, for all commands.

use checkrein::Decision;
use checkrein::record::{HookOutcome, HookRecord};
use owo_colors::Style;

/// The color of a decision.
pub fn for_decision(decision: Decision) -> Style {
    match decision {
        Decision::NoOpinion => Style::new().dimmed(),
        Decision::Allow => Style::new().green(),
        Decision::Ask | Decision::Defer => Style::new().yellow(),
        Decision::Deny | Decision::Halt => Style::new().red(),
    }
}

/// The result of a hook in one word, with its color.
pub fn label(hook: &HookRecord) -> (&'static str, Style) {
    match (hook.outcome, hook.decision) {
        (HookOutcome::Failure, _) => ("failed", Style::new().red()),
        (HookOutcome::Skipped, _) => ("skipped", Style::new().dimmed()),
        (_, Some(decision)) if decision != Decision::NoOpinion => (decision.name(), for_decision(decision)),
        _ if !hook.rewrote.is_empty() => ("rewrites", Style::new().cyan()),
        _ if !hook.context.is_empty() => ("context", Style::new().cyan()),
        _ => ("-", Style::new().dimmed()),
    }
}
