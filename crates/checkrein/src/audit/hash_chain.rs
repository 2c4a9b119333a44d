//! The hash chain: adds an entry's position to its line, and reads it back.

use super::chain_head::Head;
use crate::hash::sha256_hex;

/// Length of a hash in hexadecimal digits.
pub(super) const HASH: usize = 64;
const BEFORE_HASH: &str = ",\"hash\":\"";
/// Length of a line's end from `,"hash":` on.
const SEAL: usize = BEFORE_HASH.len() + HASH + "\"}".len();
/// Maximum length of a line's end with its number and hash.
pub(super) const END: usize = SEAL + ",\"seq\":".len() + 20;

/// Adds the position in the chain to the end of an entry. `body` is a JSON object that is not empty.
pub(super) fn seal(body: &str, before: &Head) -> (String, Head) {
    let open = body.trim_end().strip_suffix('}').unwrap_or(body);
    let seq = before.seq + 1;
    let mut line = format!("{open},\"prev\":\"{}\",\"seq\":{seq}", before.hash);
    let hash = sha256_hex(line.as_bytes());
    line.push_str(BEFORE_HASH);
    line.push_str(&hash);
    line.push_str("\"}");
    (line, Head { seq, hash })
}

/// Position in the chain, as a line states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainPosition {
    pub(super) prev: String,
    pub(super) own: Head,
    /// `true` if the hash matches the line.
    pub(super) holds: bool,
}

/// Reads the position of a complete line without its line break. Returns `None` for an invalid line.
pub(super) fn unseal(line: &[u8]) -> Option<ChainPosition> {
    let own = end(line)?;
    let body = line.get(..line.len().checked_sub(SEAL)?)?;
    let before_seq = body.iter().rposition(|byte| *byte == b',')?;
    let prev = body.get(..before_seq)?.strip_suffix(b"\"")?;
    let (rest, prev) = prev.split_at_checked(prev.len().checked_sub(HASH)?)?;
    rest.ends_with(b",\"prev\":\"").then_some(())?;
    let prev = std::str::from_utf8(prev).ok()?.to_owned();
    Some(ChainPosition { prev, holds: sha256_hex(body) == own.hash, own })
}

/// Reads the number and hash from the end of a line, without the line break.
pub(super) fn end(text: &[u8]) -> Option<Head> {
    let rest = text.strip_suffix(b"\"}")?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(HASH)?)?;
    hash.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    let rest = rest.strip_suffix(BEFORE_HASH.as_bytes())?;
    let (rest, digits) = rest.split_at(rest.iter().rposition(|byte| !byte.is_ascii_digit())? + 1);
    rest.ends_with(b",\"seq\":").then_some(())?;
    let seq = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Head { seq, hash: std::str::from_utf8(hash).ok()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_detects_every_changed_byte() {
        let (line, head) = seal(r#"{"a":"é"}"#, &Head::start());
        assert_eq!(head.seq, 1);
        let place = unseal(line.as_bytes()).unwrap();
        assert!(place.holds && place.own == head && place.prev == Head::start().hash);
        assert_eq!(end(&line.as_bytes()[line.len().saturating_sub(END)..]), Some(head));
        for index in 0..line.len() {
            let mut other = line.clone().into_bytes();
            other[index] ^= 1;
            assert!(unseal(&other).is_none_or(|place| !place.holds), "byte {index}");
        }
        assert_eq!(unseal(&line.as_bytes()[..line.len() - 1]), None);
        let json: checkrein_core::RawJson = line.parse().unwrap();
        assert!(json.field("seq").is_some() && json.field("a").is_some());
    }
}
