//! Errors of expressions, with their places.

use std::fmt;

use crate::limits;
use crate::syntax::Span;

/// An expression that is not valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// Place in the text of the expression.
    pub span: Span,
    /// Cause.
    pub problem: Problem,
    /// A way to fix it.
    pub help: Option<String>,
}

impl Error {
    pub(crate) fn new(span: Span, problem: Problem) -> Self {
        Self { span, problem, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Cause of an [`Error`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text has a character that starts no token.
    #[error("unexpected character `{}`", .0.escape_debug())]
    UnexpectedCharacter(char),
    /// A number is malformed or too large.
    #[error("`{0}` is not a valid number")]
    InvalidNumber(String),
    /// A string has an unknown prefix.
    #[error("unknown string prefix `{0}`; only `r` is supported, for raw strings")]
    StringPrefix(String),
    /// A string has no end.
    #[error("the string is not closed")]
    UnclosedString,
    /// A backslash is followed by an unknown character.
    #[error("invalid escape; write `\\\\` for a backslash, or a raw string such as r\"\\d\"")]
    InvalidEscape,
    /// A part of CEL that rules do not have.
    #[error("{0} are not supported in rules")]
    Unsupported(&'static str),
    /// The parser expected something else.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// Description of the expected token.
        expected: &'static str,
        /// Description of the token that was found.
        found: String,
    },
    /// A reserved word of CEL is used as a name.
    #[error("`{0}` is a reserved word")]
    ReservedWord(String),
    /// `has` needs a field.
    #[error("`has` takes one field, such as `has(input.command)`")]
    HasArgument,
    /// A comprehension needs a name and an expression.
    #[error("`{0}` takes a name and an expression, such as `list.{0}(x, x == 1)`")]
    ComprehensionArguments(&'static str),
    /// Keys of maps must be string literals.
    #[error("keys of a map must be strings in quotes")]
    MapKey,
    /// The text is too long.
    #[error("the expression has {0} bytes, more than {max}", max = limits::BYTES)]
    TooLong(usize),
    /// The expression has too many parts.
    #[error("the expression has more than {} parts", limits::NODES)]
    TooManyNodes,
    /// The expression is nested too deeply.
    #[error("the expression is nested more than {} levels deep", limits::DEPTH)]
    TooDeep,
    /// Comprehensions are nested too deeply.
    #[error("comprehensions are nested more than {} levels deep", limits::COMPREHENSIONS)]
    TooManyComprehensions,
    /// No fact, variable or parameter has this name.
    #[error("unknown name `{0}`")]
    UnknownName(String),
    /// The fact exists, but not at the events of the rule.
    #[error("`{0}` is not available at all events of the rule")]
    UnavailableName(String),
    /// An object has no field of this name.
    #[error("`{object}` has no field `{field}`")]
    UnknownField {
        /// Type of the object.
        object: String,
        /// Name of the field.
        field: String,
    },
    /// No function or method has this name.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A value has no method of this name.
    #[error("{receiver} has no method `{name}`")]
    UnknownMethod {
        /// Type of the value.
        receiver: String,
        /// Name of the method.
        name: String,
    },
    /// A function has another number of arguments.
    #[error("`{name}` takes {expected}, not {found}")]
    ArgumentCount {
        /// Name of the function.
        name: String,
        /// Number of parameters, in words.
        expected: String,
        /// Number of arguments.
        found: usize,
    },
    /// A value has another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// Expected type.
        expected: String,
        /// Type of the expression.
        found: String,
    },
    /// An operator does not apply to these types.
    #[error("`{operator}` does not apply to {left} and {right}")]
    Operands {
        /// Symbol of the operator.
        operator: &'static str,
        /// Type of the left side.
        left: String,
        /// Type of the right side.
        right: String,
    },
    /// The branches of a condition, or the elements of a list, have different types.
    #[error("{what} have different types: {types}")]
    DifferentTypes {
        /// Name of the parts.
        what: &'static str,
        /// Two of the types.
        types: String,
    },
    /// A comparison has the same result for every event.
    #[error("this comparison is always {result}: {reason}")]
    Constant {
        /// The result.
        result: bool,
        /// The cause.
        reason: String,
    },
    /// A comparison is possible and rarely intended.
    #[error("`{name}` is probably never \"{value}\"")]
    Unlikely {
        /// Text of the compared expression.
        name: String,
        /// The literal.
        value: String,
    },
    /// A map may have no such key.
    #[error("`{0}` fails for a call without the key")]
    MayBeMissing(String),
    /// An object is used as a text.
    #[error("`{text}` is {kind}, not a text")]
    NoText {
        /// Text of the expression.
        text: String,
        /// Kind of the value.
        kind: &'static str,
    },
    /// A list is used as one of its elements.
    #[error("`{0}` is a list")]
    IsList(String),
    /// A value may be null here.
    #[error("`{0}` may be null here")]
    MayBeNull(String),
    /// A pattern must be a literal, so that it can be checked before an event.
    #[error("the pattern of `{0}` must be a string in quotes")]
    PatternNotLiteral(&'static str),
    /// A pattern is malformed or too large.
    #[error("invalid pattern: {0}")]
    InvalidPattern(String),
    /// An argument has an invalid value.
    #[error("{0}")]
    InvalidArgument(String),
    /// Variables depend on each other.
    #[error("the variable `{0}` depends on itself")]
    Cycle(String),
    /// A `${` in a text has no end.
    #[error("`${{` has no closing `}}`")]
    UnclosedInterpolation,
}
