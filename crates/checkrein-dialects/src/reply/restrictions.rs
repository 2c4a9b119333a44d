//! Search for restrictions in an answer that is not valid JSON, or that the agent would reject.
//!
//! A guard whose answer is damaged has still decided: a deny must not be lost because its reason contains half a character. The
//! search finds the keys and words of the dialect. It never yields an allow, a rewrite or context.
//!
//! The search is iterative: nesting of any depth needs no stack.

use checkrein_core::json::{comment_end, decode_string, starts_comment};
use checkrein_core::{Decision, Event, Opinion, RawJson};

use super::answer;
use super::table::KeyMeaning;
use crate::table::Dialect;

/// Value at a path of keys.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) value: RawJson,
}

/// Returns the restriction in a text: an ask, defer, deny or halt with its reason. `is_malformed`: the text starts as an object,
/// but is not valid JSON. A word of the dialect then restricts wherever it is.
pub(super) fn find(dialect: &Dialect, event: &Event, text: &str, is_malformed: bool) -> Option<Opinion> {
    let by_structure = answer::read_restrictions(dialect, event, &scan(text));
    if by_structure.decision() >= Decision::Ask {
        return Some(by_structure);
    }
    if !is_malformed {
        return None;
    }
    let by_words = answer::read_restrictions(dialect, event, &search_words(dialect, text));
    (by_words.decision() >= Decision::Ask).then_some(by_words)
}

/// Levels whose keys are remembered. Paths of tables are shorter.
const REMEMBERED: usize = 8;

/// Open object or array.
struct Level {
    is_object: bool,
    /// Key whose value follows.
    key: Option<String>,
}

/// Returns all texts and words in objects that start a line, with their paths. Quotes may be single, keys may have none, and
/// commas, comments and brackets may be anywhere.
fn scan(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut deeper = 0_usize;
    let mut offset = 0;
    while let Some(&byte) = bytes.get(offset) {
        let start = offset;
        offset += 1;
        if levels.is_empty() {
            if byte == b'{' && starts_line(text, start) {
                levels.push(Level { is_object: true, key: None });
            }
            continue;
        }
        match byte {
            b'{' | b'[' if levels.len() < REMEMBERED => levels.push(Level { is_object: byte == b'{', key: None }),
            b'{' | b'[' => deeper += 1,
            b'}' | b']' if deeper > 0 => deeper -= 1,
            b'}' | b']' => {
                levels.pop();
                clear_key(&mut levels);
            }
            b',' if deeper == 0 => clear_key(&mut levels),
            b'/' if starts_comment(bytes, start) => offset = comment_end(bytes, start).unwrap_or(bytes.len()),
            b'"' | b'\'' => {
                let end = string_end(bytes, offset, byte);
                let content = text.get(offset..end).unwrap_or_default();
                offset = (end + 1).min(bytes.len());
                if deeper == 0 {
                    // Half a character may be followed by any byte, so the quote itself is not part of `content`.
                    take(&mut levels, &mut found, &decode_string(content), is_key(bytes, offset), RawJson::string);
                }
            }
            _ if is_word_byte(byte) => {
                while bytes.get(offset).is_some_and(|byte| is_word_byte(*byte)) {
                    offset += 1;
                }
                if deeper == 0 {
                    let word = text.get(start..offset).unwrap_or_default();
                    take(&mut levels, &mut found, word, is_key(bytes, offset), word_value);
                }
            }
            _ => {}
        }
    }
    found
}

/// Stores a text as the current key or as the value of the current key.
fn take(levels: &mut [Level], found: &mut Vec<Found>, text: &str, is_key: bool, value: fn(&str) -> RawJson) {
    let Some(level) = levels.last_mut() else { return };
    if level.key.is_none() {
        if is_key && level.is_object {
            level.key = Some(text.to_owned());
        }
        return;
    }
    if let Some(path) = path(levels) {
        found.push(Found { path, value: value(text) });
    }
    clear_key(levels);
}

/// Returns the path of the current key. `None` inside of arrays and below keys with dots, which no path of a table reaches.
fn path(levels: &[Level]) -> Option<String> {
    let keys: Option<Vec<_>> =
        levels.iter().map(|level| level.key.as_deref().filter(|key| !key.contains('.'))).collect();
    Some(keys?.join("."))
}

fn clear_key(levels: &mut [Level]) {
    if let Some(level) = levels.last_mut() {
        level.key = None;
    }
}

/// Converts a word without quotes: booleans of any case, and other words as text.
fn word_value(word: &str) -> RawJson {
    let is = |literal: &str| word.eq_ignore_ascii_case(literal);
    let literal = ["true", "false", "null"].into_iter().find(|literal| is(literal));
    literal.and_then(|literal| RawJson::parse(literal).ok()).unwrap_or_else(|| RawJson::string(word))
}

/// `true` if only white space is between the last line break and the offset.
fn starts_line(text: &str, offset: usize) -> bool {
    let before = &text[..offset];
    let line = before.rfind('\n').map_or(before, |line_break| &before[line_break + 1..]);
    super::answer_text::trim(line).is_empty()
}

/// Returns the offset of the closing quote, or of the end of the text.
fn string_end(bytes: &[u8], mut offset: usize, quote: u8) -> usize {
    while let Some(&byte) = bytes.get(offset) {
        match byte {
            b'\\' => offset += 2,
            _ if byte == quote => return offset,
            _ => offset += 1,
        }
    }
    bytes.len()
}

/// `true` if a colon follows.
fn is_key(bytes: &[u8], offset: usize) -> bool {
    bytes.get(offset..).unwrap_or_default().trim_ascii_start().first() == Some(&b':')
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'+' | b'-' | b'.') || byte >= 0x80
}

/// Returns the words of decisions that follow their key in quotes, wherever they are in the text. Escaped quotes do not match,
/// so JSON inside of a string is not found.
fn search_words(dialect: &Dialect, text: &str) -> Vec<Found> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let keys = dialect.reply.keys.iter();
    for key in keys.filter(|key| matches!(key.means, KeyMeaning::Decision(_) | KeyMeaning::Flag(..))) {
        for path in key.paths {
            let name = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
            for quote in ['"', '\''] {
                let quoted = format!("{quote}{name}{quote}");
                found.extend(lower.match_indices(&quoted).filter_map(|(at, _)| {
                    let value = lower[at + quoted.len()..].trim_start().strip_prefix(':')?.trim_start();
                    let value = match value.strip_prefix(['"', '\'']) {
                        Some(rest) => RawJson::string(rest.split(['"', '\'']).next()?),
                        None => word_value(value.split(|c: char| !c.is_ascii_alphanumeric()).next()?),
                    };
                    Some(Found { path: (*path).to_owned(), value })
                }));
            }
        }
    }
    found
}
