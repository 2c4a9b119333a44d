use super::node::Span;
use crate::lines::LineColumn;

/// Why a text could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at {place}")]
#[non_exhaustive]
pub struct DocumentError {
    /// The part of the text that is wrong; may be empty.
    pub span: Span,
    /// Where that part starts.
    pub place: LineColumn,
    /// What is wrong.
    pub message: String,
}

impl DocumentError {
    #[cold]
    pub(super) fn new(fault: ParseError, text: &str) -> Self {
        Self { span: fault.span, place: LineColumn::of(text, fault.span.start), message: fault.message }
    }
}

/// A [`DocumentError`] before its line is counted.
#[derive(Debug)]
pub(super) struct ParseError {
    pub span: Span,
    pub message: String,
}

impl ParseError {
    #[cold]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Something odd in a text that can be read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// The same key twice in one object. The last one counts, as it does in the agents.
    #[error("duplicate key {key:?}, only the last one counts")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The key that does not count.
        ignored: Span,
        /// The key that counts.
        used: Span,
    },
    /// A YAML tag that means nothing here. Its value is read as if the tag was not there.
    #[error("unknown tag `{tag}`, it is ignored")]
    UnknownTag {
        /// The tag, as it is written.
        tag: String,
        /// Where it stands.
        span: Span,
    },
}

impl DocumentProblem {
    /// The part of the text that does not count.
    pub fn span(&self) -> Span {
        match self {
            Self::DuplicateKey { ignored: span, .. } | Self::UnknownTag { span, .. } => *span,
        }
    }
}
