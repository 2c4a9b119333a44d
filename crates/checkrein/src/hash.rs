//! SHA-256, and hexadecimal digits for bytes.
//!
//! The audit log, approvals and hook files use it.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns the SHA-256 of bytes as hexadecimal digits.
#[cfg(feature = "audit")]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

/// Returns two lower-case digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Parses a SHA-256 in hexadecimal digits. Returns `None` for any other text.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let text = text.as_bytes();
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_and_read() {
        let bytes = sha256(b"x");
        assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(hex(&[0, 0x1f, 0xff]), "001fff");
        assert_eq!(from_hex("00"), None);
        assert_eq!(from_hex(&"g".repeat(64)), None);
    }
}
