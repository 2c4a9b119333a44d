//! One pass over JSON text, without recursion and without building anything.
//!
//! `serde_json` would check the grammar, but says nothing of duplicate keys, and reads numbers into floats
//! where it visits them. [`validate`] does both checks in one pass; [`skip_value`] then walks text that is known
//! to be valid.

use std::borrow::Cow;

use super::error::{JsonError, JsonErrorKind};
use super::text::{decode_exactly, inner};

/// Checks that `text` is exactly one JSON value, with white space around it at most.
pub(super) fn validate(text: &str, max_depth: usize) -> Result<(), JsonError> {
    // Numbers and the like need no memory.
    let room = if text.starts_with(['{', '[']) { 8 } else { 0 };
    let (open, keys) = (Vec::with_capacity(room), Vec::with_capacity(room));
    Validator { max_depth, text, bytes: text.as_bytes(), at: 0, open, keys }.run()
}

/// An array or object that has not ended yet.
#[derive(Clone, Copy)]
enum Open {
    Array,
    /// Its keys start here in the validator's list.
    Object {
        first_key: usize,
    },
}

struct Validator<'a> {
    max_depth: usize,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// Keys of all open objects, innermost last, each with its place.
    keys: Vec<(Cow<'a, [u8]>, usize)>,
}

impl Validator<'_> {
    fn run(mut self) -> Result<(), JsonError> {
        'value: loop {
            self.skip_space();
            match self.peek() {
                Some(b'{') => {
                    self.enter(Open::Object { first_key: self.keys.len() })?;
                    if self.peek() == Some(b'}') {
                        self.leave();
                    } else {
                        self.key()?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    self.enter(Open::Array)?;
                    if self.peek() == Some(b']') {
                        self.leave();
                    } else {
                        continue 'value;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                _ => return Err(self.unexpected("a value")),
            }
            // A value has ended: close what it completes, or go on to its neighbour.
            loop {
                self.skip_space();
                match (self.open.last().copied(), self.peek()) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return Err(self.error(JsonErrorKind::TrailingText, self.at)),
                    (Some(Open::Array), Some(b']')) => self.leave(),
                    (Some(Open::Object { first_key }), Some(b'}')) => {
                        self.check_keys(first_key)?;
                        self.leave();
                    }
                    (Some(Open::Array), Some(b',')) => {
                        self.at += 1;
                        continue 'value;
                    }
                    (Some(Open::Object { .. }), Some(b',')) => {
                        self.at += 1;
                        self.skip_space();
                        self.key()?;
                        continue 'value;
                    }
                    (Some(Open::Array), _) => return Err(self.unexpected("`,` or `]`")),
                    (Some(Open::Object { .. }), _) => return Err(self.unexpected("`,` or `}`")),
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn enter(&mut self, open: Open) -> Result<(), JsonError> {
        if self.open.len() == self.max_depth {
            return Err(self.error(JsonErrorKind::TooDeep, self.at));
        }
        self.open.push(open);
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn leave(&mut self) {
        if let Some(Open::Object { first_key }) = self.open.pop() {
            self.keys.truncate(first_key);
        }
        self.at += 1;
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let escaped = self.string()?;
        let quoted = &self.text[start..self.at];
        let key = if escaped { decode_exactly(quoted) } else { Cow::Borrowed(inner(quoted).as_bytes()) };
        self.keys.push((key, start));
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Of several duplicates the first is told.
    fn check_keys(&mut self, first_key: usize) -> Result<(), JsonError> {
        /// Among so many, comparing all pairs takes less time than sorting.
        const FEW: usize = 12;
        let keys = &mut self.keys[first_key..];
        let duplicate = if keys.len() <= FEW {
            (1..keys.len()).find(|&at| keys[..at].iter().any(|(key, _)| *key == keys[at].0)).map(|at| &keys[at])
        } else {
            keys.sort_unstable();
            let pairs = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0);
            pairs.map(|pair| &pair[1]).min_by_key(|(_, at)| *at)
        };
        match duplicate.map(|(key, at)| (shortened(key), *at)) {
            None => Ok(()),
            Some((key, at)) => Err(self.error(JsonErrorKind::DuplicateKey { key }, at)),
        }
    }

    /// Tells whether there are escapes in it.
    fn string(&mut self) -> Result<bool, JsonError> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at = plain_run(self.bytes, self.at);
            match self.peek() {
                None => return Err(self.unexpected("the end of a string")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                Some(byte) => {
                    return Err(self.error(JsonErrorKind::ControlCharacter { byte }, self.at));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let length = match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u')
                if self
                    .bytes
                    .get(self.at + 2..self.at + 6)
                    .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) =>
            {
                6
            }
            _ => return Err(self.error(JsonErrorKind::BadEscape, self.at)),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = match self.peek() {
            Some(b'0') => {
                self.at += 1;
                true
            }
            _ => self.digits(),
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
        let ends = !matches!(self.peek(), Some(b'0'..=b'9'));
        if whole && fraction && exponent && ends { Ok(()) } else { Err(self.error(JsonErrorKind::BadNumber, start)) }
    }

    /// Skips digits; tells whether there was one.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > start
    }

    fn word(&mut self, word: &'static str) -> Result<(), JsonError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.unexpected("a value"))
        }
    }

    fn unexpected(&self, expected: &'static str) -> JsonError {
        let kind = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => JsonErrorKind::UnexpectedEnd { expected },
            Some(found) => JsonErrorKind::Unexpected { expected, found: format!("{found:?}") },
        };
        self.error(kind, self.at)
    }

    fn error(&self, kind: JsonErrorKind, at: usize) -> JsonError {
        JsonError::new(kind, self.bytes, at)
    }
}

/// A key as errors show it.
fn shortened(key: &[u8]) -> String {
    const SHOWN: usize = 80;
    let key = String::from_utf8_lossy(key);
    match key.char_indices().nth(SHOWN) {
        None => key.into_owned(),
        Some((at, _)) => format!("{}…", &key[..at]),
    }
}

pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the run of string bytes that need no look: up to a quote, a backslash or a control character.
///
/// Large payloads are mostly one long string, so this looks at eight bytes at a time.
pub(super) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The highest bit of each byte of `word` that is below `limit` (at most 0x80). May also be set in bytes above a true
    // hit, which is fine: the lowest is the first of the text.
    let has_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    let has_byte = |word: u64, byte: u8| has_below(word ^ (ONES * u64::from(byte)), 1);
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let found = has_below(word, 0x20) | has_byte(word, b'"') | has_byte(word, b'\\');
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

/// The end of the value that starts at `at`. The text must be valid JSON from there on.
pub(super) fn skip_value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => skip_string(bytes, at).0,
        Some(b'{' | b'[') => {
            let mut depth = 0_usize;
            let mut at = at;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at = skip_string(bytes, at).0;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            at
        }
        _ => bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
            .map_or(bytes.len(), |length| at + length),
    }
}

/// The end of the string that starts at `at`, behind its closing quote, and whether there are escapes in it.
pub(super) fn skip_string(bytes: &[u8], at: usize) -> (usize, bool) {
    let (mut at, mut escaped) = (at + 1, false);
    loop {
        at = plain_run(bytes, at);
        match bytes.get(at) {
            Some(b'\\') => {
                escaped = true;
                at += 2;
            }
            Some(b'"') | None => return ((at + 1).min(bytes.len()), escaped),
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    }
}
