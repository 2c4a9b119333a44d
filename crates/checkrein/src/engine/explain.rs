//! What would run, without running it.

use std::sync::Arc;

use checkrein_core::{Event, HookState, SkipReason};
use checkrein_dialects::HookSpec;

use super::Engine;

/// One hook, and whether it would run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExplainedHook {
    /// The hook.
    pub hook: Arc<HookSpec>,
    /// Why it would not run. `None`: it would.
    pub why_not: Option<SkipReason>,
    /// Why it would fail at once if it is chosen: it is broken, or its user has not approved it.
    pub fails: Option<String>,
}

impl Engine {
    /// Every hook of the engine, in the order in which they would run, in or out, and why. Runs nothing.
    pub fn explain(&self, event: &Event) -> Vec<ExplainedHook> {
        let mut event = event.clone();
        // Whoever fires is told of what goes wrong here.
        let _ = self.put_in_envelope(&mut event);
        let hooks = self.shared.hooks.load();
        let plan = hooks.set.explain(&event);
        plan.entries
            .into_iter()
            .map(|entry| {
                let loaded = hooks.get(entry.position);
                let fails = match (&loaded.spec.state, &loaded.handler) {
                    (HookState::Broken(why) | HookState::Changed(why), _) => Some(why.clone()),
                    (_, Err(failure)) => Some(failure.to_string()),
                    _ => None,
                };
                ExplainedHook { hook: Arc::clone(&loaded.spec), why_not: entry.skip_reason, fails }
            })
            .collect()
    }
}
