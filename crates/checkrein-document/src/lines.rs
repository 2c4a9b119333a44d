use std::cell::{Cell, OnceCell};
use std::fmt;

use super::node::offset;
use super::without_mark;

/// A place in a text, as editors show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl LineColumn {
    /// For a single place; many are found faster by [`Lines`].
    pub(super) fn of(text: &str, at: u32) -> Self {
        let at = floor(text, at);
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = breaks(before) + 1;
        Self { line: offset(line), column: column(text, start, at) }
    }
}

/// How many lines end in a text. Counts that fit into a byte are made sixteen at a time.
fn breaks(text: &str) -> usize {
    let count = |part: &[u8]| part.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(u8::MAX.into()).map(|part| usize::from(count(part))).sum()
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

/// The lines of a text, counted once. Lines end with LF or CRLF.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    /// Where each line starts, if it was worth it to find that out.
    starts: OnceCell<Vec<u32>>,
    /// How many places were asked for before.
    asked: Cell<u32>,
}

/// How many places are found faster one by one. Before a tool call, seldom more than one hook fits.
const FEW: u32 = 4;

impl<'a> LineIndex<'a> {
    /// The lines of this text.
    pub fn new(text: &'a str) -> Self {
        Self { text, starts: OnceCell::new(), asked: Cell::new(0) }
    }

    fn starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let breaks = self.text.match_indices('\n').map(|(at, _)| offset(at + 1));
            std::iter::once(0).chain(breaks).collect()
        })
    }

    /// The place of a byte offset. One inside of a character has the place of that character, one behind the text
    /// the place of its end.
    pub fn place(&self, at: u32) -> LineColumn {
        if self.starts.get().is_none() && self.asked.get() < FEW {
            self.asked.set(self.asked.get() + 1);
            return LineColumn::of(self.text, at);
        }
        let at = floor(self.text, at);
        let line = self.starts().partition_point(|&start| start as usize <= at);
        let start = self.starts().get(line.saturating_sub(1)).copied().unwrap_or_default();
        LineColumn { line: offset(line), column: column(self.text, start as usize, at) }
    }

    /// The text of a line, from 1, without its end. Empty if there is no such line.
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

/// The offset, or the nearest one before it that a character starts at.
fn floor(text: &str, at: u32) -> usize {
    let mut at = text.len().min(at as usize);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Editors do not show a byte order mark, so it is not counted.
fn column(text: &str, start: usize, at: usize) -> u32 {
    let before = text.get(start..at).unwrap_or_default();
    let before = if start == 0 { without_mark(before).0 } else { before };
    offset(before.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines() {
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
            // One by one, and then all of them at once.
            for _ in 0..FEW + 2 {
                assert_eq!(lines.place(at), place, "{text:?} at {at}");
            }
        }
    }

    #[test]
    fn many_lines_are_counted() {
        for count in [0, 1, 254, 255, 256, 1000] {
            assert_eq!(breaks(&"\n".repeat(count)), count);
            assert_eq!(breaks(&"a line\n".repeat(count)), count);
        }
    }

    #[test]
    fn lines_come_without_their_ends() {
        let lines = LineIndex::new("\u{feff}one\r\ntwo\n\nfour");
        let texts: Vec<_> = (0..6).map(|line| lines.line_text(line)).collect();
        assert_eq!(texts, ["", "one", "two", "", "four", ""]);
    }
}
