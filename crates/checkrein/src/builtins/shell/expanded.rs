//! Values of words, with the parts that only a running shell knows.

use std::ops::Range;
use std::sync::Arc;

/// Start and end, without the end.
pub type Span = (usize, usize);

/// The value of a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The text. Unknown parts have the form `$NAME` or `$(…)`.
    pub text: String,
    /// `true` if all of the text is known.
    pub known: bool,
    /// `true` if wildcards in it apply.
    pub glob: bool,
    /// Byte ranges of the text that only a running shell knows.
    pub unknown: Vec<Range<usize>>,
    /// `true` if the word may stand for any number of arguments: an unknown value without quotes, or `$@`.
    pub may_split: bool,
    /// Programs whose output is part of the value.
    pub from: Vec<String>,
    /// Text that the file of this name holds: the output of `<(…)`. A mark stands for unknown parts.
    pub content: Option<Arc<str>>,
    /// Output of `$(…)`, if that is the whole word. A mark stands for unknown parts.
    pub printed: Option<Arc<str>>,
    /// Position of a word that has only this value: in characters, or the index in a list of words.
    pub span: Option<Span>,
    /// `true` if a part of the text or another value of the word is missing because a limit was exceeded.
    pub cut: bool,
}

/// Maximum length of a word's value, in bytes.
const LONGEST: usize = 1 << 18;

impl Expanded {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true, ..Self::default() }
    }

    /// Returns a value of which nothing is known.
    pub(crate) fn unknown_text(text: &str) -> Self {
        let mut value = Self::literal("");
        value.push_unknown(text);
        value
    }

    /// `true` if the word could have this value as one argument: unknown parts stand for any text, and wildcards apply.
    pub fn could_be(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        matches(&self.pattern(), &text)
    }

    /// Returns a part of the value, with its unknown ranges.
    ///
    /// The range is in bytes. A range that is out of bounds or inside of a character gives the whole value.
    pub fn part(&self, range: Range<usize>) -> Self {
        let Some(text) = self.text.get(range.clone()) else { return self.clone() };
        let overlap = |unknown: &Range<usize>| {
            let (start, end) = (unknown.start.max(range.start), unknown.end.min(range.end));
            (start < end).then(|| start - range.start..end - range.start)
        };
        let unknown: Vec<_> = self.unknown.iter().filter_map(overlap).collect();
        let is_whole = range == (0..self.text.len());
        Self {
            text: text.to_owned(),
            known: unknown.is_empty() && (self.known || !is_whole && !self.unknown.is_empty()),
            glob: self.glob && text.contains(['*', '?', '[']),
            unknown,
            may_split: self.may_split,
            from: self.from.clone(),
            content: self.content.clone().filter(|_| is_whole),
            printed: self.printed.clone().filter(|_| is_whole),
            span: self.span.filter(|_| is_whole),
            cut: self.cut,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        // A variable that holds itself twice grows fast.
        if self.text.len() + text.len() > LONGEST {
            (self.known, self.cut) = (false, true);
        } else {
            self.text.push_str(text);
        }
    }

    pub(super) fn push_unknown(&mut self, text: &str) {
        let start = self.text.len();
        self.push(text);
        self.known = false;
        self.unknown.push(start..self.text.len());
    }

    /// Appends another value.
    pub(super) fn append(&mut self, end: &Self) {
        let start = self.text.len();
        self.push(&end.text);
        if self.text.len() == start + end.text.len() {
            self.unknown.extend(end.unknown.iter().map(|range| range.start + start..range.end + start));
        }
        self.known &= end.known;
        self.glob |= end.glob;
        self.may_split |= end.may_split;
        self.cut |= end.cut;
        self.from.extend(end.from.iter().cloned());
        if end.content.is_some() {
            self.content.clone_from(&end.content);
        }
    }

    fn pattern(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut push = |piece: Piece| {
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        };
        if self.cut || (!self.known && self.unknown.is_empty()) {
            return vec![Piece::Any];
        }
        let mut in_class = false;
        for (at, c) in self.text.char_indices() {
            if self.unknown.iter().any(|range| range.contains(&at)) {
                push(Piece::Any);
                continue;
            }
            match c {
                // A class may also be plain text, if it matches no file.
                ']' if in_class => in_class = false,
                _ if in_class => {}
                '[' if self.glob && self.text[at..].contains(']') => {
                    push(Piece::Any);
                    in_class = true;
                }
                '*' if self.glob => push(Piece::Any),
                '?' if self.glob => push(Piece::One),
                c => push(Piece::Char(c)),
            }
        }
        pieces
    }
}

/// A piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// Any character.
    One,
    /// Any text.
    Any,
}

/// Matches a text with a pattern. Only the last [`Piece::Any`] is tried again, so the time is at most the product of the
/// lengths.
fn matches(pattern: &[Piece], text: &[char]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    let mut retry = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(Piece::Any) => {
                retry = Some((at + 1, in_text));
                at += 1;
            }
            Some(Piece::One) => (at, in_text) = (at + 1, in_text + 1),
            Some(Piece::Char(c)) if *c == text[in_text] => (at, in_text) = (at + 1, in_text + 1),
            _ => match retry {
                Some((behind, from)) => {
                    (at, in_text) = (behind, from + 1);
                    retry = Some((behind, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn could_be_matches_unknown_parts_and_wildcards() {
        let unknown = |before: &str, behind: &str| {
            let mut value = Expanded::literal(before);
            value.push_unknown("$X");
            value.push(behind);
            value
        };
        let glob = |text: &str| Expanded { glob: true, ..Expanded::literal(text) };
        for (value, text, expected) in [
            (Expanded::literal("rm"), "rm", true),
            (Expanded::literal("rm"), "rmdir", false),
            (Expanded::literal("r*"), "rm", false),
            (unknown("", ""), "rm", true),
            (unknown("r", ""), "rm", true),
            (unknown("", "m"), "rm", true),
            (unknown("/etc/", "/x"), "/etc/a/b/x", true),
            (unknown("/etc/", "/x"), "/usr/x", false),
            (unknown("a", "a"), "a", false),
            (glob("/bin/r?"), "/bin/rm", true),
            (glob("/bin/r?"), "/bin/r", false),
            (glob("/*/rm"), "/bin/rm", true),
            (glob("[r]m"), "rm", true),
            (glob("[rm"), "rm", false),
            (glob("[rm"), "[rm", true),
            (Expanded { cut: true, ..Expanded::default() }, "rm", true),
        ] {
            assert_eq!(value.could_be(text), expected, "{value:?} {text}");
        }
    }

    #[test]
    fn parts_keep_their_unknown_ranges() {
        let mut value = Expanded::literal("--x=");
        value.push_unknown("$X");
        value.push("é");
        let part = value.part(4..8);
        assert_eq!((part.text.as_str(), part.known, part.unknown.len()), ("$Xé", false, 1));
        assert_eq!(part.unknown[0], 0..2);
        let part = value.part(0..4);
        assert_eq!((part.text.as_str(), part.known), ("--x=", true));
        assert_eq!(value.part(0..7), value);
    }
}
