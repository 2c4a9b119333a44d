//! Errors of JSON texts, with their location.

use std::fmt;

use super::lexer::{LexError, LexErrorKind};

/// Error of a text that is not accepted as JSON, with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at {location}")]
pub struct JsonError {
    kind: JsonErrorKind,
    location: Location,
}

impl JsonError {
    pub(crate) fn new(kind: JsonErrorKind, text: &[u8], offset: usize) -> Self {
        Self { kind, location: Location::from_offset(text, offset) }
    }

    #[cold]
    pub(super) fn from_lexer(error: LexError, text: &str) -> Self {
        let found = text.get(error.offset..).and_then(|rest| rest.chars().next());
        let unexpected = |expected| match found {
            None => JsonErrorKind::UnexpectedEnd { expected },
            Some(found) => JsonErrorKind::Unexpected { expected, found: format!("{found:?}") },
        };
        let kind = match error.kind {
            LexErrorKind::ExpectedValue
            | LexErrorKind::ExpectedKey
            | LexErrorKind::ExpectedColon
            | LexErrorKind::ExpectedCommaOrBracket
            | LexErrorKind::ExpectedCommaOrBrace => unexpected(error.kind.expected().unwrap_or_default()),
            LexErrorKind::TrailingComma if found == Some('}') => unexpected("a key in double quotes"),
            LexErrorKind::TrailingComma => unexpected("a value"),
            // Only for text with comments (JSONC).
            LexErrorKind::UnclosedComment => unexpected("the end of a comment"),
            LexErrorKind::UnclosedString => unexpected("the end of a string"),
            LexErrorKind::ControlCharacter(byte) => JsonErrorKind::ControlCharacter { byte },
            LexErrorKind::BadEscape => JsonErrorKind::BadEscape,
            LexErrorKind::BadNumber => JsonErrorKind::BadNumber,
            LexErrorKind::TooDeep => JsonErrorKind::TooDeep,
            LexErrorKind::TrailingText => JsonErrorKind::TrailingText,
        };
        Self::new(kind, text.as_bytes(), error.offset)
    }

    /// Returns the cause.
    pub fn kind(&self) -> &JsonErrorKind {
        &self.kind
    }

    /// Returns the location of the error.
    pub fn location(&self) -> Location {
        self.location
    }
}

/// Cause of a [`JsonError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text ends inside a value.
    #[error("the JSON text ends too early, expected {expected}")]
    UnexpectedEnd {
        /// Expected token.
        expected: &'static str,
    },
    /// An unexpected character.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Expected token.
        expected: &'static str,
        /// Character that was found, escaped.
        found: String,
    },
    /// A control character in a string that is not escaped.
    #[error("unescaped control character 0x{byte:02x} in a string")]
    ControlCharacter {
        /// Character.
        byte: u8,
    },
    /// A backslash without a valid escape sequence.
    #[error("invalid escape sequence in a string")]
    BadEscape,
    /// An invalid number.
    #[error("invalid number")]
    BadNumber,
    /// Arrays and objects nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested more than {} levels deep", super::MAX_DEPTH)]
    TooDeep,
    /// A duplicate key in an object.
    #[error("duplicate key {key:?}")]
    DuplicateKey {
        /// Key, decoded.
        key: String,
    },
    /// Text after the end of the value.
    #[error("text after the end of the JSON value")]
    TrailingText,
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// A Rust value without a JSON form.
    #[error("cannot be written as JSON: {reason}")]
    Unwritable {
        /// Message of the serializer.
        reason: String,
    },
}

/// Position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Location {
    /// Offset in bytes.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Location {
    /// Computes line and column of an offset.
    pub(crate) fn from_offset(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |line_feed| line_feed + 1);
        // Continuation bytes of UTF-8 do not start a character.
        let characters = before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        Self { offset, line: before.iter().filter(|&&byte| byte == b'\n').count() + 1, column: characters + 1 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}
