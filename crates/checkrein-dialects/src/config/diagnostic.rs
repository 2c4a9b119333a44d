//! Diagnostics of hook files: severity, code, message, location and help.
//!
//! Decoders, the loader and lints create them. Control characters of files are replaced when a diagnostic is displayed.

use std::fmt;

use checkrein_document::{LineColumn, LineIndex, Span};

/// A problem of a hook file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Code, which stays the same between releases.
    pub code: &'static str,
    /// Message.
    pub message: String,
    /// Path of the file.
    pub file: String,
    /// Location in the file. `None`: the whole file.
    pub at: Option<Location>,
    /// Hint for a fix.
    pub help: Option<String>,
}

/// A location in a file, with the text of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Line and column, from 1.
    pub place: LineColumn,
    /// Range of bytes.
    pub span: Span,
    /// Number of characters to mark in the line.
    pub width: usize,
    /// Text of the line.
    pub line: String,
}

impl Location {
    /// Returns the location of a span.
    pub fn of(lines: &LineIndex<'_>, span: Span) -> Self {
        let (place, end) = (lines.place(span.start), lines.place(span.end));
        let line = lines.line_text(place.line).to_owned();
        let rest = line.chars().count().saturating_sub(place.column as usize - 1);
        let width = if end.line == place.line { (end.column - place.column.min(end.column)) as usize } else { rest };
        Self { place, span, width, line }
    }
}

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is valid, and probably not as intended.
    Warning,
    /// A part of the file has no effect or closes a gate.
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
    /// A diagnostic for a whole file.
    pub fn of_file(
        severity: Severity,
        code: &'static str,
        file: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, code, message: message.into(), file: file.into(), at: None, help: None }
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.at = Some(location);
        self
    }

    /// Sets the hint for a fix.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Replaces control characters. Texts of files are untrusted and must not control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Shows `FILE:LINE:COLUMN: error[CODE]: MESSAGE`, the line with a mark under the location, and the hint.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, code, message, file, at, help } = self;
        let (message, file) = (printable(message), printable(file));
        match at {
            None => write!(f, "{file}: {severity}[{code}]: {message}")?,
            Some(Location { place, line, width, .. }) => {
                write!(f, "{file}:{}:{}: {severity}[{code}]: {message}", place.line, place.column)?;
                let number = place.line.to_string();
                // Tabs would move the mark, and long lines would wrap.
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
