//! JSON, and JSON with comments.
//!
//! Agents' settings are read before every tool call, so this is one pass that borrows what it can, without recursion.
//! `jsonc-parser` 0.34 keeps the text of numbers and limits its depth, but recurses. Its values have no places and lose
//! duplicate keys; its syntax tree has both, but would be a second tree to build and walk.

mod string;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::error::{DocumentProblem, Fault};
use super::members::report_duplicates;
use super::node::{Member, Node, Span, Value};
use super::{MAX_DEPTH, Tree, too_deep, without_mark};

/// What is allowed beyond JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extras {
    None,
    CommentsAndCommas,
}

/// Values that were passed over are null.
pub(super) fn read<'a>(text: &'a str, extras: Extras, passed: &[Span]) -> Result<Tree<'a>, Fault> {
    let at = without_mark(text).1;
    let mut reader =
        Reader { text, bytes: text.as_bytes(), at, extras, passed, open: Vec::new(), problems: Vec::new() };
    let root = reader.run()?;
    Ok((root, reader.problems))
}

/// An array or object that has not ended yet.
enum Open<'a> {
    Array { start: usize, items: Vec<Node<'a>> },
    Object { start: usize, members: Vec<Member<'a>>, key: Key<'a> },
}

/// The key whose value comes next.
type Key<'a> = (Cow<'a, str>, Span);

