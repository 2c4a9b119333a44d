//! YAML, in two steps: the events of the parser become a flat list of items ([`events`]), and the list becomes a tree
//! ([`tree`]). With the list, an alias is a jump back to its anchor. A tree alone would need a copy of every value with an
//! anchor.
//!
//! The parser is `granit-parser`, which `serde-saphyr` also uses: it is fuzzed, has no `unsafe`, limits its own depth and
//! reports byte offsets. Its origin `saphyr-parser` reports only characters.

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
