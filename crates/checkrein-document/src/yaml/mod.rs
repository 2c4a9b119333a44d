//! YAML, in two steps: the parser's events become a flat list of items ([`events`]), and the list becomes a tree
//! ([`tree`]). With the list, an alias is a jump back to where its anchor stands; a tree alone would have to keep a
//! copy of everything that has an anchor.
//!
//! The parser is `granit-parser`, which `serde-saphyr` stands on: it is fuzzed, has no `unsafe`, limits its own depth
//! and tells the bytes of each event. `saphyr-parser`, where it comes from, tells characters only.

mod events;
mod scalar;
#[cfg(test)]
mod tests;
mod tree;

use super::Tree;
use super::error::ParseError;

pub(super) fn read(text: &str) -> Result<Tree<'_>, ParseError> {
    let mut problems = Vec::new();
    let items = events::read(text, &mut problems)?;
    let root = tree::build(&items, &mut problems)?;
    Ok((root, problems))
}
