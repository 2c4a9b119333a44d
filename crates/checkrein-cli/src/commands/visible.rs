//! Foreign text as visible characters: file contents, ids, commands, paths and output of hooks.
//!
//! Characters that a terminal does not show, or that move or reorder others, are written as `<U+200B>`, and bytes that are
//! not UTF-8 as `<0xFF>`. The `<` of text that looks like that is written as `<U+003C>`, so no text can imitate an escape
//! and two different texts never look the same.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::IsTerminal as _;

pub use checkrein_tools::visible::{
    LINES, is_hidden, is_like_escape, printable, printable_bytes, visible, visible_ascii, visible_bytes, visible_json,
};
use unicode_general_category::{GeneralCategory, get_general_category};

/// Returns `true` for an accent and other characters that are shown on the one before.
fn is_mark(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    !c.is_ascii() && matches!(get_general_category(c), EnclosingMark | NonspacingMark | SpacingMark)
}

/// Returns `true` if two different lines may look the same, such as one with a composed character and one with a letter and
/// an accent, or with letters of two scripts.
pub fn may_look_same(one: &str, other: &str) -> bool {
    // Without letters that have an accent of their own.
    let ascii = |line: &str| -> String {
        let next = line.chars().skip(1).map(Some).chain([None]);
        let is_plain = |(c, next): &(char, Option<char>)| c.is_ascii() && !next.is_some_and(is_mark);
        line.chars().zip(next).filter(is_plain).map(|(c, _)| c).collect()
    };
    let is_alike = |(one, other): (char, char)| one == other || !one.is_ascii() || !other.is_ascii();
    let is_as_long = one.chars().count() == other.chars().count();
    ascii(one) == ascii(other) || (is_as_long && one.chars().zip(other.chars()).all(is_alike))
}

/// Shows a result that is a file's text: in visible characters on a terminal, and unchanged in a file or a pipe.
pub fn result(text: &str) -> Cow<'_, str> {
    if std::io::stdout().is_terminal() { visible(text, LINES).into() } else { text.into() }
}

/// Describes the escapes that [`visible_bytes`] writes, as one sentence. `None` without any.
pub fn describe_escapes(bytes: &[u8]) -> Option<String> {
    let (mut hidden, mut invalid, mut imitations) = (0, 0, 0);
    let mut forms = BTreeSet::new();
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        for (at, c) in text.char_indices() {
            if is_hidden(c) && !LINES.contains(&c) {
                hidden += 1;
                forms.insert(c);
            }
            imitations += usize::from(is_like_escape(&text[at..]));
        }
        invalid += chunk.invalid().len();
    }
    let mut parts = Vec::new();
    if hidden > 0 {
        let noun = super::pluralize(hidden, "invisible character");
        let mut shown: Vec<_> = forms.iter().take(3).map(|c| format!("<U+{:04X}>", u32::from(*c))).collect();
        if forms.len() > shown.len() {
            shown.push("…".to_owned());
        }
        parts.push(format!("{noun}, shown as {}", shown.join(", ")));
    }
    if invalid > 0 {
        parts.push(format!("{} that {} not UTF-8, shown as <0xFF>", super::pluralize(invalid, "byte"), is(invalid)));
    }
    if imitations > 0 {
        let noun = super::pluralize(imitations, "text");
        let verb = if imitations == 1 { "looks" } else { "look" };
        parts.push(format!("{noun} that {verb} like such an escape, shown with <U+003C>"));
    }
    if parts.is_empty() { None } else { Some(format!("contains {}", parts.join("; "))) }
}

fn is(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        for code in [
            0x0, 0x7, 0x8, 0xd, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x34f, 0x600, 0x605, 0x61c, 0x6dd, 0x70f, 0x8e2,
            0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180e, 0x180f, 0x2000, 0x2003, 0x200a,
            0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x205f, 0x2060, 0x2064,
            0x2065, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb,
            0xfffe, 0x110bd, 0x13430, 0x1bca0, 0x1d159, 0x1d173, 0x1d17a, 0xe0000, 0xe0001, 0xe0020, 0xe007f, 0xe0100,
            0xe01ef, 0xe0fff, 0x10ffff,
        ] {
            let text = format!("a{}b", char::from_u32(code).unwrap());
            assert_eq!(printable(&text), format!("a<U+{code:04X}>b"));
        }
        for text in ["plain text\t~!", "äöü ß é 漢字 ключ ع 😀", "a < b > c <U>", "<u+200B>"] {
            assert_eq!(printable(text), text);
            assert_eq!(describe_escapes(text.as_bytes()), None);
        }
    }

    /// Also for text that looks like an escape, and for bytes that are not UTF-8.
    #[test]
    fn different_bytes_never_look_the_same() {
        let mut seen = BTreeSet::new();
        let parts: [&[u8]; 9] =
            [b"<U+200B>", "\u{200b}".as_bytes(), b"<0xFF>", b"\xff", b"<", b"U+003C>", b"\0", b"<U+0000>", b"\xe2\x80"];
        for one in parts {
            for two in parts {
                for three in parts {
                    seen.insert((visible_bytes(&[one, two, three].concat()), [one, two, three].concat()));
                }
            }
        }
        let texts: BTreeSet<_> = seen.iter().map(|(text, _)| text).collect();
        assert_eq!(texts.len(), seen.len());
    }

    #[test]
    fn escapes_are_described() {
        let text = b"a\xe2\x80\x8bb\xe2\x80\x8b\xc2\xad\xff<U+200B>";
        assert_eq!(
            describe_escapes(text).unwrap(),
            "contains 3 invisible characters, shown as <U+00AD>, <U+200B>; 1 byte that is not UTF-8, shown as <0xFF>; \
             1 text that looks like such an escape, shown with <U+003C>"
        );
    }
}
