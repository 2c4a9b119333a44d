//! Evaluation of a rule for the facts of an event.

use checkrein_core::{Failure, FailureKind, FailurePolicy, Opinion, RawJson, Rewrite, Target};
use checkrein_expression::{Failure as EvaluationFailure, Inside, Object, Step, Unknown, Value};

use super::compile::{NewValue, Rule};
use super::json::json_of_value;

/// Value of the condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    True,
    False,
    /// A fact that matters is unknown.
    Unknown(Unknown),
}

/// Evaluation of a condition, with the values of its parts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The value: `true`, `false`, or the unknown fact.
    pub value: Result<bool, Unknown>,
    /// Parts of the condition that were evaluated, in order.
    pub parts: Vec<Part>,
}

/// A part of an expression with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Text of the part.
    pub text: String,
    /// Value, as text.
    pub value: String,
    /// Number of comprehensions and variables around it.
    pub depth: usize,
}

impl Rule {
    /// Returns the opinion about an event. `unknown` is the effect of an unknown condition, and `id` names the rule in its text.
    ///
    /// # Errors
    /// An expression cannot be evaluated for this event.
    pub fn opinion(&self, id: &str, facts: &dyn Object, unknown: FailurePolicy) -> Result<Opinion, Failure> {
        let condition = self.condition(facts)?;
        self.opinion_of(&condition, id, facts, unknown)
    }

    /// As [`opinion`](Self::opinion), for a condition that was evaluated.
    pub(super) fn opinion_of(
        &self,
        condition: &Condition,
        id: &str,
        facts: &dyn Object,
        unknown: FailurePolicy,
    ) -> Result<Opinion, Failure> {
        match condition {
            Condition::False => Ok(Opinion::none()),
            Condition::True => self.effects(facts),
            Condition::Unknown(_) if !self.restricts() => Ok(Opinion::none()),
            Condition::Unknown(fact) => {
                let reason = unknown_reason(id, fact);
                Ok(match unknown {
                    FailurePolicy::Open => Opinion::none(),
                    FailurePolicy::Closed => Opinion::deny(reason),
                    FailurePolicy::Ask => Opinion::ask(reason),
                })
            }
        }
    }

    /// `true` if the call has none of the programs, accesses or connections that the condition needs. The condition then is false and
    /// is not evaluated.
    #[doc(hidden)]
    pub fn is_excluded(&self, facts: &dyn Object) -> bool {
        self.prefilter.as_ref().is_some_and(|prefilter| prefilter.excludes(facts))
    }

    /// Returns the label that the session gets if the rule applies.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Evaluates the condition and returns the values of its parts.
    ///
    /// # Errors
    /// The condition cannot be evaluated for this event.
    pub fn explain(&self, facts: &dyn Object) -> Result<Evaluation, Failure> {
        let (result, steps) = self.when.explain(facts, &self.variables);
        let mut parts = Vec::new();
        self.add_parts(&steps, self.when.source(), 0, &mut parts);
        let value = match condition(result.map_err(|failure| self.failed("when", &failure))?)? {
            Condition::True => Ok(true),
            Condition::False => Ok(false),
            Condition::Unknown(fact) => Err(fact),
        };
        Ok(Evaluation { value, parts })
    }

