//! The reference of facts, from the tables.

/// Returns the text of the reference.
pub fn reference() -> String {
    String::new()
}
