//! JSON, and JSON with comments, as trees.
//!
//! The tokens come from the tokenizer of `checkrein-core`. This module adds the rules for files that users edit: it uses
//! the last of duplicate keys and reports the others, rejects half of a surrogate pair, and has error messages for users.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use checkrein_core::json::{
    LexError, LexErrorKind, Lexer, Piece, Token, TokenKind, is_word, pieces, starts_comment, unquoted,
};

use super::error::ParseError;
use super::members::report_duplicates;
use super::node::{Member, Node, Span, Value};
use super::{MAX_DEPTH, Tree, too_deep, without_mark};

/// The syntax beyond JSON that is allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extensions {
    None,
    CommentsAndCommas,
}

/// An array or object that has not ended yet.
struct Open<'a> {
    start: usize,
    value: Value<'a>,
    /// The key of the next value.
    key: (Cow<'a, str>, Span),
}

pub(super) fn read(text: &str, extensions: Extensions) -> Result<Tree<'_>, ParseError> {
    let mut lexer = Lexer::new(text).starting_at(without_mark(text).1);
    if extensions == Extensions::CommentsAndCommas {
        lexer = lexer.with_extensions();
    }
    let mut root = None;
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut problems = Vec::new();
    while let Some(token) = lexer.next_token().map_err(|error| parse_error(text, extensions, error))? {
        let mut start = token.start;
        let value = match token.kind {
            TokenKind::ObjectStart => {
                open.push(Open { start, value: Value::Object(Vec::new()), key: Default::default() });
                continue;
            }
            TokenKind::ArrayStart => {
                open.push(Open { start, value: Value::Array(Vec::new()), key: Default::default() });
                continue;
            }
            TokenKind::Key { escaped } => {
                let key = string(text, token, escaped)?;
                if let Some(object) = open.last_mut() {
                    object.key = (key, Span::new(token.start, token.end));
                }
                continue;
            }
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                let Some(mut ended) = open.pop() else { continue };
                if let Value::Object(members) = &mut ended.value {
                    report_duplicates(members, &mut problems);
                }
                start = ended.start;
                ended.value
            }
            TokenKind::String { escaped } => Value::String(string(text, token, escaped)?),
            TokenKind::Number => Value::Number(Cow::Borrowed(source(text, token))),
            TokenKind::True => Value::Bool(true),
            TokenKind::False => Value::Bool(false),
            TokenKind::Null => Value::Null,
        };
        let node = Node { span: Span::new(start, token.end), value };
        match open.last_mut() {
            None => root = Some(node),
            Some(Open { value: Value::Object(members), key, .. }) => {
                let (key, key_span) = std::mem::take(key);
                members.push(Member { key, key_span, value: node });
            }
            Some(Open { value: Value::Array(items), .. }) => items.push(node),
            Some(_) => {}
        }
    }
    // The tokenizer ends without an error only after a value.
    let root = root.unwrap_or(Node { span: Span::default(), value: Value::Null });
    Ok((root, problems))
}

fn source(text: &str, token: Token) -> &str {
    text.get(token.start..token.end).unwrap_or_default()
}

/// A string, decoded. Borrowed if it has no escape sequences.
fn string(text: &str, token: Token, escaped: bool) -> Result<Cow<'_, str>, ParseError> {
    let inside = unquoted(source(text, token));
    if !escaped {
        return Ok(Cow::Borrowed(inside));
    }
    let mut decoded = String::with_capacity(inside.len());
    let mut at = token.start + 1;
    for (piece, length) in pieces(inside) {
        match piece {
            Piece::Plain(plain) => decoded.push_str(plain),
            Piece::Character(character) => decoded.push(character),
            Piece::LoneSurrogate(_) => {
                let span = Span::new(at, at + length);
                return Err(ParseError::new(
                    span,
                    format!("`{}` is half of a surrogate pair; write both halves", span.slice(text)),
                ));
            }
        }
        at += length;
    }
    Ok(Cow::Owned(decoded))
}

/// Converts an error of the tokenizer into one for the user.
#[cold]
fn parse_error(text: &str, extensions: Extensions, error: LexError) -> ParseError {
    let at = error.offset;
    let rest = text.get(at..).unwrap_or_default();
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let expected = error.kind.expected();
    let is_unexpected = expected.is_some() || error.kind == LexErrorKind::TrailingText;
    if is_unexpected && extensions == Extensions::None && starts_comment(rest.as_bytes(), 0) {
        return ParseError::new(Span::new(at, at + 2), "comments are not allowed; remove the comment");
    }
    match error.kind {
        LexErrorKind::ExpectedValue
        | LexErrorKind::ExpectedKey
        | LexErrorKind::ExpectedColon
        | LexErrorKind::ExpectedCommaOrBracket
        | LexErrorKind::ExpectedCommaOrBrace => {
            let (span, expected) = (word(text, at), expected.unwrap_or_default());
            let message = match span.slice(text) {
                "" => format!("expected {expected}, found the end of the file"),
                found => format!("expected {expected}, found `{}`", shown(found)),
            };
            ParseError::new(span, message)
        }
        LexErrorKind::TrailingText => ParseError::new(word(text, at), "unexpected text after the value; remove it"),
        LexErrorKind::TrailingComma => {
            let before = text.get(..at).unwrap_or_default().trim_ascii_end().len();
            let message =
                format!("trailing comma before `{}`; remove the comma", rest.get(..first).unwrap_or_default());
            ParseError::new(Span::new(before.saturating_sub(1), before), message)
        }
        LexErrorKind::UnclosedString => ParseError::new(Span::new(at, at), "unclosed string; add `\"`"),
        LexErrorKind::ControlCharacter(b'\n' | b'\r') => {
            ParseError::new(Span::new(at, at + 1), "unclosed string; add `\"`, or write `\\n` for a line break")
        }
        LexErrorKind::ControlCharacter(byte) => {
            let message = format!("unescaped control character in a string; write `\\u{byte:04x}`");
            ParseError::new(Span::new(at, at + 1), message)
        }
        LexErrorKind::BadEscape if rest.starts_with("\\u") => {
            ParseError::new(Span::new(at, at + 2), "expected four hexadecimal digits after `\\u`")
        }
        LexErrorKind::BadEscape => {
            let escape = rest.chars().nth(1).map(String::from).unwrap_or_default();
            let message = format!("invalid escape sequence `\\{}`; write `\\\\` for a backslash", shown(&escape));
            ParseError::new(Span::new(at, at + 1 + escape.len()), message)
        }
        LexErrorKind::BadNumber => {
            let span = word(text, at);
            ParseError::new(span, format!("invalid number `{}`", shown(span.slice(text))))
        }
        LexErrorKind::UnclosedComment => ParseError::new(Span::new(at, at + 2), "unclosed comment; add `*/`"),
        LexErrorKind::TooDeep => too_deep(Span::new(at, at + 1), MAX_DEPTH),
    }
}

/// The word or number that starts at an offset, or one character.
fn word(text: &str, at: usize) -> Span {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.bytes().take_while(|byte| is_word(*byte)).count();
    let first = rest.chars().next().map_or(0, char::len_utf8);
    Span::new(at, at + length.max(first))
}

/// A piece of the text for an error message. Invisible characters are escaped.
fn shown(text: &str) -> String {
    const SHOWN: usize = 24;
    let mut shown = String::new();
    for character in text.chars().take(SHOWN) {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
