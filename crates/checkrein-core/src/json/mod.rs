//! JSON that is carried, never re-encoded.
//!
//! A tool's input belongs to the tool. [`RawJson`] holds the text exactly as it came: integers beyond
//! 2^53, the spelling of numbers, the order of keys. Reading a field looks into that text; changing one
//! replaces the bytes of that field and leaves the others alone. No number passes through a float.
//!
//! What can be built is already checked: well-formed, nested at most [`MAX_DEPTH`] deep, and without
//! duplicate keys. Two readers of `{"path": "a", "path": "b"}` may disagree on what it says, so a guard could
//! approve one value while the tool acts on the other; such text is refused with the place of the second key.

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

/// How deep arrays and objects may nest. Deeper text is refused with [`JsonErrorKind::TooDeep`].
pub const MAX_DEPTH: usize = 128;

/// An event may wrap a value in a few levels of its own.
pub(crate) const MAX_EVENT_DEPTH: usize = MAX_DEPTH + 8;
