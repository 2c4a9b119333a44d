//! Byte scanners of the tokenizer: white space, comments, words and runs of plain string bytes.
//!
//! They know nothing of the grammar. The encoder of strings uses [`plain_run`] as well.

/// `true` for bytes of numbers and words, including invalid ones such as `+1` or `NaN`.
pub fn is_word(byte: u8) -> bool {
    // The most frequent bytes first.
    if let b',' | b']' | b'}' | b'\n' | b'\r' | b' ' = byte {
        return false;
    }
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'-' | b'.')
}

/// `true` if a comment starts at an offset.
pub fn starts_comment(text: &[u8], offset: usize) -> bool {
    matches!(text.get(offset..), Some([b'/', b'/' | b'*', ..]))
}

/// Returns the end of the comment that starts at an offset. `None` if it has no end. A line comment ends before its line
/// feed.
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
pub(in crate::json) fn skip_space(bytes: &[u8], mut offset: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(offset) {
        offset += 1;
    }
    offset
}

/// Returns the end of a run of plain string bytes: the offset of the next quote, backslash or control character.
///
/// Large payloads are mostly one long string, so this tests eight bytes at a time.
#[inline]
pub(in crate::json) fn plain_run(bytes: &[u8], offset: usize) -> usize {
    // Most strings are short.
    let Some(chunk) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>()) else {
        return long_run(bytes, offset);
    };
    match special_bytes(u64::from_le_bytes(*chunk)) {
        0 => long_run(bytes, offset + 8),
        found => offset + (found.trailing_zeros() / 8) as usize,
    }
}

/// Sets the highest bit of each byte that is a quote, a backslash or a control character. Bits above the lowest hit can be
/// wrong. Only the lowest is used: it is the first in the text.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let has_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    let has_byte = |word: u64, byte: u8| has_below(word ^ (ONES * u64::from(byte)), 1);
    has_below(word, 0x20) | has_byte(word, b'"') | has_byte(word, b'\\')
}

#[inline(never)]
fn long_run(bytes: &[u8], mut offset: usize) -> usize {
    while let Some(chunk) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let found = special_bytes(word);
        if found != 0 {
            return offset + (found.trailing_zeros() / 8) as usize;
        }
        offset += 8;
    }
    while let Some(&byte) = bytes.get(offset) {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        offset += 1;
    }
    offset
}
