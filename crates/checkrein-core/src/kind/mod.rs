//! [`EventKind`] and [`Payload`], generated from one table of kinds.
//!
//! A new kind is one row of the table. No other code may list the kinds.

mod name;
mod parent;
mod table;

pub use name::{CustomKind, KindNameError, UnknownKind};
pub(crate) use table::KIND_COUNT;
pub use table::{EventKind, Payload};
