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

/// The same for bytes that are no ASCII which can be seen, of a text: 0xff is in none.
#[cfg(feature = "yaml")]
#[inline]
pub(super) fn above(word: u64) -> u64 {
    word.wrapping_add(ONES) & HIGH
}

/// How many bytes come before one that is marked, or else that ends it.
#[inline]
pub(super) fn until(bytes: &[u8], marks: impl Fn(u64) -> u64, ends: impl Fn(u8) -> bool) -> usize {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let found = marks(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    chunks.len() * 8 + rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len())
}

/// How many blanks come first. Most of a file that is made for people is indentation.
#[inline]
pub(super) fn blanks(bytes: &[u8]) -> usize {
    until(bytes, |word| word ^ (ONES * 0x20), |byte| byte != b' ')
}
