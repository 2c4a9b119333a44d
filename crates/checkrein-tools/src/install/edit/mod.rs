//! Edits of JSON files that keep all other bytes, including comments and layout.
//!
//! [`add`] merges a tree into a file: objects are merged, arrays are extended, existing scalars stay. [`strip`] removes our
//! hooks, and the containers that become empty and were not in the original.

mod add;
mod splice;
mod strip;
mod style;

use std::fmt;

use checkrein_document::{DocumentProblem, Format, LineColumn, LineIndex, Node, Span};

pub(super) use add::add;
pub(super) use strip::{is_ours, strip};

/// Reason why a text cannot be edited, with its location.
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

/// Parses a text for an edit. Comments are accepted, even if the agent does not support them.
pub(super) fn read(text: &str) -> Result<Node<'_>, EditError> {
    let parsed = checkrein_document::parse(text, Format::Jsonc)
        .map_err(|error| EditError { place: error.place, message: error.message.clone() })?;
    // Duplicate keys: it is unknown which one the agent uses.
    if let Some(problem) = parsed.problems.first() {
        return Err(EditError::new(text, DocumentProblem::span(problem), problem.to_string()));
    }
    Ok(parsed.root)
}

/// Returns `true` if the text is empty or white space.
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
