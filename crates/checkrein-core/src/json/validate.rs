//! Validation of a JSON text: well-formed, not too deep, without duplicate keys.
//!
//! Every [`RawJson`](super::RawJson) from foreign text passes through it.

use std::borrow::Cow;

use super::error::{JsonError, JsonErrorKind};
use super::lexer::{Lexer, TokenKind};
use super::text::{decode_exactly, unquoted};

/// Checks that `text` is exactly one JSON value, with white space around it at most.
pub(super) fn validate(text: &str, max_depth: usize) -> Result<(), JsonError> {
    let mut lexer = Lexer::new(text).with_max_depth(max_depth);
    // Keys of all open objects, innermost last, each with its offset.
    let room = if text.starts_with(['{', '[']) { 8 } else { 0 };
    let mut keys: Vec<(Cow<'_, [u8]>, usize)> = Vec::with_capacity(room);
    // For each open object: the index of its first key.
    let mut objects: Vec<usize> = Vec::with_capacity(room);
    loop {
        let token = match lexer.step() {
            Ok(Some(token)) => token,
            Ok(None) => return Ok(()),
            Err(error) => return Err(JsonError::from_lexer(error, text)),
        };
        match token.kind {
            TokenKind::ObjectStart => objects.push(keys.len()),
            TokenKind::Key { escaped } => {
                let quoted = &text[token.start..token.end];
                let key = if escaped { decode_exactly(quoted) } else { Cow::Borrowed(unquoted(quoted).as_bytes()) };
                keys.push((key, token.start));
            }
            TokenKind::ObjectEnd => {
                let first = objects.pop().unwrap_or_default();
                if let Some((key, offset)) = first_duplicate(&mut keys[first..]) {
                    let key = shortened(key);
                    return Err(JsonError::new(JsonErrorKind::DuplicateKey { key }, text.as_bytes(), offset));
                }
                keys.truncate(first);
            }
            _ => {}
        }
    }
}

/// Returns the first duplicate key and its offset.
fn first_duplicate<'k>(keys: &'k mut [(Cow<'_, [u8]>, usize)]) -> Option<(&'k [u8], usize)> {
    /// Up to this number, comparing all pairs takes less time than sorting.
    const FEW: usize = 12;
    let duplicate = if keys.len() <= FEW {
        let index = (1..keys.len()).find(|&index| keys[..index].iter().any(|(key, _)| *key == keys[index].0));
        index.map(|index| &keys[index])
    } else {
        keys.sort_unstable();
        let pairs = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| &pair[1]).min_by_key(|(_, offset)| *offset)
    };
    duplicate.map(|(key, offset)| (&**key, *offset))
}

/// Limits the length of a key for an error message.
fn shortened(key: &[u8]) -> String {
    const MAX_CHARS: usize = 80;
    let key = String::from_utf8_lossy(key);
    match key.char_indices().nth(MAX_CHARS) {
        None => key.into_owned(),
        Some((end, _)) => format!("{}…", &key[..end]),
    }
}
