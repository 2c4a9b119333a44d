//! The kinds of events, and the one table that says what each is.

mod name;
mod parent;
mod table;

pub use name::{CustomKind, KindNameError, UnknownKind};
pub(crate) use table::KIND_COUNT;
pub use table::{EventKind, Payload};
