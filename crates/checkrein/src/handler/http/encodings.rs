//! How a text may be spelt in an answer: with escapes of JSON, entities of HTML, or percent signs of URLs.

/// Where a value ends that starts here, each of its characters spelt in any way.
pub(super) fn spelt_end(bytes: &[u8], start: usize, value: &str) -> Option<usize> {
    value.chars().try_fold(start, |at, character| Some(at + length_of(bytes.get(at..)?, character)?))
}

/// How long a character is that these bytes start with.
fn length_of(bytes: &[u8], character: char) -> Option<usize> {
    let mut room = [0; 4];
    let plain = character.encode_utf8(&mut room).as_bytes();
    let escaped = match bytes {
        [b'\\', b'u', ..] => utf16(bytes, character),
        [b'\\', escape, ..] => (short_escape(*escape) == Some(character)).then_some(2),
        [b'&', ..] => entity(bytes).filter(|(says, _)| *says == character).map(|(_, length)| length),
        [b'%', high, low, ..] => {
            (hex(&[*high, *low]) == Some(u32::from(character)) && character.is_ascii()).then_some(3)
        }
        _ => None,
    };
    // A backslash is spelt by an escape, or the value is looked for as it is.
    escaped.or_else(|| (character != '\\' && bytes.starts_with(plain)).then_some(plain.len()))
}

/// `\u00e4`, or two of them.
fn utf16(bytes: &[u8], character: char) -> Option<usize> {
    character.encode_utf16(&mut [0; 2]).iter().try_fold(0, |at, unit| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(br"\u")?;
        (hex(digits)? == u32::from(*unit)).then_some(at + 6)
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

/// The character of an entity, and how long it is.
fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    const LONGEST: usize = 10;
    let end = bytes.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let says = match &bytes[1..end] {
        b"amp" => '&',
        b"apos" => '\'',
        b"gt" => '>',
        b"lt" => '<',
        b"quot" => '"',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((says, end + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
