//! Looks at eight bytes at a time.

pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks bytes that are below a limit. The lowest mark is right; those above it may be set by a borrow.
#[inline]
pub(super) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH
}

/// The same for bytes that are this one.
#[inline]
pub(super) fn same(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// The place of the first byte from this one on that is marked, or else that ends it; or the end.
#[inline]
pub(super) fn find(bytes: &[u8], from: usize, marks: impl Fn(u64) -> u64, ends: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let found = marks(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    bytes.get(at..).and_then(|rest| rest.iter().position(|byte| ends(*byte))).map_or(bytes.len(), |more| at + more)
}

/// The place of the first byte from this one on that is no blank. Most of a file that is made for people is indentation.
#[inline]
pub(super) fn past_blanks(bytes: &[u8], from: usize) -> usize {
    const BLANKS: u128 = u128::from_le_bytes([b' '; 16]);
    if let Some(words) = bytes.get(from..).and_then(<[u8]>::first_chunk::<16>) {
        let found = u128::from_le_bytes(*words) ^ BLANKS;
        if found != 0 {
            return from + (found.trailing_zeros() / 8) as usize;
        }
    }
    find(bytes, from, |word| word ^ (ONES * 0x20), |byte| byte != b' ')
}
