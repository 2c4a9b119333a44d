//! JSON strings, from and to Rust's.

use std::borrow::Cow;

/// What the string says. `quoted` is a valid JSON string with its quotes.
///
/// Half of a surrogate pair alone has no place in a Rust string and reads as U+FFFD; the text that is carried
/// on keeps it.
pub(crate) fn decode_string(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut decoded = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        let (character, length) = decode_escape(&rest[at..]);
        decoded.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The character that an escape sequence stands for, and the length of the sequence.
fn decode_escape(escape: &str) -> (char, usize) {
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
    (character, 2)
}

fn decode_unicode(escape: &str) -> (char, usize) {
    let unit = |at: usize| escape.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let high = unit(2).unwrap_or(0xFFFD);
    if let Some(character) = char::from_u32(high) {
        return (character, 6);
    }
    let low = (high < 0xDC00 && escape.get(6..8) == Some("\\u"))
        .then(|| unit(8))
        .flatten()
        .filter(|low| (0xDC00..0xE000).contains(low));
    match low {
        Some(low) => {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        None => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x00..=0x1F => "",
            _ => continue,
        };
        out.push_str(&text[written..at]);
        written = at + 1;
        if escape.is_empty() {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 0xF)]));
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[written..]);
    out.push('"');
}
