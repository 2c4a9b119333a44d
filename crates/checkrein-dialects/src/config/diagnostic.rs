//! What is wrong with a config file, for people.

use std::fmt;

use checkrein_document::{LineColumn, LineIndex, Span};

/// Something that is wrong with a config file, or odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A short name for it, the same from release to release.
    pub code: &'static str,
    /// What it is.
    pub message: String,
    /// The file.
    pub file: String,
    /// Where in it. `None`: it is about the whole file.
    pub at: Option<Location>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in a file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Line and column, from 1.
    pub place: LineColumn,
    /// The bytes that it is about.
    pub span: Span,
    /// How many characters of the line it is about.
    pub width: usize,
    /// The line.
    pub line: String,
}

impl Location {
    /// The place of a part of a text.
    pub fn of(lines: &LineIndex<'_>, span: Span) -> Self {
        let (place, end) = (lines.place(span.start), lines.place(span.end));
        let line = lines.line_text(place.line).to_owned();
        let rest = line.chars().count().saturating_sub(place.column as usize - 1);
        let width = if end.line == place.line { (end.column - place.column.min(end.column)) as usize } else { rest };
        Self { place, span, width, line }
    }
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Works, and is probably not meant.
    Warning,
    /// Does not work.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl Diagnostic {
    /// About a whole file.
    pub fn of_file(
        severity: Severity,
        code: &'static str,
        file: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, code, message: message.into(), file: file.into(), at: None, help: None }
    }

    /// Where in the file it is.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.at = Some(location);
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Words of a file, and names of files, are foreign: they must not steer the terminal that they are shown on.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// `FILE:LINE:COLUMN: error[CODE]: MESSAGE`, the line with a mark under the place, and what to do.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, code, message, file, at, help } = self;
        let (message, file) = (printable(message), printable(file));
        match at {
            None => write!(f, "{file}: {severity}[{code}]: {message}")?,
            Some(Location { place, line, width, .. }) => {
                write!(f, "{file}:{}:{}: {severity}[{code}]: {message}", place.line, place.column)?;
                let number = place.line.to_string();
                // Tabs and long lines would put the mark in the wrong place.
                let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                if shown.chars().count() <= 160 {
                    let (gap, before) = (" ".repeat(number.len()), " ".repeat(place.column as usize - 1));
                    let mark = "^".repeat((*width).max(1));
                    write!(f, "\n{gap} |\n{number} | {shown}\n{gap} | {before}{mark}")?;
                }
            }
        }
        match help {
            None => Ok(()),
            Some(help) => write!(f, "\n  = {help}"),
        }
    }
}
