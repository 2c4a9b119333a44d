//! The open arrays and objects of a [`Lexer`](super::Lexer).

use crate::json::MAX_EVENT_DEPTH;

/// Stack of open arrays and objects, with one bit per level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nesting {
    pub(super) depth: usize,
    /// `true` if the innermost level is an object.
    pub(super) in_object: bool,
    /// One bit for each outer level: set if it is an object.
    outer: [u64; Nesting::WORDS],
}

impl Nesting {
    const WORDS: usize = MAX_EVENT_DEPTH.div_ceil(64);

    pub(super) fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if let Some(word) = self.outer.get_mut(word) {
            *word = *word & !(1 << bit) | u64::from(self.in_object) << bit;
        }
        self.in_object = is_object;
        self.depth += 1;
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.in_object = self.outer.get(word).is_some_and(|word| word >> bit & 1 == 1);
    }
}
