//! [`Expression`]: a checked expression.

use crate::check::check;
use crate::environment::Environment;
use crate::error::{Error, Problem};
use crate::evaluate::{Evaluation, Step};
use crate::failure::Failure;
use crate::node::Node;
use crate::syntax::parse;
use crate::types::Type;
use crate::value::{Object, Value};
use crate::variables::Variables;

/// An expression that was checked against an [`Environment`].
#[derive(Debug)]
pub struct Expression {
    source: String,
    pub(crate) node: Node,
    result: Type,
}

impl Expression {
    /// Parses and checks a text.
    ///
    /// # Errors
    ///
    /// If the text is not an expression, uses an unknown name, or has a type error.
    pub fn compile(text: &str, environment: &Environment) -> Result<Self, Error> {
        let (node, result) = check(&parse(text)?, environment, text)?;
        Ok(Self { source: text.to_owned(), node, result })
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
