//! What a text shall be.

use std::fmt;

use regex::Regex;

use super::scratch::{PLACEHOLDER, Scratch};

/// What a text shall be. A scratch directory's name may stand in it as a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPattern {
    how: PatternKind,
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
    /// A regular expression that is found in it.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn matches(pattern: &str) -> Result<Self, regex::Error> {
        Self::compiled(PatternKind::Matches, pattern)
    }

    /// A regular expression that is not found in it.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn lacks(pattern: &str) -> Result<Self, regex::Error> {
        Self::compiled(PatternKind::Lacks, pattern)
    }

    /// Text that is in it.
    pub fn contains(text: &str) -> Self {
        Self { how: PatternKind::Contains, text: text.to_owned() }
    }

    /// All of it, but for white space around it.
    pub fn equals(text: &str) -> Self {
        Self { how: PatternKind::Equals, text: text.to_owned() }
    }

    /// By the name that files have for it.
    pub(super) fn named(name: &str, text: &str) -> Option<Result<Self, regex::Error>> {
        match name {
            "matches" => Some(Self::matches(text)),
            "lacks" => Some(Self::lacks(text)),
            "contains" => Some(Ok(Self::contains(text))),
            "equals" => Some(Ok(Self::equals(text))),
            _ => None,
        }
    }

    fn compiled(how: PatternKind, pattern: &str) -> Result<Self, regex::Error> {
        // The placeholder has braces, which mean something else in an expression.
        Regex::new(&pattern.replace(PLACEHOLDER, "x"))?;
        Ok(Self { how, text: pattern.to_owned() })
    }

    /// Whether a text is that.
    pub(super) fn fits(&self, text: &str, scratch: &Scratch) -> bool {
        // `^done$` is meant to fit what `echo done` prints.
        let line = text.trim_end_matches(['\n', '\r']);
        let found = |pattern: String| Regex::new(&pattern).is_ok_and(|regex| regex.is_match(line));
        match self.how {
            PatternKind::Matches => found(self.text.replace(PLACEHOLDER, &regex::escape(scratch.name()))),
            PatternKind::Lacks => !found(self.text.replace(PLACEHOLDER, &regex::escape(scratch.name()))),
            PatternKind::Contains => text.contains(&scratch.filled(&self.text)),
            PatternKind::Equals => text.trim() == scratch.filled(&self.text).trim(),
        }
    }

    /// Whether it says what must not be there.
    pub(super) fn is_negative(&self) -> bool {
        self.how == PatternKind::Lacks
    }

    /// The whole text, if it says it.
    pub(super) fn whole(&self, scratch: &Scratch) -> Option<String> {
        (self.how == PatternKind::Equals).then(|| scratch.filled(&self.text))
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.how {
            PatternKind::Matches => write!(f, "/{text}/"),
            PatternKind::Lacks => write!(f, "nothing like /{text}/"),
            PatternKind::Contains => write!(f, "something with {text:?}"),
            PatternKind::Equals => write!(f, "{text}"),
        }
    }
}
