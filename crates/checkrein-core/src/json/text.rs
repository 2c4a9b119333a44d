//! JSON strings, from and to Rust's.

use std::borrow::Cow;

use super::scan::plain_run;

/// What the string says. `quoted` is a valid JSON string with its quotes.
///
/// Half of a surrogate pair alone has no place in a Rust string and reads as U+FFFD; the text that is carried
/// on keeps it.
pub(crate) fn decode_string(quoted: &str) -> Cow<'_, str> {
    match decode(quoted, |decoded, _| decoded.extend_from_slice("\u{fffd}".as_bytes())) {
        None => Cow::Borrowed(inner(quoted)),
        // Every piece is UTF-8, so nothing is lost here.
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// As [`decode_string`], for comparing: different halves of surrogate pairs stay different.
pub(crate) fn decode_exactly(quoted: &str) -> Cow<'_, [u8]> {
    let kept = |decoded: &mut Vec<u8>, unit: u32| {
        decoded.push(0xFF);
        decoded.extend_from_slice(&unit.to_be_bytes());
    };
    decode(quoted, kept).map_or_else(|| Cow::Borrowed(inner(quoted).as_bytes()), Cow::Owned)
}

/// A string without its quotes.
pub(super) fn inner(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted)
}

/// `None` if the string has no escapes and says what stands there.
fn decode(quoted: &str, lone_half: impl Fn(&mut Vec<u8>, u32)) -> Option<Vec<u8>> {
    let mut rest = inner(quoted);
    if !rest.contains('\\') {
        return None;
    }
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some(at) = rest.find('\\') {
        decoded.extend_from_slice(&rest.as_bytes()[..at]);
        let (escaped, length) = decode_escape(&rest[at..]);
        match escaped {
            Ok(character) => decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(unit) => lone_half(&mut decoded, unit),
        }
        rest = rest.get(at + length..).unwrap_or_default();
    }
    decoded.extend_from_slice(rest.as_bytes());
    Some(decoded)
}

/// The character that an escape sequence stands for, or half of a surrogate pair, and the length of the sequence.
fn decode_escape(escape: &str) -> (Result<char, u32>, usize) {
    let character = match escape.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return decode_unicode(escape),
        Some(&other) => char::from(other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (Ok(character), 2)
}

fn decode_unicode(escape: &str) -> (Result<char, u32>, usize) {
    let unit = |at: usize| escape.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let high = unit(2).unwrap_or(0xFFFD);
    if let Some(character) = char::from_u32(high) {
        return (Ok(character), 6);
    }
    let low = (high < 0xDC00 && escape.get(6..8) == Some("\\u"))
        .then(|| unit(8))
        .flatten()
        .filter(|low| (0xDC00..0xE000).contains(low));
    match low.and_then(|low| char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))) {
        Some(character) => (Ok(character), 12),
        None => (Err(high), 6),
    }
}

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut written = 0;
    loop {
        let at = plain_run(text.as_bytes(), written);
        out.push_str(&text[written..at]);
        let Some(&byte) = text.as_bytes().get(at) else { break };
        written = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            other => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(DIGITS[usize::from(other >> 4)]));
                out.push(char::from(DIGITS[usize::from(other & 0xF)]));
            }
        }
    }
    out.push('"');
}
