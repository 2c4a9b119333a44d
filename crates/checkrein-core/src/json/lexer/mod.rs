//! [`Lexer`]: the JSON tokenizer. One pass over a text, without recursion and without a tree.
//!
//! All JSON parsers of the workspace must use it: the validator behind [`RawJson`](super::RawJson) with its entries and
//! items, the prefilter and the tree of config files, the search for strings, and the editor of settings. So a text cannot
//! be valid for one of them and invalid for another.
//!
//! The lexer does not check for duplicate keys. Some callers reject them, others use the last.

mod nesting;
mod scan;
mod token;

use super::{MAX_DEPTH, MAX_EVENT_DEPTH};
use nesting::Nesting;
pub use scan::{comment_end, is_word, starts_comment};
pub(super) use scan::{plain_run, skip_space};
pub use token::{LexError, LexErrorKind, Token, TokenKind};

/// Tokenizer of one text.
///
/// ```
/// use checkrein_core::json::{Lexer, TokenKind};
///
/// let text = r#"{"a": [1, "x"]}"#;
/// let mut lexer = Lexer::new(text);
/// let mut strings = Vec::new();
/// while let Some(token) = lexer.next_token()? {
///     if let TokenKind::String { .. } = token.kind {
///         strings.push(&text[token.start..token.end]);
///     }
/// }
/// assert_eq!(strings, [r#""x""#]);
/// # Ok::<(), checkrein_core::json::LexError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    offset: usize,
    expected: Expected,
    nesting: Nesting,
    max_depth: usize,
    /// `true` if comments and trailing commas are allowed.
    extended: bool,
}

/// State of the grammar between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// First key or value of an object or array, or its closing bracket.
    First,
    /// Comma or closing bracket. Outside of all brackets: the end of the text.
    Separator,
}

