//! Text of the file that `checkrein init` writes.

use serde_json::Value;

use crate::starter;

/// A file that is not yet written.
pub struct DraftFile {
    pub text: String,
    /// Extension of the file, which selects its format.
    pub extension: &'static str,
    /// Losses and skipped hooks, for people.
    pub notes: Vec<String>,
    /// Losses, for JSON.
    pub lost: Vec<Value>,
    /// Number of blocking hooks that would no longer block.
    pub gates: usize,
}

impl DraftFile {
    /// The starter set.
    pub fn starter() -> Self {
        Self { text: starter::TEXT.to_owned(), extension: "yaml", notes: Vec::new(), lost: Vec::new(), gates: 0 }
    }
}
