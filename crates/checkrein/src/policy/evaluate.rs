//! Evaluation of a rule for the facts of an event.

use checkrein_core::{EventKind, Failure, FailureKind, FailurePolicy, Opinion, RawJson, Rewrite, Target};
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
                let reason = unknown_reason(id, fact, facts);
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
        if !self.rewrite.is_empty() && has_rewrites(facts) {
            opinion = opinion.with_rewrite(Rewrite::merge(Target::Input, self.patch(facts)?));
        }
        Ok(opinion)
    }

    /// Returns the patch of the tool input.
    fn patch(&self, facts: &dyn Object) -> Result<RawJson, Failure> {
        let mut members = Vec::new();
        for (field, new) in &self.rewrite {
            let key = || format!("rewrite.{field}");
            members.push(format!("{}:{}", RawJson::string(field), self.json(new, &key, facts)?));
        }
        RawJson::parse(format!("{{{}}}", members.join(",")))
            .map_err(|error| Failure::new(FailureKind::Error, format!("`rewrite` is not valid: {error}")))
    }

    /// Returns a new value as JSON.
    fn json(&self, new: &NewValue, key: &dyn Fn() -> String, facts: &dyn Object) -> Result<String, Failure> {
        let fail = |failure: EvaluationFailure| self.failed(&key(), &failure);
        // The new input must not have parts that only a shell knows: their quotes and their order are lost.
        let unknown = |Unknown(fact): Unknown| {
            Failure::new(FailureKind::Error, format!("`{}`: the value of `{fact}` is unknown", key()))
        };
        Ok(match new {
            NewValue::Constant(json) => json.clone(),
            NewValue::Text(template) => {
                let text = template.render_known(facts, &self.variables).map_err(fail)?.map_err(unknown)?;
                RawJson::string(&text).as_str().to_owned()
            }
            NewValue::Value(expression) => {
                let value = expression.evaluate_with(facts, &self.variables).map_err(fail)?;
                json_of_value(&value).map_err(unknown)?
            }
            NewValue::Array(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.json(item, key, facts)).collect();
                format!("[{}]", items?.join(","))
            }
            NewValue::Object(members) => {
                let member = |(name, value): &(String, NewValue)| {
                    Ok(format!("{}:{}", RawJson::string(name), self.json(value, key, facts)?))
                };
                let members: Result<Vec<_>, Failure> = members.iter().map(member).collect();
                format!("{{{}}}", members?.join(","))
            }
        })
    }

    fn failed(&self, key: &str, failure: &EvaluationFailure) -> Failure {
        Failure::new(FailureKind::Error, format!("`{key}`, character {}: {failure}", failure.span.start + 1))
    }
}

/// Maximum length of a shown value, in characters.
const MAX_SHOWN_CHARS: usize = 100;

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
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
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

/// `true` if the event of these facts has an input that hooks can rewrite.
fn has_rewrites(facts: &dyn Object) -> bool {
    match field(facts, "event") {
        Value::String(name) => {
            name.parse::<EventKind>().is_ok_and(|kind| kind.contract().rewrites.contains(&Target::Input))
        }
        _ => false,
    }
}

/// Returns a fact by its name.
fn field(object: &dyn Object, name: &str) -> Value {
    let index = object.schema().fields.iter().position(|field| field.name == name);
    index.map_or(Value::Null, |index| object.field(index))
}

/// Start of the description of a command that cannot be parsed. The rest is the cause.
const UNREADABLE: &str = "a command that cannot be read: ";

/// Returns what is unknown, and the remedy.
pub fn describe_unknown(Unknown(fact): &Unknown) -> String {
    if let Some(why) = fact.strip_prefix(UNREADABLE) {
        return format!("the command cannot be read: {why}; correct it");
    }
    // A part of a shell command as it is written, and not a description.
    match fact.contains('$') || !fact.contains(' ') {
        true => format!("`{fact}` is known only when the command runs; write its value"),
        false => format!("{fact} is not known before the command runs; name it in the command"),
    }
}

/// Returns the reason of a rule whose condition is unknown.
fn unknown_reason(id: &str, fact: &Unknown, facts: &dyn Object) -> String {
    // Every rule about commands depends on such a command, so the first one is no better than the others.
    if is_program(fact, facts) {
        return format!("the program `{}` is known only when the command runs; write its name", fact.0);
    }
    match fact.0.starts_with(UNREADABLE) {
        true => describe_unknown(fact),
        false => format!("{}; the rule `{id}` needs it", describe_unknown(fact)),
    }
}

/// `true` if the unknown fact is the program of a command.
fn is_program(fact: &Unknown, facts: &dyn Object) -> bool {
    let Value::List(commands) = field(facts, "commands") else { return false };
    commands.elements.iter().any(|command| match command {
        Value::Object(command) => field(&**command, "program").unknown_part().as_ref() == Some(fact),
        Value::Unknown(unknown) => unknown == fact,
        _ => false,
    })
}
