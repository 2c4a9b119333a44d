//! The end of a log: where the next line goes on from.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::chain_head::Head;
use super::hash_chain;

/// How a file ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// With a whole line.
    Whole(Head),
    /// With a whole line that lacks only its line break.
    Unended(Head),
    /// Within a line: how many bytes there are of it, their hash, and the line before, if there is one.
    Cut { bytes: u64, sha256: String, before: Option<Head> },
    /// With something that is no line of a log.
    Odd,
}

impl Tail {
    /// Of a file that is not empty.
    pub(super) fn of(file: &mut File, length: u64) -> io::Result<Self> {
        let last = part(file, length.saturating_sub(hash_chain::END as u64 + 1), length)?;
        if let Some(line) = last.strip_suffix(b"\n") {
            return Ok(hash_chain::end(line).map_or(Self::Odd, Self::Whole));
        }
        let begins = line_begin(file, length)?;
        let torn = part(file, begins, length)?;
        if let Some(place) = hash_chain::unseal(&torn).filter(|place| place.holds) {
            return Ok(Self::Unended(place.own));
        }
        let before = part(file, begins.saturating_sub(hash_chain::END as u64 + 1), begins)?;
        let before = before.strip_suffix(b"\n").and_then(hash_chain::end);
        Ok(Self::Cut { bytes: torn.len() as u64, sha256: crate::hash::sha256_hex(&torn), before })
    }
}

/// Where the line begins that has the end of the file.
fn line_begin(file: &mut File, length: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let bytes = part(file, start, end)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn part(file: &mut File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}
