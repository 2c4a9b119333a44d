//! [`RawJson`]: validated JSON that keeps its text.
//!
//! Tool input must reach the tool unchanged. [`RawJson`] keeps the original text: integers beyond 2^53, the text of
//! numbers, the order of keys. Reading a field returns a part of that text. Changing a field replaces its bytes and keeps
//! the others. A number must never be converted to a float.
//!
//! A [`RawJson`] is always well-formed, nested at most [`MAX_DEPTH`] deep, and without duplicate keys. Two parsers can
//! read `{"path": "a", "path": "b"}` differently. A guard could approve one value while the tool uses the other. Such
//! text is rejected with the location of the second key.
//!
//! All crates use this module, including the [`Lexer`] for other JSON texts.

mod build;
mod edit;
mod equal;
mod error;
mod lexer;
mod object;
mod raw;
mod text;
mod validate;

pub use build::JsonObject;
#[cfg(test)]
pub(crate) use edit::changes_between;
pub(crate) use edit::{Change, FieldSet, merge_shallow, with_changes};
pub use equal::Items;
pub use error::{JsonError, JsonErrorKind, Location};
pub use lexer::{LexError, LexErrorKind, Lexer, Token, TokenKind, comment_end, is_word, starts_comment};
pub use object::{Entries, Entry};
pub use raw::{JsonType, RawJson};
pub(crate) use raw::{type_of, utf8};
pub(crate) use text::write_string;
pub use text::{Piece, Pieces, decode_string, pieces, unquoted};

/// Maximum nesting depth of arrays and objects. Deeper text is rejected with [`JsonErrorKind::TooDeep`].
pub const MAX_DEPTH: usize = 128;

/// Maximum nesting depth of an event, which can wrap a value in a few more levels.
pub(crate) const MAX_EVENT_DEPTH: usize = MAX_DEPTH + 8;
