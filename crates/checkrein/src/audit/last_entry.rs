//! Reads the end of a log file, from which the next entry continues.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::chain_head::Head;
use super::{files, hash_chain};

/// End of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// A complete line.
    Whole(Head),
    /// A complete line without its line break.
    Unended(Head),
    /// A partial line: its number of bytes, their hash, and the previous entry if there is one.
    Cut { bytes: u64, sha256: String, before: Option<Head> },
    /// A line that is not an entry.
    Invalid,
}

impl Tail {
    /// Reads the end of a file that is not empty.
    pub(super) fn read(file: &mut File, length: u64) -> io::Result<Self> {
        let last = part(file, length.saturating_sub(hash_chain::END as u64 + 1), length)?;
        if let Some(line) = last.strip_suffix(b"\n") {
            return Ok(hash_chain::end(line).map_or(Self::Invalid, Self::Whole));
        }
        let start = last_line_start(file, length)?;
        let partial = part(file, start, length)?;
        if let Some(place) = hash_chain::unseal(&partial).filter(|place| place.holds) {
            return Ok(Self::Unended(place.own));
        }
        let before = part(file, start.saturating_sub(hash_chain::END as u64 + 1), start)?;
        let before = before.strip_suffix(b"\n").and_then(hash_chain::end);
        Ok(Self::Cut { bytes: partial.len() as u64, sha256: crate::hash::sha256_hex(&partial), before })
    }
}

/// Returns the offset at which the last line of the file starts.
fn last_line_start(file: &mut File, length: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = length;
    while end > 0 {
        if length - end > files::MAX_LINE {
            return Err(files::too_long());
        }
        let start = end.saturating_sub(STEP);
        let bytes = part(file, start, end)?;
        if let Some(newline) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + newline as u64 + 1);
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
