//! [`ApprovalId`]: the name of an approval, which a person types.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Characters of ids: digits and letters that are not mistaken for one another (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Number of characters. Each has 5 random bits.
const LENGTH: usize = 10;

/// Id of an approval, such as `7KQ2M-9XDTR`. It has 50 random bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ApprovalId(String);

/// Error: a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of an approval; an id has ten digits and letters, such as 7KQ2M-9XDTR")]
pub struct InvalidId(String);

impl ApprovalId {
    /// Creates a random id.
    pub(super) fn random() -> Self {
        // The keys of a `RandomState` come from the random numbers of the system. One process creates few ids.
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

/// Reads an id as a person types it: in any case, with or without the dash, `O` for `0`, and `I` or `L` for `1`.
impl FromStr for ApprovalId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let typed = text.trim().chars().filter(|c| *c != '-').map(|c| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        });
        let id: String = typed.take(LENGTH + 1).collect();
        let is_valid = id.len() == LENGTH && id.bytes().all(|byte| ALPHABET.contains(&byte));
        if is_valid { Ok(Self(id)) } else { Err(InvalidId(text.chars().take(40).collect())) }
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.0.split_at(LENGTH / 2);
        write!(f, "{first}-{second}")
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_typed() {
        let id = ApprovalId::random();
        assert_eq!(id.to_string().len(), 11);
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_eq!(id.to_string().to_lowercase().replace('-', "").parse(), Ok(id));
        assert_eq!("oil10-ABCDE".parse::<ApprovalId>().unwrap().to_string(), "01110-ABCDE");
        for wrong in ["", "ABCDE", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ABCDE-FGHJ/", "äääääääääää"] {
            assert!(wrong.parse::<ApprovalId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_differ() {
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| ApprovalId::random().0).collect();
        assert_eq!(ids.len(), 1000);
    }
}
