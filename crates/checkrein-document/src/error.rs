//! [`DocumentError`] and [`DocumentProblem`]: errors of the parsers, and suspicious parts of valid texts, with positions.
//!
//! All parsers of this crate create them. Readers of hook files show them to the user.

use super::Format;
use super::node::Span;
use crate::lines::LineColumn;

/// Parse error with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct DocumentError {
    /// The invalid part of the text; may be empty.
    pub span: Span,
    /// Start of that part.
    pub place: LineColumn,
    /// The problem, and its solution if it is known. Starts with `invalid JSON: ` (or YAML, TOML) unless a limit is exceeded.
    pub message: String,
}

impl DocumentError {
    #[cold]
    pub(super) fn new(error: ParseError, text: &str, format: Format) -> Self {
        let message = match error.kind {
            ErrorKind::Syntax => format!("invalid {}: {}", format.name(), error.message),
            ErrorKind::Limit => error.message,
        };
        Self { span: error.span, place: LineColumn::from_offset(text, error.span.start), message }
    }
}

/// A [`DocumentError`] without its line.
#[derive(Debug)]
pub(super) struct ParseError {
    pub span: Span,
    kind: ErrorKind,
    message: String,
}

#[derive(Debug, Clone, Copy)]
enum ErrorKind {
    Syntax,
    /// A limit of this crate or a missing feature, in a text that may be valid.
    Limit,
}

impl ParseError {
    /// A syntax error.
    #[cold]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, kind: ErrorKind::Syntax, message: message.into() }
    }

    /// An exceeded limit.
    #[cold]
    pub fn limit(span: Span, message: impl Into<String>) -> Self {
        Self { span, kind: ErrorKind::Limit, message: message.into() }
    }
}

/// Suspicious part of a valid text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// A duplicate key in an object. The last one is used, as in the agents.
    #[error("duplicate key `{key}`; only the last one is used, remove the others")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The ignored key.
        ignored: Span,
        /// The used key.
        used: Span,
    },
    /// An unknown YAML tag. Its value is parsed without the tag.
    #[error("unknown tag `{tag}` is ignored; remove it")]
    UnknownTag {
        /// The tag as written.
        tag: String,
        /// Position of the tag.
        span: Span,
    },
}

impl DocumentProblem {
    /// The ignored part of the text.
    pub fn span(&self) -> Span {
        match self {
            Self::DuplicateKey { ignored: span, .. } | Self::UnknownTag { span, .. } => *span,
        }
    }
}
