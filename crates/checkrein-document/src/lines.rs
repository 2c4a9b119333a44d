//! [`LineIndex`]: converts byte offsets to lines and columns.
//!
//! Errors and diagnostics use it. Columns are characters, as in editors, and never bytes.

use std::cell::{Cell, OnceCell};
use std::fmt;

use super::node::offset;
use super::without_mark;

/// Position in a text, as editors show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl LineColumn {
    /// The position of a byte offset. For many positions, [`LineIndex`] is faster.
    pub(super) fn from_offset(text: &str, at: u32) -> Self {
        let at = floor(text, at);
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = count_line_breaks(before) + 1;
        Self { line: offset(line), column: column(text, start, at) }
    }
}

/// Number of line breaks in a text. Counts that fit into a byte let the compiler use SIMD.
fn count_line_breaks(text: &str) -> usize {
    let count = |part: &[u8]| part.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(u8::MAX.into()).map(|part| usize::from(count(part))).sum()
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

/// Index of the lines of a text. Lines end with LF or CRLF.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    /// Start of each line. Computed after [`MAX_SCANS`] lookups.
    starts: OnceCell<Vec<u32>>,
    /// Number of lookups without the index.
    scans: Cell<u32>,
}

/// Number of lookups that scan the text instead of the index. Usually at most one hook matches a tool call, so few positions
/// are needed.
const MAX_SCANS: u32 = 4;

impl<'a> LineIndex<'a> {
    /// An index of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, starts: OnceCell::new(), scans: Cell::new(0) }
    }

    fn starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let breaks = self.text.match_indices('\n').map(|(at, _)| offset(at + 1));
            std::iter::once(0).chain(breaks).collect()
        })
    }

    /// The position of a byte offset. An offset inside a character has the position of that character, and one after the
    /// text has the position of its end.
    pub fn place(&self, at: u32) -> LineColumn {
        if self.starts.get().is_none() && self.scans.get() < MAX_SCANS {
            self.scans.set(self.scans.get() + 1);
            return LineColumn::from_offset(self.text, at);
        }
        let at = floor(self.text, at);
        let line = self.starts().partition_point(|&start| start as usize <= at);
        let start = self.starts().get(line.saturating_sub(1)).copied().unwrap_or_default();
        LineColumn { line: offset(line), column: column(self.text, start as usize, at) }
    }

    /// The text of a line, from 1, without its line break. Empty if the line does not exist.
    pub fn line_text(&self, line: u32) -> &'a str {
        let Some(start) = (line as usize).checked_sub(1).and_then(|index| self.starts().get(index)) else {
            return "";
        };
        let rest = self.text.get(*start as usize..).unwrap_or_default();
        let text = rest.split_once('\n').map_or(rest, |(text, _)| text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if line == 1 { without_mark(text).0 } else { text }
    }
}

/// The nearest start of a character at or before an offset.
fn floor(text: &str, at: u32) -> usize {
    let mut at = text.len().min(at as usize);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The column of an offset. A byte order mark is not counted, since editors do not show it.
fn column(text: &str, start: usize, at: usize) -> u32 {
    let before = text.get(start..at).unwrap_or_default();
    let before = if start == 0 { without_mark(before).0 } else { before };
    offset(before.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_lines() {
        for (text, at, line, column) in [
            ("", 0, 1, 1),
            ("", 9, 1, 1),
            ("abc", 2, 1, 3),
            ("abc", 3, 1, 4),
            ("a\nb", 1, 1, 2),
            ("a\nb", 2, 2, 1),
            ("a\n", 2, 2, 1),
            ("a\r\nb", 3, 2, 1),
            ("a\r\nbc\r\nd", 8, 3, 2),
            ("äöü x", 7, 1, 5),
            ("äöü x", 3, 1, 2),
            ("😀\n😀b", 9, 2, 2),
            ("\u{feff}ab", 0, 1, 1),
            ("\u{feff}ab", 3, 1, 1),
            ("\u{feff}ab", 4, 1, 2),
            ("a\n\u{feff}b", 5, 2, 2),
        ] {
            let place = LineColumn { line, column };
            let lines = LineIndex::new(text);
            // First by scans, then by the index.
            for _ in 0..MAX_SCANS + 2 {
                assert_eq!(lines.place(at), place, "{text:?} at {at}");
            }
        }
    }

    #[test]
    fn line_breaks_of_long_texts_are_counted() {
        for count in [0, 1, 254, 255, 256, 1000] {
            assert_eq!(count_line_breaks(&"\n".repeat(count)), count);
            assert_eq!(count_line_breaks(&"a line\n".repeat(count)), count);
        }
    }

    #[test]
    fn line_text_has_no_line_break() {
        let lines = LineIndex::new("\u{feff}one\r\ntwo\n\nfour");
        let texts: Vec<_> = (0..6).map(|line| lines.line_text(line)).collect();
        assert_eq!(texts, ["", "one", "two", "", "four", ""]);
    }
}
