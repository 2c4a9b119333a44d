//! The work that reading one text may take.

use super::ParseError;

/// Maximum work for one text. One unit is about one byte that is parsed, expanded or copied.
pub(super) const MOST: usize = 1_000_000;

/// Work that is left. Its end is an error, so that a caller treats the text as unknown.
#[derive(Debug)]
pub(super) struct Work {
    left: usize,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { left: MOST }
    }

    pub(super) fn spend(&mut self, units: usize) -> Result<(), ParseError> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(ParseError("it takes too much work to read"))
            }
        }
    }

    /// `true` if no work is left.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns the work so far.
    pub(super) fn spent(&self) -> usize {
        MOST - self.left
    }
}
