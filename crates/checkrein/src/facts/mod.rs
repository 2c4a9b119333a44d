//! Facts about an event, for rules: files, connections, and the repository.
//!
//! Facts are values of `checkrein-expression`. Nothing here starts a program, uses the network, or resolves names of hosts. A
//! fact that cannot be known is an unknown value, never a guess.

pub(crate) mod net;
pub(crate) mod path;
pub(crate) mod repository;
mod word;
