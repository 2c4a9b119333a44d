//! Config files as trees in which every node knows its place.
//!
//! Agents keep their hooks in JSON, JSON with comments, YAML or TOML. [`parse`] reads all four into one kind of tree:
//! text in, tree or error out, no I/O. Strings are borrowed from the text where they stand there as they are, and no
//! number passes through a float.
//!
//! ```
//! use checkrein_document::{Format, Lines, parse};
//!
//! let text = "{\"hooks\": [\n  {\"command\": \"./check\", \"timeout\": \"10\"}, // seconds\n]}";
//! let parsed = parse(text, Format::Jsonc)?;
//! let hook = &parsed.root.get("hooks").unwrap().as_array().unwrap()[0];
//! assert_eq!(hook.get("command").unwrap().as_str(), Some("./check"));
//!
//! let timeout = hook.get("timeout").unwrap();
//! assert_eq!(timeout.type_name(), "a string");
//! assert_eq!(Lines::new(text).place(timeout.span.start).to_string(), "line 2 column 37");
//! # Ok::<(), checkrein_document::DocumentError>(())
//! ```
//!
//! All formats have limits, [`MAX_DEPTH`] and [`MAX_SIZE`]. In YAML, aliases are replaced by copies of what they stand
//! for, with the places of the original, and may add [`MAX_COPIES`] values and [`MAX_SIZE`] bytes of text in all.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod error;
mod json;
mod lines;
mod members;
mod node;
#[cfg(any(feature = "yaml", feature = "toml"))]
mod number;
mod testing;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;

#[cfg(test)]
mod tests;

use std::path::Path;

use error::ParseError;
pub use error::{DocumentError, DocumentProblem};
pub use lines::{LineColumn, LineIndex};
pub use node::{Member, Node, Span, Value};
#[doc(hidden)]
pub use testing::exercise;

/// How deep arrays and objects may nest: as deep as [`RawJson`](checkrein_core::RawJson) allows.
///
/// In TOML it is 80.
pub const MAX_DEPTH: usize = checkrein_core::MAX_DEPTH;

/// How long a text may be, in bytes.
pub const MAX_SIZE: usize = 8 * 1024 * 1024;

/// How many values the aliases of a YAML text may add to the tree.
pub const MAX_COPIES: usize = 100_000;

/// The languages that config files are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON as RFC 8259 has it.
    Json,
    /// JSON with `//` and `/* */` comments and trailing commas.
    Jsonc,
    /// YAML 1.2 with its core schema, and merge keys. Needs the feature `yaml`.
    Yaml,
    /// TOML. Needs the feature `toml`.
    Toml,
}

impl Format {
    /// The format that a file's extension stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        [("json", Self::Json), ("jsonc", Self::Jsonc), ("yaml", Self::Yaml), ("yml", Self::Yaml), ("toml", Self::Toml)]
            .into_iter()
            .find(|(name, _)| extension.eq_ignore_ascii_case(name))
            .map(|(_, format)| format)
    }
}

/// A text that could be read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parsed<'a> {
    /// The tree. Keys are distinct in every object.
    pub root: Node<'a>,
    /// What is odd about the text, in the order of its places.
    pub problems: Vec<DocumentProblem>,
}

/// Reads a text. A byte order mark at its start is skipped.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse(text: &str, format: Format) -> Result<Parsed<'_>, DocumentError> {
    read(text, format).map_err(|fault| DocumentError::new(fault, text)).map(|(root, mut problems)| {
        problems.sort_by_key(DocumentProblem::span);
        Parsed { root, problems }
    })
}

type Tree<'a> = (Node<'a>, Vec<DocumentProblem>);

fn read(text: &str, format: Format) -> Result<Tree<'_>, ParseError> {
    if text.len() > MAX_SIZE {
        let message = format!("the text has {} bytes, more than the {MAX_SIZE} that are read", text.len());
        return Err(ParseError::new(Span::default(), message));
    }
    match format {
        Format::Json => json::read(text, json::Extensions::None),
        Format::Jsonc => json::read(text, json::Extensions::CommentsAndCommas),
        #[cfg(feature = "yaml")]
        Format::Yaml => yaml::read(text),
        #[cfg(not(feature = "yaml"))]
        Format::Yaml => Err(missing("YAML", "yaml")),
        #[cfg(feature = "toml")]
        Format::Toml => toml::read(text),
        #[cfg(not(feature = "toml"))]
        Format::Toml => Err(missing("TOML", "toml")),
    }
}

#[cfg(not(all(feature = "yaml", feature = "toml")))]
fn missing(language: &str, feature: &str) -> ParseError {
    let message = format!("{language} is not read: checkrein-document was built without its feature `{feature}`");
    ParseError::new(Span::default(), message)
}

fn too_deep(span: Span, levels: usize) -> ParseError {
    ParseError::new(span, format!("nested more than {levels} levels deep"))
}

/// The text without its byte order mark, and how many bytes that takes away.
fn without_mark(text: &str) -> (&str, usize) {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    (rest, text.len() - rest.len())
}
