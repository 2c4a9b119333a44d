//! Handler of rules: evaluates a compiled rule for each event.

use std::sync::{Arc, OnceLock};

use checkrein_core::{Decision, EventKind, Failure, FailureKind, FailurePolicy, Opinion, Reply};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleSpec};
use checkrein_expression::{Object, Prefilter};

use super::Condition;
use super::compile::{Rule, RuleError};
use super::history;
use super::pack_prefilters;
use crate::handler::{Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};

/// Creates handlers for rules.
#[derive(Debug)]
pub(crate) struct RuleFactory;

impl HandlerFactory for RuleFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Rule(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not a rule"));
        };
        let rule = LazyRule::new(spec, &hook.kinds)?;
        Ok(Arc::new(RuleHandler { rule, unknown: spec.unknown, dialect: hook.dialect, env: env.clone() }))
    }
}

fn invalid(error: &RuleError) -> Failure {
    Failure::new(FailureKind::Schema, format!("the rule is not valid: {error}"))
}

/// A compiled rule, or one that is compiled at the first event that its prefilter does not exclude.
enum LazyRule {
    Compiled(Rule),
    Waiting {
        prefilter: Prefilter,
        spec: Box<RuleSpec>,
        kinds: Vec<EventKind>,
        compiled: OnceLock<Result<Rule, Failure>>,
    },
}

impl LazyRule {
    fn new(spec: &RuleSpec, kinds: &[EventKind]) -> Result<Self, Failure> {
        let Some(prefilter) = pack_prefilters::find(spec, kinds) else {
            return Rule::compile(spec, kinds).map(Self::Compiled).map_err(|error| invalid(&error));
        };
        let (spec, kinds) = (Box::new(spec.clone()), kinds.to_vec());
        Ok(Self::Waiting { prefilter, spec, kinds, compiled: OnceLock::new() })
    }

    /// Returns the rule. `None`: its condition is false for these facts.
    fn get(&self, facts: &dyn Object) -> Result<Option<&Rule>, Failure> {
        match self {
            Self::Compiled(rule) => Ok(Some(rule)),
            Self::Waiting { prefilter, .. } if prefilter.excludes(facts) => Ok(None),
            Self::Waiting { spec, kinds, compiled, .. } => {
                let compile = || Rule::compile_valid(spec, kinds).map_err(|error| invalid(&error));
                compiled.get_or_init(compile).as_ref().map(Some).map_err(Clone::clone)
            }
        }
    }
}

struct RuleHandler {
    rule: LazyRule,
    /// Effect of an unknown condition, if the rule has one.
    unknown: Option<FailurePolicy>,
    dialect: &'static checkrein_dialects::Dialect,
    env: HandlerEnv,
}

impl RuleHandler {
    fn opinion(&self, call: &Call) -> Result<Opinion, Failure> {
        let facts = call.view.facts(&self.env);
        let Some(rule) = self.rule.get(&**facts)? else { return Ok(Opinion::none()) };
        let is_gate = self.dialect.is_gate(&call.event().kind());
        let default = if is_gate { FailurePolicy::Ask } else { FailurePolicy::Open };
        let condition = rule.condition(&**facts)?;
        let opinion = rule.opinion_of(&condition, &call.hook.id, &**facts, self.unknown.unwrap_or(default))?;
        let is_denied = matches!(opinion.decision(), Decision::Deny | Decision::Halt);
        if condition == Condition::True
            && !is_denied
            && let (Some(label), Some(store)) = (rule.label(), &self.env.sessions)
            && !call.hook.dry_run
        {
            history::add_label(&**store, call.view.original.as_deref().unwrap_or(call.event()), label);
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
