//! [`Code`]: the code of a call that waits for the user's confirmation.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;

/// Characters of codes: digits and letters that are not mistaken for one another (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Number of characters. Each has 5 random bits.
const LENGTH: usize = 10;

/// Code of a call, such as `7KQ2M-9XDTR`. It has 50 random bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code(String);

/// Error: a text is no code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a code; a code has ten digits and letters, such as 7KQ2M-9XDTR")]
pub struct InvalidCode(String);

impl Code {
    /// Creates a random code.
    pub(super) fn random() -> Self {
        // The keys of a `RandomState` come from the random numbers of the system. One process issues few codes.
        let mut bits = RandomState::new().hash_one(0_u8);
        let mut text = String::with_capacity(LENGTH);
        for _ in 0..LENGTH {
            text.push(char::from(ALPHABET[(bits & 31) as usize]));
            bits >>= 5;
        }
        Self(text)
    }

    /// Returns the characters, without the dash.
    pub(super) fn characters(&self) -> &str {
        &self.0
    }
}

/// Reads a code as a person types it: in any case, with or without the dash, `O` for `0`, and `I` or `L` for `1`.
impl FromStr for Code {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        let typed = text.trim().chars().filter(|c| *c != '-').map(|c| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        });
        let code: String = typed.take(LENGTH + 1).collect();
        let is_valid = code.len() == LENGTH && code.bytes().all(|byte| ALPHABET.contains(&byte));
        if is_valid { Ok(Self(code)) } else { Err(InvalidCode(text.chars().take(40).collect())) }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.0.split_at(LENGTH / 2);
        write!(f, "{first}-{second}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_typed() {
        let code = Code::random();
        assert_eq!(code.to_string().len(), 11);
        assert_eq!(code.to_string().parse(), Ok(code.clone()));
        assert_eq!(code.to_string().to_lowercase().replace('-', "").parse(), Ok(code));
        assert_eq!("oil10-ABCDE".parse::<Code>().unwrap().to_string(), "01110-ABCDE");
        for wrong in ["", "ABCDE", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ABCDE-FGHJ/", "äääääääääää"] {
            assert!(wrong.parse::<Code>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn codes_differ() {
        let codes: std::collections::HashSet<_> = (0..1000).map(|_| Code::random().0).collect();
        assert_eq!(codes.len(), 1000);
    }
}
