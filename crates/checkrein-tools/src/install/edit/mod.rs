//! Changes of JSON files that leave every byte alone which they are not about.
//!
//! What is added is a tree, [`add`]: objects are merged, arrays grow at their end, anything else is left as it is.
//! [`strip`] takes out the hooks that a test says are ours, and with them what has become empty and was not there before.

mod add;
mod splice;
mod strip;
mod style;

use std::fmt;

use checkrein_document::{DocumentProblem, Format, LineColumn, LineIndex, Node, Span};

pub(super) use add::add;
pub(super) use strip::{is_ours, strip};

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditError {
    pub(super) place: LineColumn,
    pub(super) message: String,
}

impl EditError {
    fn new(text: &str, span: Span, message: impl Into<String>) -> Self {
        Self { place: LineIndex::new(text).place(span.start), message: message.into() }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Reads a text that is to be changed. Comments are read also if the agent does not: they are not ours to judge.
pub(super) fn read(text: &str) -> Result<Node<'_>, EditError> {
    let parsed = checkrein_document::parse(text, Format::Jsonc)
        .map_err(|error| EditError { place: error.place, message: error.message.clone() })?;
    // A key that is there twice: which one the agent goes by is its secret.
    if let Some(problem) = parsed.problems.first() {
        return Err(EditError::new(text, DocumentProblem::span(problem), problem.to_string()));
    }
    Ok(parsed.root)
}

/// Whether a text says nothing.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn start(node: &Node<'_>) -> usize {
    node.span.start as usize
}

fn end(node: &Node<'_>) -> usize {
    node.span.end as usize
}

#[cfg(test)]
mod tests;
