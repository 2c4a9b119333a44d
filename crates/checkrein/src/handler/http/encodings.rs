//! Encodings of a text in a response: JSON escapes, HTML entities and percent-encoding.
//!
//! The redaction of credentials uses this.

/// Returns the end of a value that starts at this position, with each character in any encoding.
pub(super) fn encoded_end(bytes: &[u8], start: usize, value: &str) -> Option<usize> {
    value.chars().try_fold(start, |end, character| Some(end + encoded_length(bytes.get(end..)?, character)?))
}

/// Returns the length of a character at the start of these bytes, in any encoding.
fn encoded_length(bytes: &[u8], character: char) -> Option<usize> {
    let mut room = [0; 4];
    let plain = character.encode_utf8(&mut room).as_bytes();
    let escaped = match bytes {
        [b'\\', b'u', ..] => utf16(bytes, character),
        [b'\\', escape, ..] => (short_escape(*escape) == Some(character)).then_some(2),
        [b'&', ..] => entity(bytes).filter(|(decoded, _)| *decoded == character).map(|(_, length)| length),
        [b'%', high, low, ..] => {
            (hex(&[*high, *low]) == Some(u32::from(character)) && character.is_ascii()).then_some(3)
        }
        _ => None,
    };
    // A plain backslash starts an escape. The caller compares the unencoded value separately.
    escaped.or_else(|| (character != '\\' && bytes.starts_with(plain)).then_some(plain.len()))
}

/// Length of `\u00e4`, or of a surrogate pair.
fn utf16(bytes: &[u8], character: char) -> Option<usize> {
    character.encode_utf16(&mut [0; 2]).iter().try_fold(0, |start, unit| {
        let digits = bytes.get(start..start + 6)?.strip_prefix(br"\u")?;
        (hex(digits)? == u32::from(*unit)).then_some(start + 6)
    })
}

fn short_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'"' | b'\\' | b'/' => char::from(byte),
        _ => return None,
    })
}

/// Character and length of an HTML entity.
fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    const LONGEST: usize = 10;
    let end = bytes.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let decoded = match &bytes[1..end] {
        b"amp" => '&',
        b"apos" => '\'',
        b"gt" => '>',
        b"lt" => '<',
        b"quot" => '"',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((decoded, end + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
