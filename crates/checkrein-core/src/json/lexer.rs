//! The JSON tokenizer: one pass over a text, without recursion and without building anything.
//!
//! Every reader of JSON in the workspace uses it: the validator behind [`RawJson`](super::RawJson) with its entries and
//! items, the prefilter and the tree of config files, the search for strings, and the editor of settings. So a text cannot
//! be valid for one of them and invalid for another.
//!
//! Duplicate keys are left to the caller: some refuse them, others take the last.

use super::{MAX_DEPTH, MAX_EVENT_DEPTH};

/// The smallest part of a JSON text that has a meaning of its own. Commas and colons are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind of token.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset of the byte after its last one.
    pub end: usize,
}

/// The kinds of tokens.
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
    /// The key of a member, with its quotes.
    Key {
        /// `true` if it contains escape sequences.
        escaped: bool,
    },
    /// A string value, with its quotes.
    String {
        /// `true` if it contains escape sequences.
        escaped: bool,
    },
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// A syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LexError {
    /// The kind of error.
    pub kind: LexErrorKind,
    /// The offset where it was found.
    pub offset: usize,
}

/// The kinds of syntax errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexErrorKind {
    /// The text has something else, or ends, where a value is expected.
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
    /// A closing bracket after a comma, in a text without extensions. White space may be between them.
    TrailingComma,
    /// A string that does not end.
    UnclosedString,
    /// A control character in a string.
    ControlCharacter(u8),
    /// A backslash that starts no escape sequence.
    BadEscape,
    /// Text that starts as a number and is none.
    BadNumber,
    /// A `/*` comment that does not end. The offset is that of its start.
    UnclosedComment,
    /// Arrays and objects nested deeper than allowed.
    TooDeep,
}

impl LexErrorKind {
    /// The expected token, as text. `None` if the error is about something else.
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

/// The tokenizer of one text.
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
    at: usize,
    expected: Expected,
    nesting: Nesting,
    max_depth: usize,
    /// `true` if comments and trailing commas are allowed.
    extended: bool,
}

/// The grammar's state between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// The first key or value of an object or array, or its closing bracket.
    First,
    /// A comma or a closing bracket; the end of the text outside of all brackets.
    Separator,
}

impl<'a> Lexer<'a> {
    /// A tokenizer for JSON as RFC 8259 defines it, nested at most [`MAX_DEPTH`] deep.
    pub fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            expected: Expected::Value,
            nesting: Nesting::default(),
            max_depth: MAX_DEPTH,
            extended: false,
        }
    }

    /// A tokenizer for text that is known to be valid.
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
        self.at = offset;
        self
    }

    /// The next token. `None` after the last one.
    ///
    /// # Errors
    /// The first syntax error. The lexer is of no use after it.
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
                return if self.at >= self.bytes.len() {
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

    /// The next value as a whole: a scalar, or an array or object up to its closing bracket. The kind is that of its first
    /// token. `None` at the end of the text, and before a key or a closing bracket.
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

    /// The number of arrays and objects that are open.
    pub fn depth(&self) -> usize {
        self.nesting.depth
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
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
        self.at += 1;
        self.skip_space()?;
        if self.peek() == Some(close) && !self.extended {
            return Err(self.error(LexErrorKind::TrailingComma));
        }
        Ok(())
    }

    #[inline(always)]
    fn value(&mut self) -> Result<Option<Token>, LexError> {
        let start = self.at;
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
        Ok(Some(Token { kind, start, end: self.at }))
    }

    fn open(&mut self, is_object: bool) -> Result<(), LexError> {
        if self.nesting.depth == self.max_depth {
            return Err(self.error(LexErrorKind::TooDeep));
        }
        self.nesting.push(is_object);
        self.expected = Expected::First;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Token {
        let kind = if self.nesting.in_object { TokenKind::ObjectEnd } else { TokenKind::ArrayEnd };
        self.nesting.pop();
        self.expected = Expected::Separator;
        self.at += 1;
        Token { kind, start: self.at - 1, end: self.at }
    }

    /// A key and its colon.
    #[inline(always)]
    fn key(&mut self) -> Result<Option<Token>, LexError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(LexErrorKind::ExpectedKey));
        }
        let start = self.at;
        let escaped = self.string()?;
        let end = self.at;
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return Err(self.error(LexErrorKind::ExpectedColon));
        }
        self.at += 1;
        self.expected = Expected::Value;
        Ok(Some(Token { kind: TokenKind::Key { escaped }, start, end }))
    }

    /// Skips a string and returns whether it contains escape sequences.
    #[inline]
    fn string(&mut self) -> Result<bool, LexError> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at = plain_run(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
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
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(self.error(LexErrorKind::BadEscape)),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), LexError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = if self.peek() == Some(b'0') {
            self.at += 1;
            true
        } else {
            self.digits()
        };
        let mut is_number = whole;
        if self.peek() == Some(b'.') {
            self.at += 1;
            is_number &= self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
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
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at > start
    }

    fn word(&mut self) -> Result<TokenKind, LexError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (kind, length) = match rest {
            [b't', b'r', b'u', b'e', ..] => (TokenKind::True, 4),
            [b'f', b'a', b'l', b's', b'e', ..] => (TokenKind::False, 5),
            [b'n', b'u', b'l', b'l', ..] => (TokenKind::Null, 4),
            _ => return Err(self.error(LexErrorKind::ExpectedValue)),
        };
        if rest.get(length).copied().is_some_and(is_word) {
            return Err(self.error(LexErrorKind::ExpectedValue));
        }
        self.at += length;
        Ok(kind)
    }

    #[inline(always)]
    fn skip_space(&mut self) -> Result<(), LexError> {
        self.at = skip_space(self.bytes, self.at);
        if self.extended && self.peek() == Some(b'/') { self.skip_comments() } else { Ok(()) }
    }

    fn skip_comments(&mut self) -> Result<(), LexError> {
        while starts_comment(self.bytes, self.at) {
            match comment_end(self.bytes, self.at) {
                Some(end) => self.at = skip_space(self.bytes, end),
                None => return Err(self.error(LexErrorKind::UnclosedComment)),
            }
        }
        Ok(())
    }

    #[cold]
    fn error(&self, kind: LexErrorKind) -> LexError {
        LexError { kind, offset: self.at }
    }
}

