//! Compilation of a rule: every expression is checked before any event.

use std::collections::BTreeMap;

use checkrein_core::{EventKind, RawJson};
use checkrein_dialects::{RuleDecision, RuleSpec};
use checkrein_expression::{Environment, Error, Expression, Prefilter, Span, Template, Value, Variables};

use crate::facts;

/// Lists of facts for prefilters with their fields, the cheapest first.
const PREFILTER_FACTS: &[(&str, &[&str])] = &[
    ("commands", &["program", "subcommand", "multiplies"]),
    ("paths", &["access", "of_agent", "protected", "secret", "system"]),
    ("net", &["scope", "upload"]),
];

/// A compiled rule.
#[derive(Debug)]
pub struct Rule {
    pub(super) when: Expression,
    pub(super) variables: Variables,
    /// Programs, accesses or connections of which a call must have one. `None`: the condition can be true for other calls.
    pub(super) prefilter: Option<Prefilter>,
    pub(super) decision: Option<(RuleDecision, Template)>,
    pub(super) context: Option<Template>,
    pub(super) message: Option<Template>,
    pub(super) label: Option<String>,
    pub(super) rewrite: Vec<(String, NewValue)>,
    warnings: Vec<RuleError>,
}

/// New value of a field of the tool input.
#[derive(Debug)]
pub(super) enum NewValue {
    /// A text with expressions.
    Text(Template),
    /// The value of one expression.
    Value(Expression),
    /// A constant, as JSON.
    Constant(String),
    /// An array.
    Array(Vec<NewValue>),
    /// An object.
    Object(Vec<(String, NewValue)>),
}

/// An expression of a rule that is not valid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{key}`: {error}")]
#[non_exhaustive]
pub struct RuleError {
    /// Key of the expression: `when`, `vars.NAME`, `deny`, `rewrite.FIELD`.
    pub key: String,
    /// The error, with its position in the text of the key.
    pub error: Error,
}

impl RuleError {
    /// Returns the position in the text of the key.
    pub fn span(&self) -> Span {
        self.error.span
    }
}

impl Rule {
    /// Compiles a rule for events of these kinds.
    ///
    /// # Errors
    /// The first expression that is not valid.
    pub fn compile(spec: &RuleSpec, kinds: &[EventKind]) -> Result<Self, RuleError> {
        Self::compile_in(spec, facts::environment(kinds))
    }

    /// Compiles a rule that was valid when the program was built, as tests prove. Its patterns are not checked again.
    pub(super) fn compile_valid(spec: &RuleSpec, kinds: &[EventKind]) -> Result<Self, RuleError> {
        Self::compile_in(spec, facts::environment(kinds).with_valid_patterns())
    }

    fn compile_in(spec: &RuleSpec, environment: Environment) -> Result<Self, RuleError> {
        let fail = |key: &str| {
            let key = key.to_owned();
            move |error: Error| RuleError { key, error }
        };
        let params: BTreeMap<String, Value> =
            spec.params.iter().map(|(name, value)| (name.clone(), facts::json::value(value))).collect();
        let mut environment = environment.params(params);
        let variables = Variables::compile(&spec.vars, &mut environment)
            .map_err(|(name, error)| RuleError { key: format!("vars.{name}"), error })?;
        let when = Expression::condition(&spec.when, &environment).map_err(fail("when"))?;
        let of_variables = variables.warnings().iter().map(|(name, error)| (format!("vars.{name}"), error));
        let of_when = when.warnings().iter().map(|error| ("when".to_owned(), error));
        let warnings =
            of_variables.chain(of_when).map(|(key, error)| RuleError { key, error: error.clone() }).collect();
        // The texts are needed only if the condition is true.
        let environment = environment.assuming(&when);
        let template = |key: &str, text: &str| Template::compile(text, &environment).map_err(fail(key));
        let optional = |key: &str, text: &Option<String>| text.as_deref().map(|text| template(key, text)).transpose();
        let decision = match &spec.decision {
            Some((decision, text)) => Some((*decision, template(decision.name(), text)?)),
            None => None,
        };
        let mut rewrite = Vec::new();
        for (field, value) in &spec.rewrite {
            let new = new_value(value, &environment).map_err(fail(&format!("rewrite.{field}")))?;
            rewrite.push((field.clone(), new));
        }
        let prefilter = PREFILTER_FACTS
            .iter()
            .find_map(|(list, fields)| Prefilter::new(&when, &variables, environment.facts(), list, fields));
        Ok(Self {
            when,
            variables,
            prefilter,
            decision,
            context: optional("context", &spec.context)?,
            message: optional("message", &spec.message)?,
            label: spec.label.clone(),
            rewrite,
            warnings,
        })
    }

    /// Parts that are valid and rarely intended, such as a comparison with an unknown name.
    pub fn warnings(&self) -> &[RuleError] {
        &self.warnings
    }
}

fn new_value(value: &RawJson, environment: &Environment) -> Result<NewValue, Error> {
    if let Some(items) = value.items() {
        let items = items.filter_map(|item| RawJson::parse(item).ok());
        let items: Result<Vec<_>, Error> = items.map(|item| new_value(&item, environment)).collect();
        return items.map(NewValue::Array);
    }
    if let Some(entries) = value.entries() {
        let mut members = Vec::new();
        for entry in entries {
            members.push((entry.key().into_owned(), new_value(&entry.to_json(), environment)?));
        }
        return Ok(NewValue::Object(members));
    }
    let Some(text) = value.as_text() else { return Ok(NewValue::Constant(value.to_string())) };
    // A text that is one expression keeps the type of its value.
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    if let Some(inner) = inner
        && let Ok(expression) = Expression::compile(inner, environment)
        && expression.no_text().is_none()
    {
        return Ok(NewValue::Value(expression));
    }
    Template::compile(&text, environment).map(NewValue::Text)
}
