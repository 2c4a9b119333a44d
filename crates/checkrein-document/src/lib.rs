//! Config files as trees in which every node has its source span.
//!
//! Agents use JSON, JSON with comments, YAML or TOML for their hooks. [`parse`] converts all four into one kind of tree,
//! without I/O. Strings without escapes are borrowed from the text. Numbers are never converted to floats.
//!
//! ```
//! use checkrein_document::{Format, LineIndex, parse};
//!
//! let text = "{\"hooks\": [\n  {\"command\": \"./check\", \"timeout\": \"10\"}, // seconds\n]}";
//! let parsed = parse(text, Format::Jsonc)?;
//! let hook = &parsed.root.get("hooks").unwrap().as_array().unwrap()[0];
//! assert_eq!(hook.get("command").unwrap().as_str(), Some("./check"));
//!
//! let timeout = hook.get("timeout").unwrap();
//! assert_eq!(timeout.type_name(), "a string");
//! assert_eq!(LineIndex::new(text).place(timeout.span.start).to_string(), "line 2 column 37");
//! # Ok::<(), checkrein_document::DocumentError>(())
//! ```
//!
//! All formats have limits: [`MAX_DEPTH`] and [`MAX_SIZE`]. YAML aliases are replaced by copies of their values, with the
//! spans of the originals. All copies together are limited to [`MAX_COPIES`] values and [`MAX_SIZE`] bytes of text.

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

/// Maximum nesting of arrays and objects, as in [`RawJson`](checkrein_core::RawJson). In TOML it is 80.
pub const MAX_DEPTH: usize = checkrein_core::MAX_DEPTH;

/// Maximum length of a text in bytes.
pub const MAX_SIZE: usize = 8 * 1024 * 1024;

/// Maximum number of values that the aliases of a YAML text add to the tree.
pub const MAX_COPIES: usize = 100_000;

/// Format of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON (RFC 8259).
    Json,
    /// JSON with `//` and `/* */` comments and trailing commas.
    Jsonc,
    /// YAML 1.2 with the core schema and merge keys. Needs the feature `yaml`.
    Yaml,
    /// TOML. Needs the feature `toml`.
    Toml,
}

impl Format {
    /// The format for the extension of a file. `None` for other extensions.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        [("json", Self::Json), ("jsonc", Self::Jsonc), ("yaml", Self::Yaml), ("yml", Self::Yaml), ("toml", Self::Toml)]
            .into_iter()
            .find(|(name, _)| extension.eq_ignore_ascii_case(name))
            .map(|(_, format)| format)
    }

    /// Name of the format in error messages.
    fn name(self) -> &'static str {
        match self {
            Self::Json | Self::Jsonc => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }
}

/// Result of [`parse`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parsed<'a> {
    /// The tree. Keys are distinct in every object.
    pub root: Node<'a>,
    /// Warnings, sorted by position.
    pub problems: Vec<DocumentProblem>,
}

/// Parses a text. A byte order mark at its start is skipped.
///
/// # Errors
/// The first syntax error or exceeded limit, with its position.
pub fn parse(text: &str, format: Format) -> Result<Parsed<'_>, DocumentError> {
    read(text, format).map_err(|error| DocumentError::new(error, text, format)).map(|(root, mut problems)| {
        problems.sort_by_key(DocumentProblem::span);
        Parsed { root, problems }
    })
}

type Tree<'a> = (Node<'a>, Vec<DocumentProblem>);

fn read(text: &str, format: Format) -> Result<Tree<'_>, ParseError> {
    if text.len() > MAX_SIZE {
        let message = format!("the file has {} bytes, and the limit is {MAX_SIZE}", text.len());
        return Err(ParseError::limit(Span::default(), message));
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
    let message =
        format!("{language} is not supported in this build; enable the feature `{feature}` of checkrein-document");
    ParseError::limit(Span::default(), message)
}

fn too_deep(span: Span, levels: usize) -> ParseError {
    ParseError::limit(span, format!("nested more than {levels} levels deep, which is the limit"))
}

/// The text without its byte order mark, and the length of the mark.
fn without_mark(text: &str) -> (&str, usize) {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    (rest, text.len() - rest.len())
}
