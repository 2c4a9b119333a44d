//! Explanation of an event: lists the hooks that would run, and runs none.
//!
//! Used by `checkrein explain` and `checkrein run`.

use std::sync::Arc;

use checkrein_core::{Event, FailureKind, HookState, SkipReason};
use checkrein_dialects::{HandlerSpec, HookSpec};

use super::{Engine, conditions};
use crate::handler::EventView;
use crate::policy::{Evaluation, Rule};

/// One hook, and the reason if it would not run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExplainedHook {
    /// The hook.
    pub hook: Arc<HookSpec>,
    /// Reason why the hook would not run. `None` if it would run.
    pub why_not: Option<SkipReason>,
    /// Reason why the hook would fail before it starts: it is broken, or not approved.
    pub fails: Option<String>,
    /// Reason why it is unknown if the condition is true. The hook then runs: a guard that runs too often is safer.
    pub undecided: Option<String>,
    /// Evaluation of the condition of a rule, or the reason why it cannot be evaluated. `None` for other hooks, and for rules that
    /// would not run.
    pub evaluation: Option<Result<Evaluation, String>>,
}

impl Engine {
    /// Lists every hook of the engine in run order, with the reason if it would not run. Runs nothing.
    pub fn explain(&self, event: &Event) -> Vec<ExplainedHook> {
        let mut event = event.clone();
        // A panic of the agent's function is reported by the next fire.
        let _ = self.put_in_envelope(&mut event);
        let hooks = self.shared.hooks.load();
        let view = EventView::new(Arc::new(event.clone()), None);
        let plan = hooks.set.explain(&event);
        plan.entries
            .into_iter()
            .map(|entry| {
                let loaded = hooks.get(entry.position);
                let fails = match (&loaded.spec.state, &loaded.handler) {
                    (HookState::Broken(why), _) => Some(why.clone()),
                    (_, Err(failure)) if failure.kind == FailureKind::Untrusted => Some(failure.message.clone()),
                    (_, Err(failure)) => Some(failure.to_string()),
                    _ => None,
                };
                let undecided = match entry.skip_reason {
                    None => conditions::undecided(&loaded.spec, &event, &self.shared.env),
                    Some(_) => None,
                };
                let evaluation = match (&loaded.spec.handler, &entry.skip_reason) {
                    (HandlerSpec::Rule(rule), None) => {
                        let compiled = Rule::compile(rule, &loaded.spec.kinds).ok();
                        let explain = |rule: Rule| {
                            let facts = view.facts(&self.shared.env);
                            rule.explain(&**facts).map_err(|failure| failure.message)
                        };
                        compiled.map(explain)
                    }
                    _ => None,
                };
                let hook = Arc::clone(&loaded.spec);
                ExplainedHook { hook, why_not: entry.skip_reason, fails, undecided, evaluation }
            })
            .collect()
    }
}
