//! Tokens and syntax errors of the [`Lexer`](super::Lexer).

/// Token of a JSON text. Commas and colons are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Kind of token.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// Key of a member, with its quotes.
    Key {
        /// `true` if it contains escape sequences.
        escaped: bool,
    },
    /// String value, with its quotes.
    String {
        /// `true` if it contains escape sequences.
        escaped: bool,
    },
    /// Number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// Syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LexError {
    /// Kind of error.
    pub kind: LexErrorKind,
    /// Offset of the error.
    pub offset: usize,
}

/// Kind of a syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexErrorKind {
    /// No value where one is expected.
    ExpectedValue,
    /// No key where one is expected.
    ExpectedKey,
    /// No colon after a key.
    ExpectedColon,
    /// No comma and no end of the array after an item.
    ExpectedCommaOrBracket,
    /// No comma and no end of the object after a member.
    ExpectedCommaOrBrace,
    /// Text after the end of the value.
    TrailingText,
    /// A comma before a closing bracket, in a text without extensions.
    TrailingComma,
    /// A string without a closing quote.
    UnclosedString,
    /// A control character in a string.
    ControlCharacter(u8),
    /// A backslash without a valid escape sequence.
    BadEscape,
    /// An invalid number.
    BadNumber,
    /// A `/*` comment without an end. The offset is that of its start.
    UnclosedComment,
    /// Arrays and objects nested deeper than allowed.
    TooDeep,
}

impl LexErrorKind {
    /// Returns the expected token as text. `None` for errors of other kinds.
    pub fn expected(self) -> Option<&'static str> {
        Some(match self {
            Self::ExpectedValue => "a value",
            Self::ExpectedKey => "a key in double quotes",
            Self::ExpectedColon => "`:`",
            Self::ExpectedCommaOrBracket => "`,` or `]`",
            Self::ExpectedCommaOrBrace => "`,` or `}`",
            _ => return None,
        })
    }
}
