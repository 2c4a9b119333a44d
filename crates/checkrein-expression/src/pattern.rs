//! Patterns of `matches` and `globs`.
//!
//! A file of rules is compiled at every start of the program, and most rules do not apply to the event. So a pattern is checked when
//! its rule is compiled, and built when it is used first.

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::ascii_classes::with_ascii_classes;
use crate::error::Problem;
use crate::failure::FailureKind;
use crate::limits;
use crate::value::PartialText;

/// A regular expression that is built when it is used first.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    built: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    /// Checks a regular expression.
    pub(crate) fn new(text: &str) -> Result<Self, Problem> {
        check_length(text)?;
        let pattern = Self::unchecked(text);
        let hir = pattern.hir().map_err(Problem::InvalidPattern)?;
        // Repetitions and classes such as `\pL` can exceed the limit of the size, which only the builder knows.
        if written_out(&hir) > limits::PATTERN_BYTES {
            pattern.regex().map_err(Problem::InvalidPattern)?;
        }
        Ok(pattern)
    }

    /// Returns a pattern that is known to be valid. If it is not, its use fails.
    pub(crate) fn unchecked(text: &str) -> Self {
        Self { text: text.to_owned(), built: OnceLock::new() }
    }

    fn hir(&self) -> Result<Hir, String> {
        let ascii = with_ascii_classes(&self.text).map_err(|error| last_line(&error))?;
        regex_syntax::parse(&ascii).map_err(|error| last_line(&error.to_string()))
    }

    fn regex(&self) -> Result<&Regex, String> {
        let build = || {
            let ascii = with_ascii_classes(&self.text).map_err(|error| last_line(&error))?;
            let built = RegexBuilder::new(&ascii).size_limit(limits::PATTERN_SIZE).build();
            built.map_err(|error| last_line(&error.to_string()))
        };
        self.built.get_or_init(build).as_ref().map_err(Clone::clone)
    }

    /// `true` if a text matches whatever its unknown parts are: a match is inside of a known part, also with other characters
    /// beside that part.
    pub(crate) fn is_partial_match(&self, text: &PartialText) -> Result<bool, FailureKind> {
        // What is next to a match can decide it: `$`, `\b`. A letter, a blank and nothing stand for all unknown texts.
        const BESIDE: &[&str] = &["", "x", " "];
        const NONE: &[&str] = &[""];
        let regex = self.regex().map_err(|error| self.invalid(&error))?;
        let last = text.known.len().saturating_sub(1);
        Ok(text.known.iter().enumerate().any(|(index, part)| {
            let before = if index == 0 && text.starts { NONE } else { BESIDE };
            let behind = if index == last && text.ends { NONE } else { BESIDE };
            before.iter().all(|before| {
                let end = before.len() + part.len();
                let is_inside = |behind: &&str| {
                    let found = regex.shortest_match_at(&format!("{before}{part}{behind}"), before.len());
                    found.is_some_and(|found| found <= end)
                };
                behind.iter().all(is_inside)
            })
        }))
    }

    fn invalid(&self, error: &str) -> FailureKind {
        FailureKind::Function(format!("invalid pattern `{}`: {error}", self.text))
    }

    pub(crate) fn is_match(&self, text: &str) -> Result<bool, FailureKind> {
        Ok(self.regex().map_err(|error| self.invalid(&error))?.is_match(text))
    }
}

/// Returns the length of a pattern in which every repetition is written out, and every class is the list of its ranges.
fn written_out(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Capture(capture) => written_out(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(written_out).fold(1, usize::saturating_add)
        }
        HirKind::Repetition(repetition) => {
            let count = repetition.max.unwrap_or_else(|| repetition.min.saturating_add(1)).max(1);
            written_out(&repetition.sub).saturating_mul(usize::try_from(count).unwrap_or(usize::MAX))
        }
    }
}

