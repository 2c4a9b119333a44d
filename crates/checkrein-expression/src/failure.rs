//! Errors of an evaluation.

use crate::syntax::Span;

/// An expression that could not be evaluated for an event.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{kind}")]
pub struct Failure {
    /// Place in the text of the expression.
    pub span: Span,
    /// Cause.
    pub kind: FailureKind,
}

/// Cause of a [`Failure`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureKind {
    /// A map has no such key.
    #[error("no value for the key `{0}`; test it with `has(…)` first")]
    MissingKey(String),
    /// A list is shorter.
    #[error("the list has no element {0}")]
    MissingElement(i64),
    /// A value of a tool's input has another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// Expected type.
        expected: String,
        /// Type of the value.
        found: &'static str,
    },
    /// A whole number is too large.
    #[error("the result of the calculation is too large")]
    Overflow,
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The rule needs too much work for this event.
    #[error("the rule needs more than {} steps", crate::limits::STEPS)]
    TooManySteps,
    /// A function rejected its arguments.
    #[error("{0}")]
    Function(String),
}
