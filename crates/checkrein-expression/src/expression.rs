//! [`Expression`]: a checked expression.

use crate::check::{Checked, check};
use crate::environment::Environment;
use crate::error::{Error, Problem};
use crate::evaluate::{Evaluation, Step};
use crate::failure::Failure;
use crate::node::Node;
use crate::syntax::{Expr, ExprKind, Span, parse};
use crate::types::{Schema, Type};
use crate::value::{Object, Value};
use crate::variables::Variables;

/// An expression that was checked against an [`Environment`].
#[derive(Debug)]
pub struct Expression {
    source: String,
    pub(crate) node: Node,
    result: Type,
    /// Facts that hold if the value is true.
    pub(crate) proven: Vec<String>,
    warnings: Vec<Error>,
}

impl Expression {
    /// Parses and checks a text.
    ///
    /// # Errors
    ///
    /// If the text is not an expression, uses an unknown name, or has a type error.
    pub fn compile(text: &str, environment: &Environment) -> Result<Self, Error> {
        let Checked { node, result, proven, warnings } = check(&parse(text)?, environment, text)?;
        Ok(Self { source: text.to_owned(), node, result, proven, warnings })
    }

    /// Parses and checks a condition.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile), or if the result is not a bool.
    pub fn condition(text: &str, environment: &Environment) -> Result<Self, Error> {
        let condition = Self::compile(text, environment)?;
        match condition.result {
            Type::Bool | Type::Any => Ok(condition),
            other => Err(Error::new(
                condition.node.span,
                Problem::WrongType { expected: Type::Bool.to_string(), found: other.to_string() },
            )),
        }
    }

    /// Text of the expression.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Parts that are valid and rarely intended, such as a comparison with an unknown name.
    pub fn warnings(&self) -> &[Error] {
        &self.warnings
    }

    /// Returns an error if the value has no text, because it is an object or has objects.
    pub fn no_text(&self) -> Option<Error> {
        let text = self.source.trim();
        let (kind, example) = match self.result.non_null() {
            Type::Object(schema) => ("an object", format!("{text}.{}", text_field(schema))),
            Type::List(element) => match element.non_null() {
                Type::Object(schema) => ("a list of objects", format!("{text}.map(x, x.{})", text_field(schema))),
                _ => return None,
            },
            _ => return None,
        };
        let problem = Problem::NoText { text: text.to_owned(), kind };
        Some(Error::new(self.node.span, problem).help(format!("write a text, such as `{example}`")))
    }

    /// Returns the literals that a text passes as the first argument of a method of this name, with their places.
    pub fn literal_arguments(text: &str, method: &str) -> Vec<(Span, String)> {
        let mut found = Vec::new();
        if let Ok(parsed) = parse(text) {
            literal_arguments(&parsed, method, &mut found);
        }
        found
    }

    /// Type of the value.
    pub fn result(&self) -> &Type {
        &self.result
    }

    /// Computes the value for the facts of an event. The value may be unknown.
    ///
    /// # Errors
    ///
    /// If a value of the event does not fit, or the limit of steps is exceeded.
    pub fn evaluate(&self, facts: &dyn Object) -> Result<Value, Failure> {
        Evaluation::new(facts, &[]).evaluate(&self.node)
    }

    /// As [`evaluate`](Self::evaluate), with the variables of a rule.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_with(&self, facts: &dyn Object, variables: &Variables) -> Result<Value, Failure> {
        Evaluation::new(facts, &variables.nodes).evaluate(&self.node)
    }

    /// As [`evaluate_with`](Self::evaluate_with), with the number of steps that were taken, for tests of the limit.
    #[doc(hidden)]
    pub fn count_steps(&self, facts: &dyn Object, variables: &Variables) -> (Result<Value, Failure>, u32) {
        let evaluation = Evaluation::new(facts, &variables.nodes);
        let value = evaluation.evaluate(&self.node);
        (value, evaluation.steps())
    }

    /// Computes the value, and returns the values of the parts that were evaluated, in order. A comprehension has the parts for the
    /// element that decided it.
    pub fn explain(&self, facts: &dyn Object, variables: &Variables) -> (Result<Value, Failure>, Vec<Step>) {
        let evaluation = Evaluation::new(facts, &variables.nodes).traced();
        let value = evaluation.evaluate(&self.node);
        (value, evaluation.into_trace())
    }
}

/// Name of the field that describes an object best.
fn text_field(schema: &Schema) -> &'static str {
    let names = || schema.fields.iter().map(|field| field.name);
    let usual = ["text", "path", "url", "host", "name"].iter().find_map(|usual| names().find(|name| name == usual));
    let is_text = |field: &&crate::types::Field| field.kind.clone().general() == Type::String;
    let first = || schema.fields.iter().find(is_text).map(|field| field.name);
    usual.or_else(first).or_else(|| names().next()).unwrap_or_default()
}

fn literal_arguments(expression: &Expr, method: &str, found: &mut Vec<(Span, String)>) {
    if let ExprKind::Call { name, arguments, .. } = &expression.kind
        && name.text == method
        && let Some(Expr { span, kind: ExprKind::String(text) }) = arguments.first()
    {
        found.push((*span, text.clone()));
    }
    expression.for_each_part(|part| literal_arguments(part, method, found));
}