impl<'a> Lexer<'a> {
    /// Creates a tokenizer for JSON as RFC 8259 defines it, nested at most [`MAX_DEPTH`] deep.
    pub fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            offset: 0,
            expected: Expected::Value,
            nesting: Nesting::default(),
            max_depth: MAX_DEPTH,
            extended: false,
        }
    }

    /// Creates a tokenizer for text that is known to be valid.
    pub(super) fn for_valid(text: &'a str) -> Self {
        Self::new(text).with_max_depth(MAX_EVENT_DEPTH)
    }

    /// Allows comments and trailing commas (JSONC).
    #[must_use]
    pub fn with_extensions(mut self) -> Self {
        self.extended = true;
        self
    }

    /// Limits the depth of nesting, to at most [`MAX_EVENT_DEPTH`].
    #[must_use]
    pub(super) fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth.min(MAX_EVENT_DEPTH);
        self
    }

    /// Starts at this offset instead of the start of the text.
    #[must_use]
    pub fn starting_at(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Returns the next token. `None` after the last one.
    ///
    /// # Errors
    /// The first syntax error. The lexer must not be used after it.
    pub fn next_token(&mut self) -> Result<Option<Token>, LexError> {
        self.step()
    }

    /// As [`next_token`](Self::next_token), inlined: the validator takes a fifth less time with it.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Result<Option<Token>, LexError> {
        self.skip_space()?;
        let mut is_key = false;
        if self.expected != Expected::Value {
            if self.nesting.depth == 0 {
                return if self.offset >= self.bytes.len() {
                    Ok(None)
                } else {
                    Err(self.error(LexErrorKind::TrailingText))
                };
            }
            is_key = self.nesting.in_object;
            let close = if is_key { b'}' } else { b']' };
            if self.expected == Expected::Separator && self.peek() != Some(close) {
                self.comma(close)?;
            }
            if self.peek() == Some(close) {
                return Ok(Some(self.close()));
            }
        }
        if is_key { self.key() } else { self.value() }
    }

    /// Returns the next value as a whole: a scalar, or an array or object up to its closing bracket. The kind is that of
    /// its first token. `None` at the end of the text, and before a key or a closing bracket.
    ///
    /// # Errors
    /// As [`next_token`](Self::next_token).
    pub fn next_value(&mut self) -> Result<Option<Token>, LexError> {
        let depth = self.nesting.depth;
        let Some(first) = self.next_token()? else { return Ok(None) };
        if let TokenKind::Key { .. } | TokenKind::ObjectEnd | TokenKind::ArrayEnd = first.kind {
            return Ok(None);
        }
        let mut end = first.end;
        while self.nesting.depth > depth {
            match self.next_token()? {
                Some(token) => end = token.end,
                None => break,
            }
        }
        Ok(Some(Token { end, ..first }))
    }

    /// Returns the number of open arrays and objects.
    pub fn depth(&self) -> usize {
        self.nesting.depth
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.offset).copied()
    }

    /// Skips a comma.
    #[inline(always)]
    fn comma(&mut self, close: u8) -> Result<(), LexError> {
        if self.peek() != Some(b',') {
            let is_object = close == b'}';
            let kind =
                if is_object { LexErrorKind::ExpectedCommaOrBrace } else { LexErrorKind::ExpectedCommaOrBracket };
            return Err(self.error(kind));
        }
        self.offset += 1;
        self.skip_space()?;
        if self.peek() == Some(close) && !self.extended {
            return Err(self.error(LexErrorKind::TrailingComma));
        }
        Ok(())
    }

    #[inline(always)]
    fn value(&mut self) -> Result<Option<Token>, LexError> {
        let start = self.offset;
        self.expected = Expected::Separator;
        let kind = match self.peek() {
            Some(b'"') => TokenKind::String { escaped: self.string()? },
            Some(b'{') => {
                self.open(true)?;
                TokenKind::ObjectStart
            }
            Some(b'[') => {
                self.open(false)?;
                TokenKind::ArrayStart
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                TokenKind::Number
            }
            _ => self.word()?,
        };
        Ok(Some(Token { kind, start, end: self.offset }))
    }

    fn open(&mut self, is_object: bool) -> Result<(), LexError> {
        if self.nesting.depth == self.max_depth {
            return Err(self.error(LexErrorKind::TooDeep));
        }
        self.nesting.push(is_object);
        self.expected = Expected::First;
        self.offset += 1;
        Ok(())
    }

    fn close(&mut self) -> Token {
        let kind = if self.nesting.in_object { TokenKind::ObjectEnd } else { TokenKind::ArrayEnd };
        self.nesting.pop();
        self.expected = Expected::Separator;
        self.offset += 1;
        Token { kind, start: self.offset - 1, end: self.offset }
    }

    /// Reads a key and its colon.
    #[inline(always)]
    fn key(&mut self) -> Result<Option<Token>, LexError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(LexErrorKind::ExpectedKey));
        }
        let start = self.offset;
        let escaped = self.string()?;
        let end = self.offset;
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return Err(self.error(LexErrorKind::ExpectedColon));
        }
        self.offset += 1;
        self.expected = Expected::Value;
        Ok(Some(Token { kind: TokenKind::Key { escaped }, start, end }))
    }

    /// Skips a string and returns whether it contains escape sequences.
    #[inline]
    fn string(&mut self) -> Result<bool, LexError> {
        let mut escaped = false;
        self.offset += 1;
        loop {
            self.offset = plain_run(self.bytes, self.offset);
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                None => return Err(self.error(LexErrorKind::UnclosedString)),
                Some(byte) => return Err(self.error(LexErrorKind::ControlCharacter(byte))),
            }
        }
    }

    fn escape(&mut self) -> Result<(), LexError> {
        let rest = self.bytes.get(self.offset + 1..).unwrap_or_default();
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(self.error(LexErrorKind::BadEscape)),
        };
        self.offset += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), LexError> {
        let start = self.offset;
        if self.peek() == Some(b'-') {
            self.offset += 1;
        }
        let whole = if self.peek() == Some(b'0') {
            self.offset += 1;
            true
        } else {
            self.digits()
        };
        let mut is_number = whole;
        if self.peek() == Some(b'.') {
            self.offset += 1;
            is_number &= self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.offset += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.offset += 1;
            }
            is_number &= self.digits();
        }
        if !is_number || self.peek().is_some_and(is_word) {
            return Err(LexError { kind: LexErrorKind::BadNumber, offset: start });
        }
        Ok(())
    }

    /// Skips digits and returns whether there was one.
    fn digits(&mut self) -> bool {
        let start = self.offset;
        while let Some(b'0'..=b'9') = self.peek() {
            self.offset += 1;
        }
        self.offset > start
    }

    fn word(&mut self) -> Result<TokenKind, LexError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let (kind, length) = match rest {
            [b't', b'r', b'u', b'e', ..] => (TokenKind::True, 4),
            [b'f', b'a', b'l', b's', b'e', ..] => (TokenKind::False, 5),
            [b'n', b'u', b'l', b'l', ..] => (TokenKind::Null, 4),
            _ => return Err(self.error(LexErrorKind::ExpectedValue)),
        };
        if rest.get(length).copied().is_some_and(is_word) {
            return Err(self.error(LexErrorKind::ExpectedValue));
        }
        self.offset += length;
        Ok(kind)
    }

    #[inline(always)]
    fn skip_space(&mut self) -> Result<(), LexError> {
        self.offset = skip_space(self.bytes, self.offset);
        if self.extended && self.peek() == Some(b'/') { self.skip_comments() } else { Ok(()) }
    }

    fn skip_comments(&mut self) -> Result<(), LexError> {
        while starts_comment(self.bytes, self.offset) {
            match comment_end(self.bytes, self.offset) {
                Some(end) => self.offset = skip_space(self.bytes, end),
                None => return Err(self.error(LexErrorKind::UnclosedComment)),
            }
        }
        Ok(())
    }

    #[cold]
    fn error(&self, kind: LexErrorKind) -> LexError {
        LexError { kind, offset: self.offset }
    }
}

#[cfg(test)]
mod tests;