/// The open arrays and objects, as one bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Nesting {
    depth: usize,
    /// `true` if the innermost is an object.
    in_object: bool,
    /// For each level outside of the innermost: `true` if it is an object.
    outer: [u64; Nesting::WORDS],
}

impl Nesting {
    const WORDS: usize = MAX_EVENT_DEPTH.div_ceil(64);

    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if let Some(word) = self.outer.get_mut(word) {
            *word = *word & !(1 << bit) | u64::from(self.in_object) << bit;
        }
        self.in_object = is_object;
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.in_object = self.outer.get(word).is_some_and(|word| word >> bit & 1 == 1);
    }
}

/// `true` for bytes that numbers and words consist of, and for those that people write in their place.
pub fn is_word(byte: u8) -> bool {
    // By far the most frequent first.
    if let b',' | b']' | b'}' | b'\n' | b'\r' | b' ' = byte {
        return false;
    }
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'-' | b'.')
}

/// `true` if a comment starts at an offset.
pub fn starts_comment(text: &[u8], offset: usize) -> bool {
    matches!(text.get(offset..), Some([b'/', b'/' | b'*', ..]))
}

/// The end of the comment that starts at an offset. `None` if it has none. A line comment ends before its line feed.
pub fn comment_end(text: &[u8], offset: usize) -> Option<usize> {
    let inside = text.get(offset + 2..)?;
    if text.get(offset + 1) == Some(&b'*') {
        let length = inside.windows(2).position(|pair| pair == b"*/")?;
        return Some(offset + 2 + length + 2);
    }
    let length = inside.iter().position(|byte| *byte == b'\n').unwrap_or(inside.len());
    Some(offset + 2 + length)
}

#[inline]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The end of the run of string bytes that need no look: up to a quote, a backslash or a control character.
///
/// Large payloads are mostly one long string, so this looks at eight bytes at a time.
#[inline]
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
    // Most strings are short.
    let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { return long_run(bytes, at) };
    match special_bytes(u64::from_le_bytes(*chunk)) {
        0 => long_run(bytes, at + 8),
        found => at + (found.trailing_zeros() / 8) as usize,
    }
}

/// The highest bit of each byte that is a quote, a backslash or a control character. May also be set in bytes above a true hit,
/// which is fine: the lowest is the first of the text.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let has_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    let has_byte = |word: u64, byte: u8| has_below(word ^ (ONES * u64::from(byte)), 1);
    has_below(word, 0x20) | has_byte(word, b'"') | has_byte(word, b'\\')
}

