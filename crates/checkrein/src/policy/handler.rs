//! Handler of rules: evaluates a compiled rule for each event.

use std::sync::Arc;

use checkrein_core::{Failure, FailureKind, FailurePolicy, Opinion, Reply};
use checkrein_dialects::{HandlerSpec, HookSpec};

use super::compile::Rule;
use super::history;
use crate::handler::{Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};
use crate::session_store::session_of;

/// Creates handlers for rules.
#[derive(Debug)]
pub(crate) struct RuleFactory;

impl HandlerFactory for RuleFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Rule(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not a rule"));
        };
        let rule = Rule::compile(spec, &hook.kinds)
            .map_err(|error| Failure::new(FailureKind::Schema, format!("the rule is not valid: {error}")))?;
        Ok(Arc::new(RuleHandler { rule, unknown: spec.unknown, dialect: hook.dialect, env: env.clone() }))
    }
}

struct RuleHandler {
    rule: Rule,
    /// Effect of an unknown condition, if the rule has one.
    unknown: Option<FailurePolicy>,
    dialect: &'static checkrein_dialects::Dialect,
    env: HandlerEnv,
}

impl RuleHandler {
    fn opinion(&self, call: &Call) -> Result<Opinion, Failure> {
        let facts = call.view.facts(&self.env);
        let is_gate = self.dialect.is_gate(&call.event().kind());
        let default = if is_gate { FailurePolicy::Ask } else { FailurePolicy::Open };
        let opinion = self.rule.opinion(&call.hook.id, &**facts, self.unknown.unwrap_or(default))?;
        if let (Some(label), Some(store)) = (self.rule.label(), &self.env.sessions)
            && !call.hook.dry_run
            && self.rule.condition(&**facts)? == super::evaluate::Condition::True
        {
            history::add_label(&**store, session_of(call.event()), label);
        }
        Ok(opinion)
    }
}

impl Handler for RuleHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        Box::pin(async move { self.opinion(call).map(Reply::Opinion) })
    }

    fn call_now(&self, call: &Call) -> Option<Result<Opinion, Failure>> {
        Some(self.opinion(call))
    }

    fn is_immediate(&self) -> bool {
        true
    }

    fn is_limited(&self) -> bool {
        false
    }
}
