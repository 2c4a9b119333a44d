//! Foreign text as visible characters: file contents, ids, commands, paths and output of hooks.
//!
//! Characters that a terminal does not show, or that move or reorder others, are written as `<U+200B>`, and bytes that are
//! not UTF-8 as `<0xFF>`. The `<` of text that looks like that is written as `<U+003C>`, so no text can imitate an escape
//! and two different texts never look the same.

use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Control characters that texts of several lines may contain.
pub const LINES: &[char] = &['\n', '\t'];

/// Characters outside of the general categories below that have no visible form in most fonts.
const BLANK: &[std::ops::RangeInclusive<char>] = &[
    '\u{34f}'..='\u{34f}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{16fe4}'..='\u{16fe4}',
    '\u{1d159}'..='\u{1d159}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Returns `true` if a character is invisible, looks like a space, or controls the terminal or the order of others.
pub fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, SpaceSeparator, Surrogate, Unassigned};
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match get_general_category(c) {
        Control | Format | LineSeparator | ParagraphSeparator | SpaceSeparator | Surrogate | Unassigned => true,
        _ => BLANK.iter().any(|range| range.contains(&c)),
    }
}

/// Shows a text on one line. Tabs are kept.
pub fn printable(text: &str) -> String {
    visible(text, &['\t'])
}

/// As [`printable`], for bytes that may not be UTF-8, such as a path.
pub fn printable_bytes(bytes: &[u8]) -> String {
    escaped(bytes, |c| c == '\t' || !is_hidden(c))
}

/// Shows a text with these control characters unchanged.
pub fn visible(text: &str, kept: &[char]) -> String {
    escaped(text.as_bytes(), |c| kept.contains(&c) || !is_hidden(c))
}

/// Shows JSON, with its own escapes for hidden characters. They can only be in strings, so the value is the same.
pub fn visible_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '\n') || !is_hidden(c) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

/// Shows the bytes of a file. Line feeds and tabs are kept.
pub fn visible_bytes(bytes: &[u8]) -> String {
    escaped(bytes, |c| LINES.contains(&c) || !is_hidden(c))
}

/// As [`visible_bytes`], with escapes for all characters outside of ASCII.
pub fn visible_ascii(bytes: &[u8]) -> String {
    escaped(bytes, |c| c.is_ascii() && (LINES.contains(&c) || !is_hidden(c)))
}

fn escaped(bytes: &[u8], is_kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        for (at, c) in text.char_indices() {
            if is_kept(c) && !is_like_escape(&text[at..]) {
                out.push(c);
            } else {
                let _ = write!(out, "<U+{:04X}>", u32::from(c));
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "<0x{byte:02X}>");
        }
    }
    out
}

/// Returns `true` if a text starts like an escape. A `<` at the end of valid bytes can be the start of no escape.
pub fn is_like_escape(text: &str) -> bool {
    text.starts_with("<U+") || text.starts_with("<0x")
}