#[inline(never)]
fn long_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let found = special_bytes(word);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens as text, a letter for the kind in front of each.
    fn tokens(text: &str, mut lexer: Lexer<'_>) -> Result<Vec<String>, LexError> {
        let mut found = Vec::new();
        while let Some(token) = lexer.next_token()? {
            let letter = match token.kind {
                TokenKind::Key { escaped: true } => "k\\",
                TokenKind::Key { .. } => "k",
                TokenKind::String { escaped: true } => "s\\",
                TokenKind::String { .. } => "s",
                TokenKind::Number => "n",
                TokenKind::True | TokenKind::False | TokenKind::Null => "w",
                TokenKind::ObjectStart | TokenKind::ObjectEnd | TokenKind::ArrayStart | TokenKind::ArrayEnd => "",
            };
            found.push(format!("{letter}{}", &text[token.start..token.end]));
        }
        assert_eq!(lexer.depth(), 0);
        assert_eq!(lexer.next_token(), Ok(None));
        Ok(found)
    }

    #[test]
    fn tokens_have_their_spans() {
        let text = " {\"a\" : [1, -2.5e+3,{ }, []] , \"\\u0062\":\"x\\n\", \"c\":{\"d\":true}, \"e\":[null,false]}\n";
        let expected = [
            "{",
            "k\"a\"",
            "[",
            "n1",
            "n-2.5e+3",
            "{",
            "}",
            "[",
            "]",
            "]",
            "k\\\"\\u0062\"",
            "s\\\"x\\n\"",
            "k\"c\"",
            "{",
            "k\"d\"",
            "wtrue",
            "}",
            "k\"e\"",
            "[",
            "wnull",
            "wfalse",
            "]",
            "}",
        ];
        assert_eq!(tokens(text, Lexer::new(text)).unwrap(), expected);
        assert_eq!(tokens(text, Lexer::new(text).with_extensions()).unwrap(), expected);
        assert_eq!(tokens("\u{feff}1", Lexer::new("\u{feff}1").starting_at(3)).unwrap(), ["n1"]);
    }

    #[test]
    fn extensions_are_comments_and_trailing_commas() {
        let text = "// a\n{/**/\"x\"/* * / */:/***/[1,]/* ,*/,}// c";
        assert_eq!(tokens(text, Lexer::new(text).with_extensions()).unwrap(), ["{", "k\"x\"", "[", "n1", "]", "}"]);
        for (text, kind, offset) in [
            ("// a\n1", LexErrorKind::ExpectedValue, 0),
            ("[1, ]", LexErrorKind::TrailingComma, 4),
            ("{\"a\":1 /**/}", LexErrorKind::ExpectedCommaOrBrace, 7),
        ] {
            assert_eq!(tokens(text, Lexer::new(text)), Err(LexError { kind, offset }), "{text}");
            assert!(tokens(text, Lexer::new(text).with_extensions()).is_ok(), "{text}");
        }
        for (text, kind, offset) in [
            ("[1, /* x", LexErrorKind::UnclosedComment, 4),
            ("/*/", LexErrorKind::UnclosedComment, 0),
            ("[,]", LexErrorKind::ExpectedValue, 1),
            ("1 / 2", LexErrorKind::TrailingText, 2),
        ] {
            assert_eq!(tokens(text, Lexer::new(text).with_extensions()), Err(LexError { kind, offset }), "{text}");
        }
    }

    #[test]
    fn values_are_skipped_as_a_whole() {
        let text = r#"[{"a": [1, {}]}, "]", 2]"#;
        let mut lexer = Lexer::new(text);
        lexer.next_token().unwrap();
        let mut values = Vec::new();
        while let Some(value) = lexer.next_value().unwrap() {
            values.push((value.kind, &text[value.start..value.end]));
        }
        assert_eq!(
            values,
            [
                (TokenKind::ObjectStart, r#"{"a": [1, {}]}"#),
                (TokenKind::String { escaped: false }, r#""]""#),
                (TokenKind::Number, "2"),
            ]
        );
    }

    #[test]
    fn deep_texts_remember_what_is_open() {
        let text = "[{\"a\":".repeat(MAX_DEPTH / 2) + "1" + &"}]".repeat(MAX_DEPTH / 2);
        assert_eq!(tokens(&text, Lexer::new(&text)).unwrap().len(), MAX_DEPTH * 5 / 2 + 1);
        let wrong = text.replacen("}]}]", "}]]}", 1);
        assert!(tokens(&wrong, Lexer::new(&wrong)).is_err());
    }

    proptest! {
        #[test]
        fn plain_runs_end_where_a_look_at_each_byte_ends(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x18_u8..0x24, Just(b'\\'), Just(0x80), Just(b'a')], 0..40),
            at in 0_usize..40,
        ) {
            let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
            let run = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| !special(byte)).count();
            prop_assert_eq!(plain_run(&bytes, at), at + run);
        }

        #[test]
        fn extensions_accept_more_and_never_less(text in "[\\[\\]{}:,\"\\\\ntrue0-9eE+. /*\n]{0,24}") {
            if let Ok(found) = tokens(&text, Lexer::new(&text)) {
                prop_assert_eq!(tokens(&text, Lexer::new(&text).with_extensions()), Ok(found));
            }
        }
    }
}