struct Reader<'a, 'p> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    extras: Extras,
    /// Those that are still ahead.
    passed: &'p [Span],
    open: Vec<Open<'a>>,
    problems: Vec<DocumentProblem>,
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self) -> Result<Node<'a>, Fault> {
        'value: loop {
            self.skip_space()?;
            let start = self.at;
            let value = match self.peek() {
                _ if self.pass_over() => Value::Null,
                Some(b'{') => {
                    self.enter()?;
                    if self.peek() != Some(b'}') {
                        let key = self.key()?;
                        self.open.push(Open::Object { start, members: Vec::new(), key });
                        continue 'value;
                    }
                    self.at += 1;
                    Value::Object(Vec::new())
                }
                Some(b'[') => {
                    self.enter()?;
                    if self.peek() != Some(b']') {
                        self.open.push(Open::Array { start, items: Vec::new() });
                        continue 'value;
                    }
                    self.at += 1;
                    Value::Array(Vec::new())
                }
                Some(b'"') => Value::String(self.string()?),
                Some(b'-' | b'0'..=b'9') => Value::Number(Cow::Borrowed(self.number()?)),
                _ => self.word()?,
            };
            let mut node = Node { span: Span::new(start, self.at), value };
            // A value has ended: put it where it belongs, then close what it completes or go on to its neighbour.
            loop {
                self.skip_space()?;
                let (close, expected) = match self.open.last_mut() {
                    None => return self.end(node),
                    Some(Open::Array { items, .. }) => {
                        items.push(node);
                        (b']', "`,` or `]`")
                    }
                    Some(Open::Object { members, key, .. }) => {
                        let (key, key_span) = std::mem::take(key);
                        members.push(Member { key, key_span, value: node });
                        (b'}', "`,` or `}`")
                    }
                };
                if self.peek() == Some(b',') && !self.comma_is_last(close)? {
                    self.next_key()?;
                    continue 'value;
                }
                if self.peek() != Some(close) {
                    return Err(self.unexpected(expected));
                }
                self.at += 1;
                node = self.leave();
            }
        }
    }

    fn pass_over(&mut self) -> bool {
        match self.passed {
            [next, rest @ ..] if next.start as usize == self.at => {
                self.at = next.end as usize;
                self.passed = rest;
                true
            }
            _ => false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn enter(&mut self) -> Result<(), Fault> {
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep(Span::new(self.at, self.at + 1), MAX_DEPTH));
        }
        self.at += 1;
        self.skip_space()
    }

    /// The innermost array or object, whose bracket has just been passed.
    fn leave(&mut self) -> Node<'a> {
        let (start, value) = match self.open.pop() {
            Some(Open::Array { start, items }) => (start, Value::Array(items)),
            Some(Open::Object { start, mut members, .. }) => {
                report_duplicates(&mut members, &mut self.problems);
                (start, Value::Object(members))
            }
            None => (self.at, Value::Null),
        };
        Node { span: Span::new(start, self.at), value }
    }

    fn end(&self, root: Node<'a>) -> Result<Node<'a>, Fault> {
        match self.peek() {
            None => Ok(root),
            Some(_) => Err(Fault::new(self.token(), "text after the end of the value")),
        }
    }

    /// Passes a comma and tells whether a closing bracket is next.
    fn comma_is_last(&mut self, close: u8) -> Result<bool, Fault> {
        let comma = self.at;
        self.at += 1;
        self.skip_space()?;
        if self.peek() != Some(close) {
            return Ok(false);
        }
        if self.extras == Extras::None {
            let message = format!("a comma before `{}`, which JSON does not allow", char::from(close));
            return Err(Fault::new(Span::new(comma, comma + 1), message));
        }
        Ok(true)
    }

    /// Behind a comma: the key of the next member, if this is in an object.
    fn next_key(&mut self) -> Result<(), Fault> {
        if let Some(Open::Object { .. }) = self.open.last() {
            let next = self.key()?;
            if let Some(Open::Object { key, .. }) = self.open.last_mut() {
                *key = next;
            }
        }
        Ok(())
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Key<'a>, Fault> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        let span = Span::new(start, self.at);
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok((key, span))
    }

    fn word(&mut self) -> Result<Value<'a>, Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (length, value) = match rest {
            [b't', b'r', b'u', b'e', ..] => (4, Value::Bool(true)),
            [b'f', b'a', b'l', b's', b'e', ..] => (5, Value::Bool(false)),
            [b'n', b'u', b'l', b'l', ..] => (4, Value::Null),
            _ => return Err(self.unexpected("a value")),
        };
        if rest.get(length).copied().is_some_and(continues_token) {
            return Err(self.unexpected("a value"));
        }
        self.at += length;
        Ok(value)
    }

    fn number(&mut self) -> Result<&'a str, Fault> {
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
        let fraction = self.peek() != Some(b'.') || {
            self.at += 1;
            self.digits()
        };
        let exponent = !matches!(self.peek(), Some(b'e' | b'E')) || {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()
        };
        let ends = !self.peek().is_some_and(continues_token);
        if whole && fraction && exponent && ends {
            return Ok(self.text.get(start..self.at).unwrap_or_default());
        }
        self.at = start;
        let span = self.token();
        Err(Fault::new(span, format!("invalid number `{}`", shown(span.of(self.text)))))
    }

    /// Skips digits; tells whether there was one.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > start
    }

    /// White space, and comments where they are allowed.
    fn skip_space(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), Fault> {
        let opening = Span::new(self.at, self.at + 2);
        if self.extras == Extras::None {
            return Err(Fault::new(opening, "a comment, which JSON does not allow"));
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += if let [_, b'*', inner @ ..] = rest {
            match inner.windows(2).position(|pair| pair == b"*/") {
                Some(end) => end + 4,
                None => return Err(Fault::new(opening, "a comment without its `*/`")),
            }
        } else {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        };
        Ok(())
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Fault {
        let span = self.token();
        let message = match span.of(self.text) {
            "" => format!("expected {expected}, found the end of the text"),
            found => format!("expected {expected}, found `{}`", shown(found)),
        };
        Fault::new(span, message)
    }

    /// What stands here, for errors: a word or number, or one character.
    fn token(&self) -> Span {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let word = rest.iter().take_while(|&&byte| continues_token(byte)).count();
        let first = || self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(self.at, self.at + if word > 0 { word } else { first() })
    }
}

fn continues_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'-' | b'.')
}

/// A piece of the text as errors show it: what cannot be seen is escaped.
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
