//! Patterns for expected texts.

use std::fmt;

use regex::Regex;

use super::scratch::{PLACEHOLDER, Scratch};

/// Pattern for an expected text. [`PLACEHOLDER`] in it stands for the path of the scratch directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPattern {
    kind: PatternKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternKind {
    Matches,
    Lacks,
    Contains,
    Equals,
}

impl TextPattern {
    /// The regular expression matches somewhere in the text.
    ///
    /// # Errors
    /// The expression is invalid.
    pub fn matches(pattern: &str) -> Result<Self, regex::Error> {
        Self::compiled(PatternKind::Matches, pattern)
    }

    /// The regular expression matches nowhere in the text.
    ///
    /// # Errors
    /// The expression is invalid.
    pub fn lacks(pattern: &str) -> Result<Self, regex::Error> {
        Self::compiled(PatternKind::Lacks, pattern)
    }

    /// The text contains this substring.
    pub fn contains(text: &str) -> Self {
        Self { kind: PatternKind::Contains, text: text.to_owned() }
    }

    /// The text equals this one, except for white space around it.
    pub fn equals(text: &str) -> Self {
        Self { kind: PatternKind::Equals, text: text.to_owned() }
    }

    /// Creates a pattern from its key in test files. Returns `None` for an unknown key.
    pub(super) fn named(name: &str, text: &str) -> Option<Result<Self, regex::Error>> {
        match name {
            "matches" => Some(Self::matches(text)),
            "lacks" => Some(Self::lacks(text)),
            "contains" => Some(Ok(Self::contains(text))),
            "equals" => Some(Ok(Self::equals(text))),
            _ => None,
        }
    }

    fn compiled(kind: PatternKind, pattern: &str) -> Result<Self, regex::Error> {
        // The braces of the placeholder have another meaning in an expression.
        Regex::new(&pattern.replace(PLACEHOLDER, "x"))?;
        Ok(Self { kind, text: pattern.to_owned() })
    }

    /// Returns `true` if the text matches.
    pub(super) fn fits(&self, text: &str, scratch: &Scratch) -> bool {
        // `^done$` must match the output of `echo done`.
        let line = text.trim_end_matches(['\n', '\r']);
        let found = |pattern: String| Regex::new(&pattern).is_ok_and(|regex| regex.is_match(line));
        match self.kind {
            PatternKind::Matches => found(self.text.replace(PLACEHOLDER, &regex::escape(scratch.name()))),
            PatternKind::Lacks => !found(self.text.replace(PLACEHOLDER, &regex::escape(scratch.name()))),
            PatternKind::Contains => text.contains(&scratch.filled(&self.text)),
            PatternKind::Equals => text.trim() == scratch.filled(&self.text).trim(),
        }
    }

    /// Returns `true` for a pattern that must not match.
    pub(super) fn is_negative(&self) -> bool {
        self.kind == PatternKind::Lacks
    }

    /// The complete expected text, if the pattern defines it.
    pub(super) fn whole(&self, scratch: &Scratch) -> Option<String> {
        if self.kind == PatternKind::Equals { Some(scratch.filled(&self.text)) } else { None }
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.kind {
            PatternKind::Matches => write!(f, "/{text}/"),
            PatternKind::Lacks => write!(f, "no match of /{text}/"),
            PatternKind::Contains => write!(f, "text that contains {text:?}"),
            PatternKind::Equals => write!(f, "{text}"),
        }
    }
}