/// The message of a syntax error has several lines, with the pattern itself.
fn last_line(message: &str) -> String {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn check_length(text: &str) -> Result<(), Problem> {
    match text.len() > limits::PATTERN_BYTES {
        true => {
            let (own, most) = (text.len(), limits::PATTERN_BYTES);
            Err(Problem::InvalidPattern(format!("it has {own} bytes, more than {most}")))
        }
        false => Ok(()),
    }
}

/// Patterns of file names. Names without wildcards are compared directly.
#[derive(Debug)]
pub(crate) struct Globs {
    names: Vec<String>,
    globs: Vec<Glob>,
    built: OnceLock<Option<GlobSet>>,
}

impl Globs {
    /// Checks the syntax of patterns.
    pub(crate) fn new(texts: &[String]) -> Result<Self, Problem> {
        let (mut names, mut globs) = (Vec::new(), Vec::new());
        for text in texts {
            check_length(text)?;
            if text.contains(['*', '?', '[', ']', '{', '}', '\\', ',', '!']) {
                let glob = GlobBuilder::new(text).literal_separator(true).build();
                globs.push(glob.map_err(|error| Problem::InvalidPattern(error.kind().to_string()))?);
            } else {
                names.push(text.clone());
            }
        }
        Ok(Self { names, globs, built: OnceLock::new() })
    }

    pub(crate) fn is_match(&self, text: &str) -> Result<bool, FailureKind> {
        if self.names.iter().any(|name| name == text) {
            return Ok(true);
        }
        if self.globs.is_empty() {
            return Ok(false);
        }
        let build = || {
            let mut set = GlobSetBuilder::new();
            for glob in &self.globs {
                set.add(glob.clone());
            }
            set.build().ok()
        };
        match self.built.get_or_init(build) {
            Some(set) => Ok(set.is_match(text)),
            None => Err(FailureKind::Function("the patterns are too large".to_owned())),
        }
    }

    /// Compares a text with unknown parts. `None`: the unknown parts decide.
    pub(crate) fn is_partial_match(&self, text: &PartialText) -> Option<bool> {
        let could_be = self.names.iter().any(|name| text.could_be(name))
            || self.globs.iter().any(|glob| could_match(&pieces(glob.glob()), text));
        // Behind a known start, `**` matches everything.
        let is_certain = |glob: &Glob| {
            let start = glob.glob().strip_suffix("**").filter(|start| start.is_empty() || start.ends_with('/'));
            let is_plain = |start: &&str| !start.contains(['*', '?', '[', '{', '\\']);
            let first = text.known.first().filter(|_| text.starts);
            let matches = |start: &str| {
                start.is_empty() || first.is_some_and(|first| first.len() > start.len() && first.starts_with(start))
            };
            start.filter(is_plain).is_some_and(matches)
        };
        match could_be {
            false => Some(false),
            true => self.globs.iter().any(is_certain).then_some(true),
        }
    }
}

/// A piece of a glob or of a partly known text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// One character.
    One,
    /// Any text.
    Any,
}

/// Returns the pieces of a glob. A part that is not followed exactly stands for any text.
fn pieces(glob: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut characters = glob.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '*' => pieces.push(Piece::Any),
            '?' => pieces.push(Piece::One),
            '[' => {
                pieces.push(Piece::One);
                // The first character of a class can be `]`.
                characters.next_if_eq(&'!');
                characters.next();
                for c in characters.by_ref() {
                    if c == ']' {
                        break;
                    }
                }
            }
            '{' | '}' | ',' => {
                pieces.push(Piece::Any);
                return pieces;
            }
            '\\' => pieces.extend(characters.next().map(Piece::Char)),
            // `a/**` matches below `a`, and `**/a` also matches `a`.
            '/' if characters.peek() == Some(&'*') || pieces.last() == Some(&Piece::Any) => pieces.push(Piece::Any),
            c => pieces.push(Piece::Char(c)),
        }
    }
    pieces
}

/// `true` if a glob and a partly known text have a common text. The time is at most the product of the lengths.
fn could_match(glob: &[Piece], text: &PartialText) -> bool {
    let mut own = Vec::new();
    if !text.starts || text.known.is_empty() {
        own.push(Piece::Any);
    }
    for (index, part) in text.known.iter().enumerate() {
        if index > 0 {
            own.push(Piece::Any);
        }
        own.extend(part.chars().map(Piece::Char));
    }
    if !text.ends && !text.known.is_empty() {
        own.push(Piece::Any);
    }
    // `reached[j]`: the pieces of the text so far and the first j pieces of the glob have a common text.
    let mut reached = vec![false; glob.len() + 1];
    reached[0] = true;
    skip(glob, &mut reached);
    for piece in own {
        let mut next = vec![false; glob.len() + 1];
        if piece == Piece::Any {
            if let Some(first) = reached.iter().position(|here| *here) {
                next[first..].fill(true);
            }
        } else {
            for at in (0..glob.len()).filter(|at| reached[*at]) {
                match (glob[at], piece) {
                    (Piece::Any, _) => next[at] = true,
                    (Piece::One, _) => next[at + 1] = true,
                    (Piece::Char(one), Piece::Char(other)) if one == other => next[at + 1] = true,
                    _ => {}
                }
            }
        }
        skip(glob, &mut next);
        reached = next;
    }
    reached[glob.len()]
}

/// Marks the places behind pieces that may be empty.
fn skip(glob: &[Piece], reached: &mut [bool]) {
    for (at, piece) in glob.iter().enumerate() {
        if reached[at] && *piece == Piece::Any {
            reached[at + 1] = true;
        }
    }
}
