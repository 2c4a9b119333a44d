//! The chain: how a line is tied to the one before it.

use super::chain_head::Head;
use crate::hash::sha256_hex;

/// How long a hash is.
pub(super) const HASH: usize = 64;
const BEFORE_HASH: &str = ",\"hash\":\"";
/// From `,"hash":` to the end of a line.
const SEAL: usize = BEFORE_HASH.len() + HASH + "\"}".len();
/// No more than this is needed of a line's end to know its number and hash.
pub(super) const END: usize = SEAL + ",\"seq\":".len() + 20;

/// A line, with its place in the chain behind all else that it says. `body` is a JSON object that is not empty.
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

/// The place in the chain that a line says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainPosition {
    pub(super) prev: String,
    pub(super) own: Head,
    /// Whether the hash is that of the line.
    pub(super) holds: bool,
}

/// Reads a whole line without its end. `None`: it is no line of a log.
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

/// The number and hash of a line of which only the end is known, without the line break.
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
    fn a_seal_holds_until_a_byte_is_changed() {
        let (line, head) = seal(r#"{"a":"é"}"#, &Head::start());
        assert_eq!(head.seq, 1);
        let place = unseal(line.as_bytes()).unwrap();
        assert!(place.holds && place.own == head && place.prev == Head::start().hash);
        assert_eq!(end(&line.as_bytes()[line.len().saturating_sub(END)..]), Some(head));
        for at in 0..line.len() {
            let mut other = line.clone().into_bytes();
            other[at] ^= 1;
            assert!(unseal(&other).is_none_or(|place| !place.holds), "byte {at}");
        }
        assert_eq!(unseal(&line.as_bytes()[..line.len() - 1]), None);
        let json: checkrein_core::RawJson = line.parse().unwrap();
        assert!(json.field("seq").is_some() && json.field("a").is_some());
    }
}