    /// Adds the parts that decided, outermost first. A part of a comprehension is that of the deciding element.
    fn add_parts(&self, steps: &[Step], source: &str, depth: usize, parts: &mut Vec<Part>) {
        // The steps are in the order of evaluation, so the outermost is the last.
        for step in steps.iter().rev() {
            let is_condition = matches!(step.value, Value::Bool(_) | Value::Unknown(_));
            if is_condition || step.inside.is_some() {
                let part = Part { text: step.span.text(source).to_owned(), value: shown(&step.value), depth };
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            match &step.inside {
                Some(Inside::Element { element, steps, .. }) => {
                    parts.push(Part { text: "element".to_owned(), value: shown(element), depth: depth + 1 });
                    self.add_parts(steps, source, depth + 1, parts);
                }
                Some(Inside::Variable { index, steps, .. }) => {
                    self.add_parts(steps, self.variables.source(*index), depth + 1, parts);
                }
                _ => {}
            }
        }
    }

    /// `true` if the rule denies, asks or halts.
    fn restricts(&self) -> bool {
        self.decision.as_ref().is_some_and(|(decision, _)| *decision != checkrein_dialects::RuleDecision::Allow)
    }

    pub(crate) fn condition(&self, facts: &dyn Object) -> Result<Condition, Failure> {
        if self.is_excluded(facts) {
            return Ok(Condition::False);
        }
        let value = self.when.evaluate_with(facts, &self.variables);
        condition(value.map_err(|failure| self.failed("when", &failure))?)
    }

    fn effects(&self, facts: &dyn Object) -> Result<Opinion, Failure> {
        let render = |key: &str, template: &checkrein_expression::Template| {
            template.render(facts, &self.variables).map_err(|failure| self.failed(key, &failure))
        };
        let mut opinion = Opinion::none();
        if let Some((decision, reason)) = &self.decision {
            let reason = render(decision.name(), reason)?;
            opinion = Opinion::from_decision(decision.decision()).with_reason(reason);
        }
        if let Some(context) = &self.context {
            opinion = opinion.with_context(render("context", context)?);
        }
        if let Some(message) = &self.message {
            opinion = opinion.with_message(render("message", message)?);
        }
        if !self.rewrite.is_empty() {
            opinion = opinion.with_rewrite(Rewrite::merge(Target::Input, self.patch(facts)?));
        }
        Ok(opinion)
    }

    /// Returns the patch of the tool input.
    fn patch(&self, facts: &dyn Object) -> Result<RawJson, Failure> {
        let mut members = Vec::new();
        for (field, new) in &self.rewrite {
            let key = || format!("rewrite.{field}");
            let fail = |failure: EvaluationFailure| self.failed(&key(), &failure);
            let value = match new {
                NewValue::Constant(json) => json.clone(),
                NewValue::Text(template) => {
                    let text = template.render(facts, &self.variables).map_err(fail)?;
                    RawJson::string(&text).as_str().to_owned()
                }
                NewValue::Value(expression) => {
                    let value = expression.evaluate_with(facts, &self.variables).map_err(fail)?;
                    json_of_value(&value).map_err(|Unknown(fact)| {
                        Failure::new(FailureKind::Error, format!("`{}`: the value of `{fact}` is unknown", key()))
                    })?
                }
            };
            members.push(format!("{}:{value}", RawJson::string(field)));
        }
        RawJson::parse(format!("{{{}}}", members.join(",")))
            .map_err(|error| Failure::new(FailureKind::Error, format!("`rewrite` is not valid: {error}")))
    }

    fn failed(&self, key: &str, failure: &EvaluationFailure) -> Failure {
        Failure::new(FailureKind::Error, format!("`{key}`, character {}: {failure}", failure.span.start + 1))
    }
}

/// Maximum length of a shown value, in characters.
const SHOWN: usize = 100;

/// Returns a value for people: a command or a path as it is written, a list by its elements.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Object(object) => {
            let fields = object.schema().fields;
            let position = |name: &&str| fields.iter().position(|field| field.name == *name);
            let index = ["text", "path", "url"].iter().find_map(position);
            index.map_or_else(|| value.to_string(), |index| format!("`{}`", object.field(index)))
        }
        Value::List(list) => {
            let mut items: Vec<_> = list.elements.iter().map(shown).collect();
            items.extend(list.rest.as_ref().map(|rest| format!("unknown: {}", rest.0)));
            format!("[{}]", items.join(", "))
        }
        Value::Unknown(fact) => format!("unknown: {}", fact.0),
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn condition(value: Value) -> Result<Condition, Failure> {
    match value {
        Value::Bool(true) => Ok(Condition::True),
        Value::Bool(false) => Ok(Condition::False),
        Value::Unknown(fact) => Ok(Condition::Unknown(fact)),
        other => Err(Failure::new(FailureKind::Error, format!("`when` is {}, not a bool", other.type_name()))),
    }
}

/// Returns the reason of a rule whose condition is unknown.
fn unknown_reason(id: &str, Unknown(fact): &Unknown) -> String {
    format!("the rule `{id}` cannot be decided: `{fact}` is known only when the command runs; write the value instead")
}
